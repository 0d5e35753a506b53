"""What a trained network looks at: activations, filters, attributions, attention, importance, embeddings."""
