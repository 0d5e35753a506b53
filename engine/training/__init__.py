"""The loop and its parts: step, solvers, schedules, losses, metrics."""
