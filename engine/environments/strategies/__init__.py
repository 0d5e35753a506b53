"""How the work of one step is divided over workers, one strategy a file."""
