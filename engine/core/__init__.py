"""Basics of every room: errors, declared fields and records, tensor types, files, text, child processes."""
