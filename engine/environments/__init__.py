"""Where a run executes: what is chosen, how workers are started and divide the work, and what the machine has."""
