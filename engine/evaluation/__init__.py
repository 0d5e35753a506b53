"""What a trained network can do: how good it is on data, and what it answers for new samples."""
