"""The doctor in the window."""
