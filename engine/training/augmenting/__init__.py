"""Random changes of the images of training batches: what is drawn, where pixels come from, colours, all together."""
