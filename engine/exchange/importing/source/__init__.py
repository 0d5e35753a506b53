"""Read PyTorch source that Netwright printed and a person may have edited, without running it."""
