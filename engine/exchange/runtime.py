"""ONNX Runtime, which is imported from here alone, so that it keeps what it sees to itself.

Its builds for Linux and macOS send events about models to their maker and keep a number of the machine in the home
folder, unless this variable is set before it is loaded. Who wants that sets it to 0.
"""

import os

import onnxruntime  # behind the variable that it reads

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


__all__ = ["onnxruntime"]
