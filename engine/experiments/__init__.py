"""Experiments: choose the values of trials, train them side by side, and compare what they reach."""
