"""What the commands print with `--json`, and what a run writes into `result.json`: declared once."""
