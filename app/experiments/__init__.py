"""Experiments: what varies, the trials, and what they have reached."""
