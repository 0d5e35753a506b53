"""The Test tab: how good a trained network is."""
