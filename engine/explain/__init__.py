"""Explanations of trained networks: activations, filters, attributions, attention, importance, embeddings."""
