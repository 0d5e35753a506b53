"""The training loop: trainer, step, solvers, losses, metrics, checkpoints."""
