"""The network drawn: a graphics scene, its items and pictures, and what is where on it."""
