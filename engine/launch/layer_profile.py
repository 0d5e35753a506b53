"""Measure what each layer of a network costs on a device, in a process of its own.

    python -m netwright.engine.core.child netwright.engine.launch.layer_profile PROJECT
        [--device D] [--batch N] [--threads N] [--trace FILE]

prints `{"device": {...}}`, then `{"layer": {...}}` per layer, then `{"whole": {...}}`, or `{"error": "..."}`; the keys
are those of `netwright.engine.operations.profile`. Each layer is run by itself on what the layers before it return,
forward and backward, and the shortest time is taken: other programs only add to it. A trace of whole steps can be
opened in Perfetto or chrome://tracing.
"""

import argparse
import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_leaves, tree_map

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import num_cores
from netwright.engine.core.process import print_line
from netwright.engine.core.progress import notice
from netwright.engine.hardware.speed import measure
from netwright.engine.launch.trial import mean_square, refusals, synthetic_inputs
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.operations.profile import LayerCost, ProfiledDevice, ProfileRequest, ProfileResult, WholeCost
from netwright.engine.operations.projects import read_project
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.runs.model_files import model_files
from netwright.engine.training.precision import Precision

Tensors = tuple[torch.Tensor, ...]
BUDGET_S = 20.0
"""Time in which all layers are measured; each gets the same share."""
LONGEST_S = 0.05
"""Longest time that one pass of a layer is repeated for."""
MOST_REPEATS, LEAST_REPEATS = 50, 3
WHOLE_S = 1.0
TRACED_STEPS = 3


