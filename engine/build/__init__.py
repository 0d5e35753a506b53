"""From a network to a torch module, and to printed PyTorch source."""
