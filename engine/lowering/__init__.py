"""From a network to a `torch.fx` module, to PyTorch source, and to weights on disk."""
