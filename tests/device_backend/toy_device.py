"""The device type `toy` in Python: what torch asks a device's module, and the few operations that no kernel of the CPU
computes. `import torch` calls `load` by itself, by an entry point as vendors of devices have, wherever the folder that
`tests/device_backend/build.py` makes is on the path."""

import os
from datetime import timedelta
from types import ModuleType
from typing import Any

import torch
import torch.distributed
from torch.utils import backend_registration

LIBRARY = "TOY_LIBRARY"
"""Variable with the path of the compiled part."""
_kernels = torch.library.Library("aten", "IMPL")


def load() -> None:
    """Make the device type known to torch."""
    backend_registration.rename_privateuse1_backend("toy")
    torch.ops.load_library(os.environ[LIBRARY])
    torch._register_device_module("toy", _module())
    backend_registration.generate_methods_for_privateuse1_backend()
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        for name, function in (
            ("scaled_dot_product_attention", _attention),
            ("_thnn_fused_lstm_cell", _lstm_cell),
            ("_thnn_fused_gru_cell", _gru_cell),
        ):
            _kernels.impl(name, function, key)
    if torch.distributed.is_available():
        torch.distributed.Backend.register_backend("toyccl", _join, devices=["toy"])


def _module() -> ModuleType:
    module: Any = ModuleType("torch.toy")
    module.is_available = lambda: True
    module.is_initialized = lambda: any(torch.ops.toy.operations(number) for number in range(2))
    module._is_in_bad_fork = lambda: False
    module.device_count = torch._C._accelerator_hooks_device_count
    module.current_device = torch.accelerator.current_device_index
    module.set_device = lambda device: torch.accelerator.set_device_index(_number(device))
    module.synchronize = torch.accelerator.synchronize
    module.Stream, module.Event, module.stream = torch.Stream, torch.Event, lambda stream: stream
    module.current_stream = torch.accelerator.current_stream
    module.get_device_name = lambda device=None: "Toy"
    module.get_amp_supported_dtype = lambda: [torch.bfloat16, torch.float16]
    module.is_bf16_supported = lambda: True
    module.get_rng_state = lambda device="toy": torch.ops.toy.state(_number(device))
    module.set_rng_state = lambda state, device="toy": torch.ops.toy.set_state(_number(device), state)
    module.manual_seed = lambda seed: torch.ops.toy.seed(-1, seed)
    module.manual_seed_all = lambda seed: [torch.ops.toy.seed(number, seed) for number in range(2)]
    return module


def _number(device: Any) -> int:
    index = device if isinstance(device, int) else torch.device(device).index
    return -1 if index is None else index


def _join(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """Return a group for the tensors of the device, which go by the CPU and so over gloo."""
    return torch.distributed.ProcessGroupGloo(store, rank, size, timeout)


def _attention(q: Any, k: Any, v: Any, mask: Any = None, p: float = 0.0, causal: bool = False, **options: Any) -> Any:
    if mask is not None and mask.dtype is torch.bool:
        mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, float("-inf"))
    return torch.ops.aten._scaled_dot_product_attention_math(q, k, v, mask, p, causal, None, **options)[0]


def _lstm_cell(x: Any, h: Any, c: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
    gates = x + h if x_bias is None else x + x_bias + h + h_bias
    i, f, g, o = gates.chunk(4, 1)
    state = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * state.tanh(), state, gates


def _gru_cell(x: Any, h: Any, state: Any, x_bias: Any = None, h_bias: Any = None) -> Any:
    x, h = (x, h) if x_bias is None else (x + x_bias, h + h_bias)
    (xr, xz, xn), (hr, hz, hn) = x.chunk(3, 1), h.chunk(3, 1)
    new, update = (xn + (xr + hr).sigmoid() * hn).tanh(), (xz + hz).sigmoid()
    return new + update * (state - new), x
