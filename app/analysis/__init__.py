"""How good a trained network is: pages about a run."""
