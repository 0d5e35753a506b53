"""Accelerations that can be switched off. Numbers are the same without them."""
