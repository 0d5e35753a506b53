"""Strategies, one file each: data parallel, fully sharded, pipeline, local SGD."""
