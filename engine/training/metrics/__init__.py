"""How good a network is, in the words of its task.

A metric is a sum over samples and what is made of it in the end, so that steps, pieces and workers add up exactly; the
area under a curve alone needs all outputs at once, and comes from torchmetrics.
"""
