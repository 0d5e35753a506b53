"""The Experiments tab: every run of a project, to find, annotate, compare and delete."""
