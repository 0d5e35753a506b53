"""What differs between operating systems: files and locks (`files`), processes, signals, memory and cores
(`processes`). No other module calls what only one system has; tests/architecture checks it."""
