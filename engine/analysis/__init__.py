"""Questions to a trained network: how good it is, its answers, what it looks at, pruning, robustness, reports."""
