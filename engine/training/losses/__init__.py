"""What is minimised. Each loss gives the sum over samples of what counts a sample, so that shares of a batch add up.

What counts a sample is the mean over its steps, pixels or voxels that count: those of padding, and those marked so in
the data, do not. Functions of one output and its target take channels second, samples × channels × places, and class
numbers without channels; `loss_for` makes a `Loss` of them, which is given all outputs and all targets.
"""
