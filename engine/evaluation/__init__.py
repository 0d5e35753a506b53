"""Evaluation of trained networks: metrics on data, and predictions for new samples."""
