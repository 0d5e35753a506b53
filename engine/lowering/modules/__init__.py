"""Small modules and functions where torch has none, a file a family of layers.

The printed source carries along the text of each one that a network uses: each needs `torch`, `from torch import nn`
and `math` alone, and nothing of ours, so that it runs by itself. Names are unique over all files.
What is in `lengths` is never printed: only the built module minds the lengths of padded sequences.
"""
