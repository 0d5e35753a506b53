"""A GPU without a GPU: whole trainings on torch's fake tensors of the device `cuda:0`, which have sizes and no values.

What is on the CPU is computed for real: orders, lengths, the data. An operation that mixes devices raises, as on a GPU,
and whatever makes the processor wait for the GPU is noted with its place. What is read from the fake device is 0, or
True of truths.
"""

import contextlib
import ctypes
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from netwright.engine.core.types import TensorType
from netwright.engine.data.loading.batches import BatchLoader
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.lowering import weights_folder
from netwright.engine.network.analysis import analyse
from netwright.engine.placement.candidates import PlacementRecord
from netwright.engine.placement.choose import WorkerPlace
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from netwright.engine.training import builder, checkpoints
from netwright.engine.training.builder import TrainerBuilder
from netwright.engine.training.checkpoints import CheckpointSaver
from netwright.engine.training.evaluation import Evaluator
from netwright.engine.training.fast import fused_optimizers, manual_backward
from netwright.engine.training.job import TrainingJob, initial_network
from netwright.engine.training.recorder import Recorder
from netwright.engine.training.step import TrainStep
from netwright.engine.training.trainer import Outcome

GPU = torch.device("cuda", 0)
ENGINE = str(Path(builder.__file__).parents[1])
STEPS = 12
"""Steps of sequences of any length; samples have from half as many on."""
aten = torch.ops.aten
ASKING = {
    aten._local_scalar_dense.default,
    aten.nonzero.default,
    aten.masked_select.default,
    aten.bincount.default,
    aten.equal.default,
    aten._unique2.default,
    aten.repeat_interleave.Tensor,
    aten._ctc_loss.Tensor,
}
"""Operations for which the processor waits: the size of the result, or the result itself, depends on values."""


@dataclass
class FakeGpu(TorchDispatchMode):
    """Counts waits by what the training is at (`doing`) and the line of the engine, and computes on the CPU for
    real."""

    waits: Counter[tuple[str, str]] = field(default_factory=Counter)
    doing: str = "build"
    is_host_fake: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def note(self) -> None:
        """Count one wait."""
        frame = sys._getframe(1)
        while frame.f_back is not None and not frame.f_code.co_filename.startswith(ENGINE):
            frame = frame.f_back
        place = frame.f_code.co_filename.removeprefix(f"{ENGINE}/")
        self.waits[self.doing, f"{place}:{frame.f_lineno}"] += 1

    def of(self, doing: str) -> dict[str, int]:
        """Return the waits by place of what the training was at."""
        return {place: count for (at, place), count in self.waits.items() if at == doing}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        goal = torch.device(kwargs.get("device") or "cpu")
        is_fake = any(isinstance(x, FakeTensor) for x in tensors)
        if not is_fake and goal.type == "cpu" and not self.is_host_fake:
            with unset_fake_temporarily():
                return func(*args, **kwargs)
        is_on_gpu = goal.type == "cuda" or any(x.device.type == "cuda" for x in tensors)
        if is_on_gpu and self._waits(func, args, kwargs):
            self.note()
        made_up = _made_up(func, args, kwargs)
        return func(*args, **kwargs) if made_up is NotImplemented else made_up

    def _waits(self, func: Any, args: Any, kwargs: Any) -> bool:
        if func is aten._to_copy.default:
            kinds = {args[0].device.type, torch.device(kwargs.get("device") or args[0].device).type}
            return len(kinds) > 1 and not kwargs.get("non_blocking")
        if func is aten.copy_.default:
            return args[0].device.type != args[1].device.type and not (args[2:] and args[2])
        if func is aten.segment_reduce.default:
            return not kwargs.get("unsafe")
        if func is aten.repeat_interleave.Tensor and kwargs.get("output_size") is not None:
            return False
        return func in ASKING or _masks(func, args)


def _made_up(func: Any, args: Any, options: Any) -> Any:
    """Return the result of an operation whose size depends on values, as if all masks were true, or
    that torch has no sizes for; NotImplemented for others."""
    if func is aten._local_scalar_dense.default:
        return True if args[0].dtype is torch.bool else args[0].dtype.is_floating_point * 0.0
    if func is aten.bincount.default:
        return args[0].new_zeros(args[2] if args[2:] else 0)
    if func is aten.masked_select.default:
        return args[0].expand(torch.broadcast_shapes(args[0].shape, args[1].shape)).flatten()
    if func.__name__.startswith("_fused_"):
        assert len({x.device for x in tree_leaves(args) if isinstance(x, torch.Tensor)}) == 1
        return None
    if func is aten._thnn_fused_gru_cell.default:
        hidden = args[2]
        return torch.empty_like(hidden), hidden.new_empty(len(hidden), 5 * hidden.shape[1])
    if func is aten._thnn_fused_gru_cell_backward.default:
        hidden, triple = args[0], (len(args[0]), 3 * args[0].shape[1])
        biases = [hidden.new_empty(triple[1]) if args[2] else None for _ in range(2)]
        return hidden.new_empty(triple), hidden.new_empty(triple), torch.empty_like(hidden), *biases
    if func is aten.segment_reduce.default:
        return args[0].new_zeros((len(options["lengths"]), *args[0].shape[1:]))
    if func is aten.index.Tensor and _masks(func, args):
        (place,) = (number for number, x in enumerate(args[1]) if x is not None)
        return args[0].flatten(place, place + args[1][place].dim() - 1).clone()
    return NotImplemented


