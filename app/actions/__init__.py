"""What a person can do with the window: one table of all of it, and the methods behind its rows."""
