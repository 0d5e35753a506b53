"""Models: networks with weights and the meaning of their inputs and outputs, whatever file they come from."""
