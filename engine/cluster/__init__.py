"""Cluster profiles, and what is asked of Slurm and of hosts over ssh."""
