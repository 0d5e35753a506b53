"""ONNX Runtime, without its telemetry: the only module that loads it. Exported source bundles these functions, too."""

from pathlib import Path
from typing import Any


def onnx_runtime(part: str = "") -> Any:
    """Import and return ONNX Runtime, or a part of it such as `quantization`, with its telemetry switched off.

    Its builds send events about models to their maker from some seconds after it is loaded, and store an id of the
    machine in the cache folder. It reads `ORT_DISABLE_TELEMETRY` once, as it is loaded (its `Privacy.md`);
    `disable_telemetry_events` comes too late for the first event.
    """
    import importlib
    import os

    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module(f"onnxruntime.{part}".rstrip("."))


def open_session(
    model: Path | bytes, threads: int = 0, *, optimizes: bool = True, spins: bool = True, folder: str = ""
) -> Any:
    """Open an ONNX file, or its content, with ONNX Runtime on the CPU. `threads` compute one operator; 0: as many as
    the machine has cores; unless it `spins`, they sleep between operators. Without `optimizes` the operators run as
    they are. `folder` has the external data of a content."""
    runtime = onnx_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # what fails is raised, and would be printed as well
    if not optimizes:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if not spins:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if folder:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    content = model if isinstance(model, bytes) else str(model)
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"], enable_fallback=0)
