"""Run folders: events, requests, history, queue."""
