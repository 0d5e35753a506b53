"""Records the norm of the gradients, and statistics of layers: output size, dead units, gradient. Off by default.

The gradient norm costs one pass over the gradients per step. Layers are recorded in one step every few seconds; in all
others they have no hooks. Nothing waits for the device before a report does.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.tensor_shards import is_sharded, local_shard
from netwright.engine.runs.events import Event, Health, Message
from netwright.engine.runs.log_lines import split_health

FIRST_INTERVAL_S = 0.25
"""After the first recorded step; it doubles with each, so that a short run is covered as well."""
MIN_INTERVAL_S = 2.0
INTERVAL_PER_LAYER_S = 0.02
"""Added per layer: an hour of training adds some megabytes to the log, however large the network is."""
UNKNOWN = -1.0
COST_SHARE = 0.01
"""At most this share of the time goes into recording layers."""
LAYERS_OF_SHARDED = (
    "Of the layers outputs and dead units are shown, but no gradients: each worker has a shard of each gradient, and "
    "only the first one records layers. The norm of all gradients together can be watched (watch_gradient_norm)."
)


Modules = dict[str, list[nn.Module]]
"""The modules of each layer, by the id path of the layer."""


def modules_of(network: nn.Module, layers: Mapping[str, Sequence[str]]) -> Modules:
    """Return the modules of layers by their names, without those that are folded into the loss."""
    by_name = dict(network.named_modules())
    modules = {id: [by_name[name] for name in names if name in by_name] for id, names in layers.items()}
    return {id: members for id, members in modules.items() if members}


class OutputHooks:
    """Forward hooks that keep what `reduce` makes of the output of each layer, while they are there."""

    def __init__(self, modules: Modules, reduce: Callable[[str, torch.Tensor], torch.Tensor]) -> None:
        self._modules, self._reduce = modules, reduce
        self._hooks: list[RemovableHandle] = []
        self._outputs: dict[str, torch.Tensor] = {}

    @property
    def are_there(self) -> bool:
        """Return whether outputs are kept."""
        return bool(self._hooks)

    def add(self) -> None:
        """Begin."""
        self._hooks = [members[-1].register_forward_hook(self._hook(id)) for id, members in self._modules.items()]

    def _hook(self, id: str) -> Callable[..., None]:
        def record(_module: nn.Module, _inputs: Any, output: Any) -> None:
            output = output[0] if isinstance(output, tuple | list) and output else output
            if isinstance(output, torch.Tensor) and (output.is_floating_point() or output.is_complex()):
                self._outputs[id] = self._reduce(id, output.detach())

        return record

    def take(self) -> dict[str, torch.Tensor]:
        """End, and return what was kept."""
        for hook in self._hooks:
            hook.remove()
        outputs, self._hooks, self._outputs = self._outputs, [], {}
        return outputs


class LayerWatch:
    """Records the layers of one worker.

    `layers` are the module names by id path of the layer; `units` is the channel dimension of each output; `remark` is
    sent with the first record.
    """

    def __init__(
        self,
        network: nn.Module,
        layers: Mapping[str, Sequence[str]],
        units: Mapping[str, int],
        clock: Callable[[], float] = time.monotonic,
        remark: str = "",
    ) -> None:
        self._modules = modules_of(network, layers)
        self._remark = remark
        self._device = next(network.parameters()).device
        self._units = units
        self._clock = clock
        self._interval_s = max(MIN_INTERVAL_S, INTERVAL_PER_LAYER_S * len(self._modules))
        self._soon_s = FIRST_INTERVAL_S
        self._next_s = -math.inf
        self._spent_s = 0.0
        self._step = 0
        self._hooks = OutputHooks(self._modules, self._sizes)
        self._recorded: tuple[int, list[str], torch.Tensor] | None = None

    def before(self, step: int) -> None:
        """Add hooks before a step (from 1), if it is to be recorded."""
        if self._recorded is not None or self._clock() < self._next_s:
            return
        self._step, self._spent_s = step, 0.0
        self._hooks.add()

    @property
    def is_recording(self) -> bool:
        """Return whether this step is recorded."""
        return self._hooks.are_there

    def _sizes(self, id: str, output: torch.Tensor) -> torch.Tensor:
        start_s = self._clock()
        sizes = sizes_of_units(output, self._units.get(id, 1))
        self._spent_s += self._clock() - start_s
        return sizes

    def after(self) -> None:
        """Record the gradients after a step, before clipping, and remove the hooks."""
        if not self.is_recording:
            return
        start_s = self._clock()
        outputs = self._hooks.take()
        norms = dict(self._gradient_norms())
        # Weights may be kept on the CPU of a network that is computed on a GPU.
        device = next((sizes.device for sizes in outputs.values()), self._device)
        unknown = torch.full((2,), UNKNOWN, dtype=torch.float64, device=device)
        rows = []
        for id in self._modules:
            norm = norms[id].double().reshape(1).to(device) if id in norms else unknown[:1]
            rows.append(torch.cat([norm, outputs.get(id, unknown)]))
        self._recorded = self._step, list(self._modules), torch.stack(rows)
        self._spent_s += self._clock() - start_s
        self._next_s = self._clock() + max(min(self._interval_s, self._soon_s), self._spent_s / COST_SHARE)
        self._soon_s *= 2

    def _gradient_norms(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the gradient norm of each layer whose gradients are not sharded."""
        owners: list[str] = []
        gradients: list[torch.Tensor] = []
        for id, modules in self._modules.items():
            for module in modules:
                for parameter in module.parameters():
                    if parameter.grad is not None and not is_sharded(parameter.grad):
                        owners.append(id)
                        gradients.append(parameter.grad)
        if not gradients:
            return
        norms = torch._foreach_norm(gradients)
        for id in dict.fromkeys(owners):
            yield id, torch.linalg.vector_norm(torch.stack([n for o, n in zip(owners, norms, strict=True) if o == id]))

    def take(self) -> list[Event]:
        """Return the events recorded since the last report. Waits for the device."""
        if self._recorded is None:
            return []
        (step, ids, rows), self._recorded = self._recorded, None
        figures = {id: [_short(number) for number in row] for id, row in zip(ids, rows.tolist(), strict=True)}
        remark, self._remark = self._remark, ""
        notes = [Message(severity="note", text=remark)] if remark else []
        return [*notes, *split_health(Health(iteration=step, layers=figures))]


