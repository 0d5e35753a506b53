"""Data sources, splits, normalization, augmentation and batches."""
