"""Print a training script in plain PyTorch beside an exported network, which gives the losses of the run."""