def sizes_of_units(output: torch.Tensor, units: int) -> torch.Tensor:
    """Return the root mean square of a layer's output, and the share of units (along this dimension) that are zero for
    every sample and position: `(2,)`, on the device; the output is not copied."""
    if not output.numel():
        return torch.full((2,), UNKNOWN, dtype=torch.float64, device=output.device)
    others = [dim for dim in range(output.dim()) if dim != units]
    wide = torch.promote_types(output.dtype, torch.float32)
    norms = torch.linalg.vector_norm(output, dim=others, dtype=wide).double()
    size = torch.linalg.vector_norm(norms) / math.sqrt(output.numel())
    return torch.stack([size, (norms == 0).double().mean()])


def _short(number: float) -> float:
    """Round to three digits, to keep lines of the log short."""
    return float(f"{number:.3g}")


class StepRecorder(Protocol):
    """Records some steps of one worker; each method is called at every step, or report."""

    @property
    def sees_layers(self) -> bool:
        """Return whether outputs of layers are recorded in this step, so that each must be called."""

    def before(self, step: int) -> None:
        """Prepare for a step (from 1)."""

    def after(self) -> None:
        """Record the gradients, before clipping."""

    def take(self) -> None:
        """Write what was recorded since the last report."""

    def resume(self, step: int) -> None:
        """Go on behind a step."""


class Watch:
    """Recorder of one worker for gradients and layers, which can be switched while the run trains."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        group: ProcessGroup,
        *,
        gradient_norm: bool = False,
        layers: LayerWatch | None = None,
        watches_layers: bool = False,
        refusals: Mapping[str, str] = MappingProxyType({}),
        weights: StepRecorder | None = None,
    ) -> None:
        """`layers` records them, on one worker, while `watches_layers` is on; `weights` records distributions.

        `refusals` are the reasons why `gradient_norm` or `layers` cannot be recorded in this run.
        """
        self._all_parameters = list(parameters)
        self._group = group
        self._layer_watch = layers
        self._refusals = refusals
        self._weights = weights
        self._is_on = {"gradient_norm": False, "layers": False}
        self._parameters: list[nn.Parameter] = []
        self._layers: LayerWatch | None = None
        self.switch("gradient_norm", is_on=gradient_norm)
        self.switch("layers", is_on=watches_layers)

    def refusal(self, record: str) -> str:
        """Return the reason why `record` is refused; empty where it is not. The same on all workers."""
        return self._refusals.get(record, "")

    def switch(self, record: str, *, is_on: bool) -> None:
        """Start or stop recording `gradient_norm` or `layers`. Called by all workers at the same step."""
        self._is_on[record] = is_on
        self._parameters = self._all_parameters if self._is_on["gradient_norm"] else []
        self._layers = self._layer_watch if self._is_on["layers"] else None

    @property
    def sees_layers(self) -> bool:
        """Return whether layers are recorded in this step, so that each must be called."""
        is_seen = self._weights is not None and self._weights.sees_layers
        return is_seen or (self._layers is not None and self._layers.is_recording)

    def before(self, step: int) -> None:
        """Add hooks before a step (from 1), if it is to be recorded."""
        for recorder in (self._layers, self._weights):
            if recorder is not None:
                recorder.before(step)

    def after(self) -> torch.Tensor | None:
        """Return this worker's part of the squared gradient norm, before clipping; None where it is not recorded.

        The parts of all workers add up to the whole.
        """
        for recorder in (self._layers, self._weights):
            if recorder is not None:
                recorder.after()
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        if not gradients:
            return None
        own = [local_shard(gradient) for gradient in gradients]
        square: torch.Tensor = torch.linalg.vector_norm(torch.stack(list(torch._foreach_norm(own)))).double().square()
        return square if is_sharded(gradients[0]) else square / self._group.size

    def take(self) -> list[Event]:
        """Return the events of the layers since the last report, and write distributions."""
        if self._weights is not None:
            self._weights.take()
        return self._layers.take() if self._layers is not None else []

    def resume(self, step: int) -> None:
        """Go on behind a step: what was written of later ones is forgotten."""
        if self._weights is not None:
            self._weights.resume(step)

    def state_dict(self) -> dict[str, bool]:
        """Return which records are on."""
        return dict(self._is_on)

    def load_state_dict(self, state: Mapping[str, bool]) -> None:
        """Restore which records are on. Older checkpoints do not hold it."""
        for record, is_on in state.items():
            if record in self._is_on and not (is_on and self.refusal(record)):
                self.switch(record, is_on=bool(is_on))
