"""Importing torch in less time: its libraries are loaded beside other work, and what training has no use for comes in
when it is asked for.

A quarter of `import torch` makes kernels for tensors without data. They stand for shapes where torch.compile and
torch.export trace a network; nothing that computes calls them. In their place stand modules here that import the real
ones as soon as anything of them is looked at, a part of torch is imported that builds on them, or code runs that is not
ours. Where this torch turns out to need them for what every training does, they come in at once. Only builds for the
CPU are treated like this: no other was at hand to try it.
"""

import contextlib
import ctypes
import importlib
import importlib.util
import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.environments.threads import calm_threads

LATER = ("torch._meta_registrations", "torch._decomp", "torch._prims", "torch._refs", "torch._export", "torch.export")
BUILD_ON_THEM = (
    "torch._dynamo",
    "torch._inductor",
    "torch.distributed.fsdp",
    "torch.distributed.pipelining",
    "torch.distributed.tensor",
    "torch.onnx",
)
"""None of them is a part of `import torch`."""
LIBRARIES = (("libtorch_global_deps.so", ctypes.RTLD_GLOBAL), ("libtorch_python.so", ctypes.DEFAULT_MODE))
"""In the order in which torch loads them, and as it does."""
ACCELERATORS = ("cuda", "hip", "xpu", "mps")
"""By which torch names their libraries."""
_thread: threading.Thread | None = None


def begin_loading() -> None:
    """Load torch's libraries in a thread, which holds up no other: a process that has begun must end by `os._exit`."""
    global _thread
    if sys.platform == "linux" and "torch" not in sys.modules and _thread is None:
        calm_threads()
        _thread = threading.Thread(target=_load_libraries, name="libraries", daemon=True)
        _thread.start()


def has_begun() -> bool:
    """Whether torch, or a library of it, may be here."""
    return _thread is not None or "torch" in sys.modules


def _load_libraries() -> None:
    with contextlib.suppress(OSError, ImportError, ValueError):  # importing torch will say what is wrong with it
        found = importlib.util.find_spec("torch")
        if found is not None and found.origin is not None:
            for name, mode in LIBRARIES:
                ctypes.CDLL(str(Path(found.origin).parent / "lib" / name), mode=mode)


def import_torch() -> None:
    """Import torch, if it is not here, without what `complete` adds."""
    if "torch" in sys.modules:
        return
    calm_threads()
    if not _is_for_cpu():
        importlib.import_module("torch")
        return
    for name in LATER:
        sys.modules[name] = _Later(name)
    try:
        torch = importlib.import_module("torch")
    except BaseException:
        for name in LATER:
            sys.modules.pop(name, None)
        raise
    for name in LATER:
        if isinstance(later := sys.modules.get(name), _Later):
            setattr(torch, name.rpartition(".")[2], later)  # as where it was imported
    sys.meta_path.insert(0, _Finder())
    if not _trains():
        complete()
    if _thread is not None:
        _thread.join()  # a process that is forked has no threads


def _is_for_cpu() -> bool:
    """Whether the torch that would be imported has no libraries of accelerators."""
    found = importlib.util.find_spec("torch")
    here = Path(found.origin).parent / "lib" if found is not None and found.origin is not None else None
    return here is not None and not any(any(here.glob(f"*torch_{kind}*")) for kind in ACCELERATORS)


def _trains() -> bool:
    """Whether torch as it is does what every training takes."""
    import torch

    with contextlib.suppress(AttributeError, ImportError):  # other versions of torch have it otherwise
        # What torch is to know of random numbers it is told by a part that is left out.
        torch._C._set_generator_metaclass(importlib.import_module("torch._opaque_base").OpaqueBaseMeta)
    try:
        torch.randperm(3, generator=torch.Generator().manual_seed(1))
        layer = torch.nn.Linear(2, 2)
        torch.autograd.backward(layer(torch.ones(1, 2)).sum())
    except (AttributeError, RuntimeError):
        return False
    return True


def is_complete() -> bool:
    """Whether torch is here with all of it."""
    return "torch" in sys.modules and not any(isinstance(sys.modules.get(name), _Later) for name in LATER)


def complete() -> None:
    """Import what was left out: before code that is not ours runs."""
    left_out = [name for name in LATER if isinstance(sys.modules.get(name), _Later)]
    for name in left_out:
        del sys.modules[name]
    for name in left_out:
        importlib.import_module(name)


class _Later(ModuleType):
    """A module that is imported when something of it is looked at."""

    def __getattr__(self, name: str) -> Any:
        if name in ("__file__", "__warningregistry__", "__wrapped__"):  # who lists modules does not use them
            raise AttributeError(name)
        complete()
        return getattr(importlib.import_module(self.__name__), name)


class _Finder:
    """Finds nothing, but completes torch before what builds on it is imported."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Asked for each module before it is imported."""
        if fullname.startswith(BUILD_ON_THEM):
            sys.meta_path.remove(self)
            complete()
        return None