def profile(
    project: Project,
    device: str = "cpu",
    batch: int = 0,
    threads: int = 0,
    trace: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the records of the device, of each layer in topological order, and of the whole network.

    `batch` and `threads` default to the project's mini-batch and to all cores. Raises `UserError` for a project that
    cannot be measured, a device that does not exist, and a batch that does not fit into memory.
    """
    for refusal in refusals(project, takes_full_batch=True):
        raise UserError(refusal)
    place = _place(device)
    batch, threads = batch or project.training.mini_batch_size, threads or num_cores()
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    try:
        profiler = Profiler(project, place, batch)
        speeds = measure(device)
        peak_flops, peak_bytes = 1e9 * speeds["matmul_gflops"], 1e9 * speeds["copy_gbs"]
        yield {
            "device": asdict(ProfiledDevice(device, batch, threads, profiler.precision.name, peak_flops, peak_bytes))
        }
        for cost in profiler.layers(peak_flops, peak_bytes):
            yield {"layer": asdict(cost)}
        yield {"whole": asdict(profiler.whole())}
        if trace is not None:
            profiler.trace(trace)
    except (MemoryError, torch.OutOfMemoryError):
        raise _too_large(batch, device) from None
    except RuntimeError as error:
        if "allocate memory" not in str(error):
            raise
        raise _too_large(batch, device) from None


def profile_project(request: ProfileRequest) -> ProfileResult:
    """Measure the layers of a model. Raises `UserError`."""
    path = request.project if request.text else model_files(request.project).project
    project, notices = read_project(path, request.settings, request.text)
    notice(*notices)
    trace = request.trace.absolute() if request.trace is not None else None
    device, *layers, whole = profile(project, request.device, request.batch, request.threads, trace)
    return ProfileResult(
        device=ProfiledDevice(**device["device"]),
        layers=[LayerCost(**line["layer"]) for line in layers],
        whole=WholeCost(**whole["whole"]),
        trace=str(trace) if trace else None,
    )


def _place(device: str) -> torch.device:
    """Return the device of a name such as `cpu` or `cuda:0`. Raises `UserError`."""
    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise UserError(
            f"The device '{device}' cannot be used: {reason}.", hint="`netwright-engine devices` lists those that can."
        ) from None
    if place.type != "cpu":
        torch.accelerator.set_device_index(place.index or 0)
    return place


def _too_large(batch: int, device: str) -> UserError:
    return UserError(
        f"A batch of {batch:,} samples does not fit into the memory of {device}.", hint="Choose a smaller --batch."
    )


class Profiler:
    """A network on a device, with a batch of synthetic samples."""

    def __init__(self, project: Project, device: torch.device, batch: int) -> None:
        self._project, self._network, self._device, self._batch = project, project.network, device, batch
        self._analysis = analyse(project.network)
        self.precision = Precision(project.training.fitting_precision, device, SingleProcess())
        self.precision.begin()
        module = build(project.network, self._analysis).to(device)
        self.precision.network(module)
        self._module = module
        inputs = synthetic_inputs(project.network, batch, device)
        kind = torch.get_default_dtype()
        self._inputs = tuple(x.to(kind) if x.is_floating_point() else x for x in inputs)

    def layers(self, peak_flops: float, peak_bytes: float) -> Iterator[LayerCost]:
        """Yield the cost of each layer except inputs."""
        shapes = dict(self._analysis.all_shapes())
        memory = self._kept_bytes()
        timer = _Timer(self._module, self._device, self.precision)
        timer.run(*self._inputs)
        for path, (forward_s, backward_s, moved) in timer.found.items():
            layer = shapes.get(path)
            flops = self._batch * layer.flops if layer is not None else 0
            least_s = max(flops / peak_flops, moved / peak_bytes)
            name, label = named(self._network, path)
            roof = least_s / forward_s if forward_s else 0.0
            yield LayerCost(path, name, label, forward_s, backward_s, flops, moved, memory.get(path, 0), roof)

    def _kept_bytes(self) -> dict[str, int]:
        """Return the bytes that each layer keeps for the backward pass; what several layers keep counts for the
        first."""
        pointers = {
            tensor.untyped_storage().data_ptr() for tensor in (*self._module.parameters(), *self._module.buffers())
        }
        pointers |= {x.untyped_storage().data_ptr() for x in self._inputs}
        memory: dict[str, int] = defaultdict(int)
        alive = []

        class Located(fx.Interpreter):
            path = ""

            def run_node(self, n: fx.Node) -> Any:
                self.path = n.meta.get("path", "")
                return super().run_node(n)

        located = Located(self._module)

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in pointers:
                pointers.add(storage.data_ptr())
                alive.append(tensor)  # so that no other tensor gets its address
                memory[located.path] += storage.nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), self.precision.computing():
            located.run(*self._inputs)
        return memory

    def whole(self) -> WholeCost:
        """Return the cost of the whole network, run without stops between layers."""
        parameters = [p for p in self._module.parameters() if p.requires_grad]

        def forward() -> torch.Tensor:
            with self.precision.computing():
                output = self._module(*self._inputs)
            return mean_square(output if isinstance(output, tuple) else (output,))

        forward_s, backward_s = _times(forward, parameters, self._device, WHOLE_S)
        flops = self._batch * self._analysis.flops
        return WholeCost(forward_s, backward_s, flops, sum(self._kept_bytes().values()))

    def trace(self, path: Path) -> None:
        """Write a trace of some steps, with the names of layers. Raises `UserError` where it cannot be written."""
        network = self._network

        class Labelled(fx.Interpreter):
            def run_node(self, n: fx.Node) -> Any:
                if not (inner := n.meta.get("path", "")):
                    return super().run_node(n)
                with torch.profiler.record_function(named(network, inner)[0]):
                    return super().run_node(n)

        with _without_log(), torch.profiler.profile() as profiler:  # of the CPU and of the accelerator
            for _ in range(TRACED_STEPS):
                with self.precision.computing():
                    output = Labelled(self._module).run(*self._inputs)
                loss = mean_square(output if isinstance(output, tuple) else (output,))
                if loss.requires_grad:
                    torch.autograd.backward(loss)
        try:
            path.parent.stat()
            profiler.export_chrome_trace(str(path))
        except (OSError, RuntimeError) as error:
            raise UserError(f"The trace {path} cannot be written: {getattr(error, 'strerror', '') or error}.") from None


class _Timer(fx.Interpreter):
    """Runs a network and measures its nodes. `found` has, per id path, seconds forward and backward, and the bytes of
    inputs, weights and outputs."""

    def __init__(self, module: fx.GraphModule, device: torch.device, precision: Precision) -> None:
        super().__init__(module)
        self.found: dict[str, tuple[float, float, int]] = {}
        self._device, self._precision = device, precision
        count = sum(node.op.startswith("call_") for node in module.graph.nodes)
        self._share_s = min(LONGEST_S, BUDGET_S / 2 / max(1, count))

    def run_node(self, n: fx.Node) -> Any:
        """Measure a node, and return what it returns, cut off from what came before."""
        if not n.op.startswith("call_") or "path" not in n.meta:
            return super().run_node(n)
        path = n.meta["path"]
        args, kwargs = tree_map(_leaf, self.fetch_args_kwargs_from_env(n))
        run = getattr(self, n.op)

        def forward() -> Any:
            with self._precision.computing():
                return run(n.target, args, kwargs)

        weights: Tensors = ()
        if n.op == "call_module":
            submodule = self.fetch_attr(str(n.target))
            weights = tuple(submodule.parameters())
        inputs = tuple(x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor))
        needed = [x for x in (*inputs, *weights) if x.requires_grad]
        forward_s, backward_s = _times(forward, needed, self._device, self._share_s)
        output = tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, forward())
        moved = sum(x.numel() * x.element_size() for x in (*inputs, *weights))
        moved += sum(x.numel() * x.element_size() for x in tree_leaves(output) if isinstance(x, torch.Tensor))
        before = self.found.get(path, (0.0, 0.0, 0))
        self.found[path] = before[0] + forward_s, before[1] + backward_s, before[2] + moved
        return output


def _leaf(value: Any) -> Any:
    """Return a tensor that gradients can be asked for."""
    if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
        return value.detach().requires_grad_()
    return value


def _times(
    forward: Callable[[], Any], needed: Sequence[torch.Tensor], device: torch.device, seconds: float
) -> tuple[float, float]:
    """Return the least seconds of a forward pass, and of the backward pass to the tensors `needed`."""

    def wait() -> None:
        if device.type != "cpu":
            torch.accelerator.synchronize(device)

    def once() -> tuple[float, float]:
        wait()
        began_s = time.perf_counter()
        outputs = forward()
        wait()
        middle_s = time.perf_counter()
        ends = [x for x in tree_leaves(outputs) if isinstance(x, torch.Tensor) and x.requires_grad]
        if not ends or not needed:
            return middle_s - began_s, 0.0
        ones = [torch.ones_like(x) for x in ends]
        wait()
        back_s = time.perf_counter()
        torch.autograd.grad(ends, needed, ones, allow_unused=True)
        wait()
        return middle_s - began_s, time.perf_counter() - back_s

    once()
    times: list[tuple[float, float]] = []
    until_s = time.perf_counter() + seconds
    while len(times) < LEAST_REPEATS or (len(times) < MOST_REPEATS and time.perf_counter() < until_s):
        times.append(once())
    return min(f for f, _ in times), min(b for _, b in times)


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """Discard what torch's profiler writes to standard error while it starts and stops."""
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def named(network: Network, path: str) -> tuple[str, str]:
    """Return the name path of the layer at a path of ids, with the numbers of copies, and the label of its type."""
    id, _, rest = path.partition("/")
    layer = network.layers[id]
    if not rest or not isinstance(layer.type, Block):
        return layer.name, layer.label
    copy = ""
    if layer.type.repeat > 1:
        copy, _, rest = rest.partition("/")
    name, label = named(layer.type.network, rest)
    return "/".join(filter(None, (layer.name, copy, name))), label


def main(arguments: list[str]) -> int:
    """Profile from the command line; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--trace", type=Path)
    options = parser.parse_args(arguments)
    try:
        project = load(options.project).project
        for line in profile(project, options.device, options.batch, options.threads, options.trace):
            print_line(line)
    except UserError as error:
        print_line(error.write())
    return 0
