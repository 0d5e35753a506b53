"""Layers whose code is a user's own: what its text says, whether it may run, and what it was measured to do."""
