"""From the data to the batches of a run: which samples when, resident or read as they are wanted."""
