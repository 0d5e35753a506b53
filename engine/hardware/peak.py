"""Peak of a device: the floating-point operations per second of large matrix products, measured once per machine.

What a training reaches of it is its model FLOPs utilisation (Chowdhery et al., PaLM, 2022, appendix B), with a peak
that was measured rather than one of a data sheet.
"""

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.core.files import number_in, read_object, write_json
from netwright.engine.core.folders import cache_folder
from netwright.engine.hardware.speed import PRECISIONS, matrix_rate

if TYPE_CHECKING:
    import torch

FILE = "peak_flops.json"
LIMIT_BYTES = 2**20
MEASURE_S = 0.2


def peak_key(device: "torch.device", precision: str, hardware: str) -> str:
    """Return the key of a peak: the device, the precision of its products, the threads of this process, and torch."""
    import torch

    name = f"{hardware}, {torch.get_num_threads()} threads used"
    if device.type != "cpu":
        name = getattr(torch.get_device_module(device), "get_device_name", lambda _: "GPU")(device)
    return f"{device.type}: {name}; {precision}; torch {torch.__version__}"


def known_peak(key: str) -> float:
    """Return the stored peak in FLOP/s; NaN where it was not measured yet."""
    with contextlib.suppress(OSError, RuntimeError):
        peak = number_in((read_object(_file(), LIMIT_BYTES) or {}).get(key))
        return peak if peak is not None and peak > 0 and math.isfinite(peak) else math.nan
    return math.nan


def measure_peak(key: str, device: "torch.device", precision: str) -> float:
    """Measure and store the peak in FLOP/s; NaN on a device that does not compute such products."""
    kind = precision if precision in PRECISIONS else "fp32"  # tf32 is a setting of float32 products
    try:
        peak = matrix_rate(str(device), kind, MEASURE_S)
    except (RuntimeError, TypeError):
        return math.nan
    with contextlib.suppress(OSError, RuntimeError):  # without a folder to keep it in, it is measured again
        peaks: dict[str, Any] = read_object(_file(), LIMIT_BYTES) or {}
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_json(_file(), {**peaks, key: peak})
    return peak


def _file() -> Path:
    return cache_folder() / FILE
