"""Preparing a run, its coordinator and workers, the queue, placement trials."""
