"""Export to ONNX and PyTorch, and of curves to other programs."""
