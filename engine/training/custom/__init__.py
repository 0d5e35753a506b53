"""Functions of the user's own that take part in a training: hooks, losses, steps."""
