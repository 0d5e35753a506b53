"""What can be said about a project before it trains, and the edits that remove what is wrong."""
