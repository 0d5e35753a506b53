"""What a run watches beside its loss: the norm of its gradients, and how its layers are. Off unless asked for.

The gradient norm costs one pass over the gradients a step. Layers are looked at in one step every few seconds: in all
others they carry no hooks. Nothing waits for the device before a report does.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from engine.parallel.process_group import ProcessGroup
from engine.runs.events import Event, Health, Message, split_health

FIRST_INTERVAL_S = 0.25
"""After the first look; it doubles with each, so that a short run is seen as well."""
LEAST_INTERVAL_S = 2.0
A_LAYER_S = 0.02
"""So much longer a layer: an hour of training adds some megabytes to the log, however large the network is."""
NO_FIGURE = -1.0
COST_SHARE = 0.01
"""No more of the time than this is spent on looking at layers."""


class LayerWatch:
    """How layers are, on one worker. `layers` gives for each id path the attributes of its modules; `units` the
    dimension of its output along which its units lie."""

    def __init__(
        self,
        network: nn.Module,
        layers: Mapping[str, Sequence[str]],
        units: Mapping[str, int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        known = dict(network.named_modules())  # without what is left out for the loss
        found = {id: [known[name] for name in names if name in known] for id, names in layers.items()}
        self._modules = {id: modules for id, modules in found.items() if modules}
        self._device = next(network.parameters()).device
        self._units = units
        self._clock = clock
        self._interval = max(LEAST_INTERVAL_S, A_LAYER_S * len(self._modules))
        self._soon = FIRST_INTERVAL_S
        self._next = -math.inf
        self._spent = 0.0
        self._step = 0
        self._hooks: list[RemovableHandle] = []
        self._outputs: dict[str, torch.Tensor] = {}
        self._found: tuple[int, list[str], torch.Tensor] | None = None

    def before(self, step: int) -> None:
        """A step begins (from 1)."""
        if self._found is not None or self._clock() < self._next:
            return
        self._step, self._spent = step, 0.0
        for id, modules in self._modules.items():
            self._hooks.append(modules[-1].register_forward_hook(self._hook(id)))

    @property
    def is_looking(self) -> bool:
        """Whether this step is one that is looked at."""
        return bool(self._hooks)

    def _hook(self, id: str) -> Callable[..., None]:
        def see(_module: nn.Module, _given: Any, output: Any) -> None:
            began = self._clock()
            output = output[0] if isinstance(output, tuple | list) and output else output
            if isinstance(output, torch.Tensor) and (output.is_floating_point() or output.is_complex()):
                self._outputs[id] = sizes_of_units(output.detach(), self._units.get(id, 1))
            self._spent += self._clock() - began

        return see

    def after(self) -> None:
        """Gradients are complete, and not limited yet."""
        if not self._hooks:
            return
        began = self._clock()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        norms = dict(self._gradient_norms())
        # Weights may be kept on the CPU of a network that is computed on a GPU.
        device = next((sizes.device for sizes in self._outputs.values()), self._device)
        unknown = torch.full((2,), NO_FIGURE, dtype=torch.float64, device=device)
        rows = []
        for id in self._modules:
            norm = norms[id].double().reshape(1).to(device) if id in norms else unknown[:1]
            rows.append(torch.cat([norm, self._outputs.get(id, unknown)]))
        self._found = self._step, list(self._modules), torch.stack(rows)
        self._outputs = {}
        self._spent += self._clock() - began
        self._next = self._clock() + max(min(self._interval, self._soon), self._spent / COST_SHARE)
        self._soon *= 2

    def _gradient_norms(self) -> Iterator[tuple[str, torch.Tensor]]:
        """For each layer whose gradients this worker has as a whole."""
        owners: list[str] = []
        gradients: list[torch.Tensor] = []
        for id, modules in self._modules.items():
            for module in modules:
                for parameter in module.parameters():
                    if type(parameter.grad) is torch.Tensor:
                        owners.append(id)
                        gradients.append(parameter.grad)
        if not gradients:
            return
        norms = torch._foreach_norm(gradients)
        for id in dict.fromkeys(owners):
            yield id, torch.linalg.vector_norm(torch.stack([n for o, n in zip(owners, norms, strict=True) if o == id]))

    def take(self) -> list[Event]:
        """What was seen since the last report, and forget it. Waits for the device."""
        if self._found is None:
            return []
        (step, ids, rows), self._found = self._found, None
        figures = {id: [_short(number) for number in row] for id, row in zip(ids, rows.tolist(), strict=True)}
        return list(split_health(Health(iteration=step, layers=figures)))


def sizes_of_units(output: torch.Tensor, units: int) -> torch.Tensor:
    """The root mean square of a layer's output, and the share of its units (along this dimension) that gave zero for
    every sample and at every place. Two numbers, left on the device; no copy of the output is made."""
    if not output.numel():
        return torch.full((2,), NO_FIGURE, dtype=torch.float64, device=output.device)
    others = [dim for dim in range(output.dim()) if dim != units]
    wide = torch.promote_types(output.dtype, torch.float32)
    norms = torch.linalg.vector_norm(output, dim=others, dtype=wide).double()
    size = torch.linalg.vector_norm(norms) / math.sqrt(output.numel())
    return torch.stack([size, (norms == 0).double().mean()])


def _short(number: float) -> float:
    """With three digits: a line of the log is short."""
    return float(f"{number:.3g}")


class Watch:
    """What one worker watches, which may change while the run trains."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        group: ProcessGroup,
        *,
        gradient_norm: bool = False,
        layers: LayerWatch | None = None,
        watches_layers: bool = False,
        refusals: Mapping[str, str] = MappingProxyType({}),
        remark: str = "",
    ) -> None:
        """`layers` looks at them, on the worker that does, once `watches_layers` is on; `refusals` says in words for
        `gradient_norm` and `layers` why they cannot be watched in this run, `remark` what is missing of layers."""
        self._all_parameters = list(parameters)
        self._group = group
        self._layer_watch = layers
        self._refusals = refusals
        self._remark = remark
        self._is_on = {"gradient_norm": False, "layers": False}
        self._parameters: list[nn.Parameter] = []
        self._layers: LayerWatch | None = None
        self.switch("gradient_norm", is_on=gradient_norm)
        self.switch("layers", is_on=watches_layers)

    def refusal(self, what: str) -> str:
        """Why this cannot be watched, or nothing. The same on all workers."""
        return self._refusals.get(what, "")

    def switch(self, what: str, *, is_on: bool) -> None:
        """Watch `gradient_norm` or `layers` from the next step on, or no more. All workers at the same step."""
        self._is_on[what] = is_on
        self._parameters = self._all_parameters if self._is_on["gradient_norm"] else []
        self._layers = self._layer_watch if self._is_on["layers"] else None

    @property
    def sees_layers(self) -> bool:
        """Whether layers are looked at in this step, each of which then has to be called."""
        return self._layers is not None and self._layers.is_looking

    def before(self, step: int) -> None:
        """A step begins (from 1)."""
        if self._layers is not None:
            self._layers.before(step)

    def after(self) -> torch.Tensor | None:
        """Gradients are complete, and not limited yet: this worker's part of the square of their norm, so that those of
        all workers add up to it, or nothing where that is not watched."""
        if self._layers is not None:
            self._layers.after()
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        if not gradients:
            return None
        is_whole = type(gradients[0]) is torch.Tensor
        own = gradients if is_whole else [gradient.to_local() for gradient in gradients]  # type: ignore[attr-defined]
        square: torch.Tensor = torch.linalg.vector_norm(torch.stack(list(torch._foreach_norm(own)))).double().square()
        return square / self._group.size if is_whole else square

    def take(self) -> list[Event]:
        """What was seen of the layers since the last report; before the first, what is missing of it."""
        seen = self._layers.take() if self._layers is not None else []
        if seen and self._remark:
            seen = [Message(severity="note", text=self._remark), *seen]
            self._remark = ""
        return seen

    def state_dict(self) -> dict[str, bool]:
        """What is watched."""
        return dict(self._is_on)

    def load_state_dict(self, state: Mapping[str, bool]) -> None:
        """Watch what was watched. Checkpoints of before this could change say nothing."""
        for what, is_on in state.items():
            if what in self._is_on and not (is_on and self.refusal(what)):
                self.switch(what, is_on=bool(is_on))
