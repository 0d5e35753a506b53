"""Plots of an experiment: one file per family, listed in `netwright.app.experiments.plots.panel`."""
