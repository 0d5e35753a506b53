"""Loading: splits, preparation, augmentation and batches of the samples of a source; preview and checks."""
