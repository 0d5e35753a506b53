"""A run is a folder: its log, its requests, its lock, its history."""
