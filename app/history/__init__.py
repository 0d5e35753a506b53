"""The runs of the project: their list, what they reached, and several beside each other."""
