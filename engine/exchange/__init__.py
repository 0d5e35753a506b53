"""Networks and weights that leave or enter: ONNX, PyTorch, safetensors."""
