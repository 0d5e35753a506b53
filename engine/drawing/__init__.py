"""A network as a picture without a screen."""
