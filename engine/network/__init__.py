"""The network as a value, its edits, and what can be said about it without torch."""
