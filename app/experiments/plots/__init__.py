"""Plots of an experiment: one file per family, listed in `app.experiments.plots.panel`."""
