"""Where a run executes: what this machine has, what is chosen, how workers are started."""
