"""Clusters: dialogs of their profiles and of the runs on them."""
