"""Declarations of data sources, one file each: options, checks, and the guess from a file or folder."""
