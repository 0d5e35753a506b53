"""Where a run will execute: pure rules from options and a device inventory to workers and batches."""
