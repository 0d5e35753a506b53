"""Read networks that other programs wrote: ONNX, PyTorch and Keras."""
