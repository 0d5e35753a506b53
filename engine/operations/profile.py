"""`profile MODEL`: where the time of a step goes, by layer."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.network.layer_table import short_count
from netwright.engine.operations.model_request import ModelPath
from netwright.engine.operations.operation import (
    Argument,
    Line,
    Operation,
    ProjectText,
    Request,
    Result,
    Settings,
    Table,
)


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(Request):
    """A model, and the device and samples that its layers are measured with."""

    project: ModelPath
    text: ProjectText = ""
    settings: Settings = ()
    device: Annotated[str, Argument("such as cpu or cuda:0; default cpu", metavar="NAME")] = "cpu"
    batch: Annotated[int, Argument("samples; default the project's mini-batch", metavar="N")] = 0
    threads: Annotated[int, Argument("threads of the CPU; default all cores", metavar="N")] = 0
    trace: Annotated[
        Path | None,
        Argument(
            "also write a trace of some steps, for Perfetto or chrome://tracing", metavar="FILE.json", writes=True
        ),
    ] = None

    def check(self) -> None:
        """Refuse negative numbers, and a trace in a folder that does not exist."""
        for name, number in (("batch", self.batch), ("threads", self.threads)):
            if number < 0:
                raise UserError(f"--{name}: expected a positive number, received {number}.")
        if self.trace is not None and not (folder := self.trace.absolute().parent).is_dir():
            raise UserError(f"--trace: there is no folder {folder}.", code="not_found")


@dataclass(frozen=True)
class ProfiledDevice:
    """The device of a profile, with its highest measured speeds."""

    name: str
    batch: int
    threads: int
    precision: str
    peak_flops: float
    """FLOP/s of matrix products."""
    peak_bytes: float
    """Bytes per second of a copy, read and written."""


@dataclass(frozen=True)
class LayerCost:
    """Cost of a layer per step, in seconds and bytes."""

    path: str
    """Ids of the blocks and of the layer, with the number of the copy of a repeated block."""
    name: str
    type: str
    forward_s: float
    backward_s: float
    flops: int
    """Floating-point operations of the forward pass."""
    moved_bytes: int
    """Bytes of inputs, weights and outputs, each counted once: the least that the forward pass has to move."""
    kept_bytes: int
    """Memory that is kept for the backward pass, beside the weights."""
    roof: float
    """Least time that the device needs for `flops` and `moved_bytes`, as a share of `forward_s`: the roofline model of
    Williams, Waterman and Patterson (2009). It is above 1 for a layer whose numbers stay in the caches of a CPU, which
    are faster than its memory."""


@dataclass(frozen=True)
class WholeCost:
    """Cost of the network for one batch, run as a whole."""

    forward_s: float
    backward_s: float
    flops: int
    """Floating-point operations of the forward pass."""
    kept_bytes: int
    """Memory that is kept for the backward pass, beside the weights."""


@dataclass(frozen=True, kw_only=True)
class ProfileResult(Result):
    """What each layer costs."""

    device: ProfiledDevice
    layers: list[LayerCost]
    whole: WholeCost
    trace: str | None
    """Path of the trace, if one was asked for."""


def text(_: ProfileRequest, result: ProfileResult) -> Iterator[Line]:
    """Yield a row for each layer, and the whole."""
    device, whole = result.device, result.whole
    total_s = sum(layer.forward_s + layer.backward_s for layer in result.layers)
    header = ("layer", "forward", "backward", "share", "FLOP/s", "of roof", "kept")
    yield Table([header, *(_cells(layer, total_s) for layer in result.layers)], right=range(1, len(header)))
    threads = f", {plural(device.threads, 'thread')}" if device.name == "cpu" else ""
    yield ""
    yield f"{plural(device.batch, 'sample')} on {device.name}{threads}, {device.precision}"
    yield (
        f"all layers in turn {_ms(total_s)}; the network as a whole {_ms(whole.forward_s)} forward, "
        f"{_ms(whole.backward_s)} backward, without loss and solver"
    )
    yield (
        f"kept for the backward pass: {format_bytes(whole.kept_bytes)}; the device computes "
        f"{short_count(int(device.peak_flops))}FLOP/s and moves {short_count(int(device.peak_bytes))}B/s at most"
    )
    if result.trace is not None:
        yield f"trace: {result.trace}"


def _cells(layer: LayerCost, total_s: float) -> tuple[str, ...]:
    """Return the row of a layer."""
    forward_s, seconds = layer.forward_s, layer.forward_s + layer.backward_s
    return (
        layer.name,
        _ms(forward_s),
        _ms(layer.backward_s),
        format_percent(seconds / total_s, 1) if total_s else "",
        short_count(int(layer.flops / forward_s)) if layer.flops and forward_s else "",
        format_percent(min(1.0, layer.roof)),
        format_bytes(layer.kept_bytes) if layer.kept_bytes else "",
    )


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.3f} ms"


OPERATION = Operation(
    name="profile",
    effect="reads",
    request=ProfileRequest,
    results=(ProfileResult,),
    function="netwright.engine.launch.layer_profile:profile_project",
    description=(
        "Run each layer by itself on synthetic samples, forward and backward, in a process of its own, and print where "
        "the time of a step goes. 'Of roof' compares the time with the least that the device needs for the arithmetic "
        "and the bytes of the layer (roofline model)."
    ),
    text=text,
    faces=("command", "window"),
)
