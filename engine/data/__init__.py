"""Where samples come from, how they are split, and how batches are made."""