def _masks(func: Any, args: Any) -> bool:
    """Whether the places of an indexing are a mask, whose true elements must be counted first."""
    if func in (aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default):
        is_filling = args[2].numel() == 1
    elif func is aten.index.Tensor:
        is_filling = False
    else:
        return False
    return not is_filling and any(x is not None and x.dtype in (torch.bool, torch.uint8) for x in args[1])


@contextlib.contextmanager
def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGpu]:
    """Work on a fake GPU in this context: what asks the CUDA library is answered, what writes tensors writes none."""
    gpu = FakeGpu()
    _answer(monkeypatch)
    monkeypatch.setattr(nn.Module, "_apply", _moved)
    monkeypatch.setattr(FakeTensor, "tolist", lambda x: _read(gpu, x).tolist())
    monkeypatch.setattr(FakeTensor, "numpy", lambda x, **_: _on_cpu(x))
    for writer in (checkpoints, weights_folder):
        monkeypatch.setattr(writer, "save_file", lambda tensors, path: path.write_bytes(b""))
    monkeypatch.setattr(builder, "initial_network", _all_fake(gpu, initial_network))
    named = {
        "step": (TrainStep, "__call__"),
        "report": (Recorder, "exchange"),
        "validation": (Evaluator, "evaluate"),
        "checkpoint": (CheckpointSaver, "save"),
    }
    for doing, (kind, name) in named.items():
        monkeypatch.setattr(kind, name, _noted(gpu, doing, getattr(kind, name)))
    monkeypatch.setattr(BatchLoader, "of_epoch", _noted_each(gpu, "batch", BatchLoader.of_epoch))
    alone = torch.autograd.set_multithreading_enabled(False)  # there is no thread for the device
    with _cuda_in_torch(), FakeTensorMode(allow_non_fake_inputs=True), gpu, alone:
        yield gpu


@contextlib.contextmanager
def _cuda_in_torch() -> Iterator[None]:
    """Give torch's autograd and device guards a CUDA device that does nothing, where a build for CPUs has none.

    A table of device guards gets the one that `FakeTensorMode` has for machines without a GPU, and the object that
    answers for the CUDA library gets a table of virtual functions of which two say yes.
    """
    folder = Path(torch.__file__).parent / "lib"
    try:
        core, cpu = (ctypes.CDLL(str(folder / f"{name}.so")) for name in ("libc10", "libtorch_cpu"))
        guards = (ctypes.c_void_p * 21).in_dll(core, "_ZN3c104impl26device_guard_impl_registryE")
        find, accelerator = cpu._ZN2at6detail12getCUDAHooksEv, cpu._ZN2at11accelerator14getAcceleratorEb
    except (OSError, ValueError, AttributeError):
        pytest.skip("this build of torch does not show where it keeps its devices")
    if torch.version.cuda or guards[_CUDA]:
        pytest.skip("this build of torch knows CUDA: `make gpu` tests it with a GPU")
    find.restype, accelerator.restype = ctypes.c_void_p, ctypes.c_uint16
    hooks = ctypes.cast(find(), ctypes.POINTER(ctypes.c_void_p))
    usual = hooks[0]
    functions = (ctypes.c_void_p * _FUNCTIONS).from_buffer_copy(ctypes.string_at(usual, 8 * _FUNCTIONS))
    for number in _SAY_YES:
        functions[number] = ctypes.cast(_YES, ctypes.c_void_p).value
    guards[_CUDA] = guards[_LAZY]  # one without devices, which is replaced
    torch._C._ensureCUDADeviceGuardSet()
    hooks[0] = ctypes.addressof(functions)
    try:
        assert accelerator(False) & 0xFF == _CUDA
        yield
    finally:
        hooks[0], guards[_CUDA] = usual, None


_CUDA, _LAZY = 1, 17
"""Numbers of device types, `c10::DeviceType`."""
_SAY_YES = (2, 4)
"""Places of isBuilt and hasPrimaryContext in the table of `at::AcceleratorHooksInterface`."""
_FUNCTIONS = 64
_YES = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(lambda _: True)


def _answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer for the CUDA library, which a build for CPUs lacks."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (9, 0))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *_: "fake")
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda *_: torch.zeros(16, dtype=torch.uint8))
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
    monkeypatch.setattr(torch.amp.autocast_mode, "amp_definitely_not_available", lambda: False, raising=False)
    monkeypatch.setattr(torch.accelerator, "max_memory_allocated", lambda *_: 0)
    monkeypatch.setattr(torch.backends.cudnn, "is_acceptable", lambda _: False)
    monkeypatch.setattr(fused_optimizers, "refusal", lambda *_: "")
    monkeypatch.setattr(manual_backward, "refusal", lambda *_: "")


