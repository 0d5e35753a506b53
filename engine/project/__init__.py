"""The project file, the options in it, and what can be said about them."""
