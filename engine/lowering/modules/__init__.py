"""Small modules and functions where torch has none, one file per family of layers.

Exported source bundles the text of those that a network uses, with their base classes: each needs `torch`, `from torch
import nn` and `math` alone, so that it runs by itself. Names are unique over all files. `lengths` is never bundled:
only the built module handles the lengths of padded sequences.
"""