def _moved(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> nn.Module:
    """Do as `Module._apply`, with new parameters: fake ones cannot take others' place. What is shared stays so."""
    for part in module.modules() if recurse else (module,):
        for name, weight in part._parameters.items():
            if weight is not None:
                with torch.no_grad():
                    if "moved" not in weight.__dict__:
                        weight.__dict__["moved"] = nn.Parameter(change(weight), weight.requires_grad)
                    part._parameters[name] = weight.__dict__["moved"]
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = change(buffer)
        if isinstance(part, nn.RNNBase):
            part._init_flat_weights()
    return module


def _on_cpu(x: torch.Tensor) -> Any:
    return np.zeros(x.shape, str(x.dtype).removeprefix("torch.").replace("bfloat16", "float32"))


def _read(gpu: FakeGpu, x: torch.Tensor) -> Any:
    if x.device.type == "cuda":
        gpu.note()
    return _on_cpu(x) if x.dtype is not torch.bool else ~_on_cpu(x)


def _all_fake(gpu: FakeGpu, function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function make fake tensors on the CPU, too: weights of hundreds of megabytes."""

    def call(*args: Any) -> Any:
        gpu.is_host_fake = True
        try:
            return function(*args)
        finally:
            gpu.is_host_fake = False

    return call


def _noted(gpu: FakeGpu, doing: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        before, gpu.doing = gpu.doing, doing
        try:
            return method(*args, **options)
        finally:
            gpu.doing = before

    return call


def _noted_each(gpu: FakeGpu, doing: str, method: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    def batches(*args: Any) -> Iterator[Any]:
        each = _noted(gpu, doing, method)(*args)
        first = _noted(gpu, "epoch", lambda: next(each, None))()
        if first is None:
            return
        yield first
        while (batch := _noted(gpu, doing, lambda: next(each, None))()) is not None:
            yield batch

    return batches


def made_up_data(project: Project, samples: Mapping[str, int]) -> LoadedData:
    """Return so many samples of noise that the network takes, and targets for what it gives: classes where it ends in a
    softmax, else numbers. Sequences of any length differ in length."""
    network, analysis = project.network, analyse(project.network)
    count, generator = sum(samples.values()), np.random.default_rng(0)
    steps = np.arange(count, dtype=np.int64) % (STEPS // 2 + 1) + STEPS // 2
    inputs, arrays, lengths = [], [], []
    for layer in network.inputs:
        type = layer.type.output()
        shape = [size if isinstance(size, int) else STEPS for size in type.sizes]
        known = TensorType(type.axes, tuple(shape), type.kind)
        inputs.append(InputInfo(layer.name, known, lengths=(STEPS // 2, STEPS) if type.is_open else None))
        lengths.append(steps if type.is_open else None)
        is_index = type.kind == "index"
        arrays.append(
            np.zeros((count, *shape), np.int64) if is_index else generator.random((count, *shape), np.float32)
        )
    targets: list[Any] = []
    wanted = []
    for port in network.output_ports:
        type = analysis.shapes[port.layer].at(port.name)
        shape = [size if isinstance(size, int) else STEPS for size in type.sizes]
        known = TensorType(type.axes, tuple(shape), "real")
        ends_in = network.layers[port.layer].type.key
        lies = (STEPS // 2, STEPS) if type.is_open else None
        if ends_in == "softmax":
            names = tuple(f"c{n}" for n in range(known.channels))
            wanted.append(TargetInfo(port.name, known, "classes", names, lies))
            shape.pop(type.dim("C") - 1)
            targets.append(generator.integers(0, len(names), (count, *shape)))
        else:
            wanted.append(TargetInfo(port.name, known, "numbers", lengths=lies))
            targets.append(generator.random((count, *shape), np.float32))
    facts = DatasetInfo(tuple(inputs), samples, tuple(wanted))
    ends = np.cumsum([0, *samples.values()])
    numbers = {name: np.arange(*ends[n : n + 2]) for n, name in enumerate(samples)}
    return LoadedData(facts, tuple(arrays), tuple(lengths), tuple(targets), numbers)


def train(project: Project, gpu: FakeGpu, folder: Path, samples: int = 4) -> Outcome:
    """Train a project on the fake GPU from the building of the network to the end, on so many samples."""
    data = made_up_data(project, {"training": samples, "validation": 3})
    record = PlacementRecord(environment={"resolved": "gpu"}, places=(WorkerPlace(str(GPU), 1, 2),))
    run = RunFolder(folder)
    run.checkpoints.mkdir()
    job = TrainingJob(project, analyse(project.network), GPU, data, run, RunInfo(placement=record))
    trainer = TrainerBuilder(job).build()
    gpu.doing = "training"
    return trainer.run()
