"""The commands of `netwright-engine`, and `serve`, which answers the window."""
