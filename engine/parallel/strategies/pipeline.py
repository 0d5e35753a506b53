"""Each worker holds a stage of the network, and the pieces of a batch go through all of them in turn (1F1B, Narayanan
et al., PipeDream, 2019): a worker begins with the backward pass of a piece as soon as it can, so that no more pieces
are held than there are stages.

torch's own schedules (`torch.distributed.pipelining`) want pieces of equal, fixed sizes, and so no uneven last batch
and no sequences of different lengths; what goes from stage to stage here is told once for each size of a piece.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import fx, nn

from engine.core.errors import RunError, UserError
from engine.parallel.process_group import ProcessGroup
from engine.parallel.strategies.strategy import SolverState, State


@dataclass(frozen=True)
class Stage:
    """One of them. Its module takes all inputs of the network and behind them what the stage before gives, and gives
    what the stages behind need, or as the last one what the network does. The layers in it are the network's own, under
    the same names."""

    module: fx.GraphModule
    num_entering: int
    num_leaving: int


def cut(network: fx.GraphModule, stage_of: Mapping[str, int], count: int) -> list[Stage]:
    """The stages of a network made by `engine.lowering.module.build`, by the stage of each layer (by id, from 0).

    What a later stage than the next one needs goes through those between. Raises `UserError` for layers that share
    weights and are in different stages.
    """
    nodes = list(network.graph.nodes)
    at = {node: stage_of[node.meta["layer"]] for node in nodes if node.op not in ("placeholder", "output")}
    # What the network gives leaves with the last stage, wherever it was made.
    needed = {node: max((at.get(user, count - 1) for user in node.users), default=0) for node in at}
    leaving = [[node for node in at if at[node] <= number < needed[node]] for number in range(count)]
    stages = []
    for number in range(count):
        graph = fx.Graph()
        known = {node: graph.placeholder(node.name) for node in nodes if node.op == "placeholder"}
        entering = leaving[number - 1] if number else []
        known |= {node: graph.placeholder(node.name) for node in entering}
        for node in nodes:
            if at.get(node) == number:
                known[node] = graph.node_copy(node, lambda used, known=known: known[used])  # type: ignore[misc]
        if number < count - 1:
            graph.output(tuple(known[node] for node in leaving[number]))
        else:
            graph.output(fx.map_arg(nodes[-1].args[0], lambda used, known=known: known[used]))  # type: ignore[misc]
        module = fx.GraphModule(network, graph, "Stage")
        stages.append(Stage(module, len(entering), len(leaving[number])))
    _refuse_shared(stages)
    return stages


def _refuse_shared(stages: list[Stage]) -> None:
    owner: dict[nn.Parameter, tuple[int, str]] = {}
    for number, stage in enumerate(stages):
        for name, parameter in stage.module.named_parameters():
            first, known_as = owner.setdefault(parameter, (number, name))
            if first != number:
                raise UserError(
                    f"{known_as} of stage {first + 1} and {name} of stage {number + 1} are the same weights. Put these "
                    "layers into one stage."
                )


Tensors = tuple[torch.Tensor, ...]
Key = tuple[Any, ...]
Call = Callable[..., torch.Tensor | Tensors]
Groups = Callable[[nn.Module], list[list[str]]]
"""The names of the parameters that learn, as the solver groups and numbers them."""

MOST_AXES = 10
MOST_WAITING = 16
"""So many tensors may be on their way to the next stage before this one waits, where nothing comes back."""
_TYPES = (
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.bool,
    torch.complex64,
    torch.complex128,
    torch.uint8,
    torch.int8,
    torch.int16,
)


@dataclass(frozen=True)
class Form:
    """What is to be known of a tensor before it comes: type, sizes, and whether it wants a gradient."""

    WIDTH: ClassVar[int] = MOST_AXES + 3

    dtype: torch.dtype
    sizes: tuple[int, ...]
    wants_gradient: bool

    @classmethod
    def of(cls, x: torch.Tensor) -> "Form":
        """That of this tensor."""
        return cls(x.dtype, tuple(x.shape), x.requires_grad)

    @classmethod
    def read(cls, numbers: Sequence[int]) -> "Form":
        """From numbers as `write` gives them."""
        kind, wants, axes, *sizes = numbers
        return cls(_TYPES[kind], tuple(sizes[:axes]), bool(wants))

    def write(self) -> list[int]:
        """As `WIDTH` numbers."""
        padding = [0] * (MOST_AXES - len(self.sizes))
        return [_TYPES.index(self.dtype), int(self.wants_gradient), len(self.sizes), *self.sizes, *padding]

    def none(self, device: torch.device) -> torch.Tensor:
        """Such a tensor without a sample."""
        return torch.empty((0, *self.sizes[1:]), dtype=self.dtype, device=device)

    def empty(self, device: torch.device) -> torch.Tensor:
        """Room for such a tensor."""
        return torch.empty(self.sizes, dtype=self.dtype, device=device)


def schedule(stage: int, count: int, pieces: int) -> Iterator[tuple[bool, int]]:
    """What a stage does in turn: forward (true) or backward, and of which piece."""
    ahead = min(pieces, count - 1 - stage)
    yield from ((True, piece) for piece in range(ahead))
    for piece in range(pieces - ahead):
        yield True, piece + ahead
        yield False, piece
    yield from ((False, piece) for piece in range(pieces - ahead, pieces))


class Pipeline:
    """This worker's stage, and what goes to and fro. `module` is the stage: it has a part of the network's weights,
    under their names, so that solver, limits and guard are those of this part."""

    is_replicated = False
    is_synchronized = True

    def __init__(
        self,
        network: fx.GraphModule,
        stage_of: Mapping[str, int],
        group: ProcessGroup,
        device: torch.device,
        groups: Groups,
    ) -> None:
        """`stage_of`: the stage of each layer by id, one for each worker. Raises `UserError` as `cut` does."""
        stages = cut(network, stage_of, group.size)
        owners = {key: number for number, stage in enumerate(stages) for key in stage.module.state_dict()}
        self._kept = {key: (owners[key], Form.of(x)) for key, x in network.state_dict().items() if key in owners}
        stage = stages[group.rank]
        self._groups, self._own_groups = groups(network), groups(stage.module)
        self.module: fx.GraphModule = stage.module.to(device)
        self._num_entering, self._num_leaving = stage.num_entering, stage.num_leaving
        self._rank, self._size, self._device = group.rank, group.size, device
        # A group of its own: over nccl what comes back must not wait behind what goes on.
        self._back = dist.new_group() if device.type != "cpu" else None
        # gloo sends tensors of the CPU alone.
        self._via = torch.device("cpu") if dist.get_backend() == "gloo" else device
        self._add_communication_time = group.add_communication_time
        self.measures_communication = self._via.type == "cpu"  # over nccl nothing that is sent is waited for here
        self._entering: dict[Key, list[Form]] = {}
        self._told: dict[Key, list[Form]] = {}
        self._results: dict[Key, list[Form]] = {}
        self._sent: list[tuple[Any, torch.Tensor]] = []
        self._sent_back: list[tuple[Any, torch.Tensor]] = []

    @property
    def is_last(self) -> bool:
        """Whether what the network gives is known here."""
        return self._rank == self._size - 1

    def zero_grad(self) -> None:
        """Clear the gradients."""
        self.module.zero_grad(set_to_none=True)

    def no_sync(self) -> AbstractContextManager[Any]:
        """No synchronization: no two stages have a weight in common."""
        return contextlib.nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Of the last stage alone; `differentiate` goes through all of them."""
        torch.autograd.backward(loss)

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: each worker has updated its own weights."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: each weight is on one worker."""

    # ---- computing ----

    def differentiate(
        self, pieces: Sequence[Tensors], call: Call, loss_of: Callable[[int, Tensors], torch.Tensor]
    ) -> None:
        """Forward and backward of all pieces of a batch, of which every worker has the inputs; the gradients add up.
        The last worker's `loss_of` is given the number of a piece and what the network gives for it. A collective."""
        held: dict[int, tuple[Tensors, Tensors]] = {}
        for is_forward, number in schedule(self._rank, self._size, len(pieces)):
            if is_forward:
                entering, leaving = self._compute(pieces[number], call)
                # The stage before has taken all but the last piece that went back, or it would not have sent this one.
                self._wait(self._sent_back, self._num_wanted(entering))
                if self.is_last:
                    leaving = (loss_of(number, leaving),)
                held[number] = entering, leaving
            else:
                self._go_back(*held.pop(number))
                # What comes back tells that what went on has arrived.
                self._wait(self._sent, len(held) * self._num_leaving)
        self.finish()

    def forward(self, inputs: Tensors, call: Call) -> Tensors | None:
        """What the network gives, known to the last worker; without gradients. A collective."""
        leaving = self._compute(inputs, call)[1]
        self._wait(self._sent, MOST_WAITING)
        return leaving if self.is_last else None

    def finish(self) -> None:
        """Wait until all that was sent has arrived."""
        self._wait(self._sent, 0)
        self._wait(self._sent_back, 0)

    def tell_results(self, inputs: Tensors, results: Tensors | None) -> Tensors:
        """What the last worker has, or on the others such tensors without a sample. A collective."""
        key = self._key(inputs)
        if key not in self._results:
            # At most as many results as fit: the number of them goes before.
            count = torch.tensor([len(results) if results is not None else 0], device=self._device)
            dist.broadcast(count, self._size - 1)
            shape = (int(count), Form.WIDTH)
            numbers = torch.zeros(shape, dtype=torch.int64, device=self._device)
            if results is not None:
                numbers = torch.tensor([Form.of(x).write() for x in results], device=self._device)
            dist.broadcast(numbers, self._size - 1)
            self._results[key] = [Form.read(row) for row in numbers.tolist()]
        return results if results is not None else tuple(form.none(self._device) for form in self._results[key])

    def _key(self, inputs: Tensors) -> Key:
        """What the sizes of all that follows depend on."""
        return (torch.is_grad_enabled(), self.module.training, *(tuple(x.shape) for x in inputs))

    def _compute(self, inputs: Tensors, call: Call) -> tuple[Tensors, Tensors]:
        """Forward of one piece through this stage: what enters and what leaves."""
        key = self._key(inputs)
        entering = self._enter(key) if self._rank else ()
        found = call(self.module, *inputs, *entering)
        leaving = found if isinstance(found, tuple) else (found,)
        if not self.is_last:
            self._send_on(key, leaving)
        return entering, leaving

    def _enter(self, key: Key) -> Tensors:
        """What comes from the stage before."""
        source = self._rank - 1
        if key not in self._entering:
            numbers = self._receive(Form(torch.int64, (self._num_entering, Form.WIDTH), False), source)
            self._entering[key] = [Form.read(row) for row in numbers.tolist()]
        forms = self._entering[key]
        return tuple(self._receive(form, source).requires_grad_(form.wants_gradient) for form in forms)

    def _send_on(self, key: Key, leaving: Tensors) -> None:
        forms = [Form.of(x) for x in leaving]
        if key not in self._told:
            self._told[key] = forms
            self._send(torch.tensor([form.write() for form in forms], device=self._device), self._rank + 1)
        elif forms != self._told[key]:
            raise RunError(
                f"What leaves stage {self._rank + 1} of the pipeline has other sizes than before, for samples of the "
                "same sizes. Put the layer whose output depends so on the values, and what follows it, into the last "
                "stage, or use another strategy."
            )
        for x in leaving:
            self._send(x.detach(), self._rank + 1)

    def _go_back(self, entering: Tensors, leaving: Tensors) -> None:
        """Backward of one piece through this stage."""
        wanted = [x for x in leaving if x.requires_grad]
        if self.is_last:
            torch.autograd.backward(wanted)
        elif wanted:
            back = [self._receive(Form.of(x), self._rank + 1, self._back) for x in wanted]
            torch.autograd.backward(wanted, back)
        for x in entering:
            if x.requires_grad:
                self._send_back(torch.zeros_like(x) if x.grad is None else x.grad)

    def _send(self, x: torch.Tensor, to: int) -> None:
        """Let a tensor go on; it is held until it has arrived."""
        flat = _as_bytes(x.to(self._via))
        self._sent.append((dist.isend(flat, to), flat))

    def _send_back(self, x: torch.Tensor) -> None:
        flat = _as_bytes(x.to(self._via))
        self._sent_back.append((dist.isend(flat, self._rank - 1, self._back), flat))

    def _receive(self, form: Form, source: int, group: Any = None) -> torch.Tensor:
        x = form.empty(self._via)
        began = time.perf_counter()
        dist.recv(_as_bytes(x), source, group)
        self._add_communication_time(time.perf_counter() - began)
        return x.to(self._device)

    @staticmethod
    def _num_wanted(entering: Tensors) -> int:
        return sum(x.requires_grad for x in entering)

    def _wait(self, sent: list[tuple[Any, torch.Tensor]], most: int) -> None:
        """Until at most so many of those that were sent have not arrived."""
        began = time.perf_counter()
        while len(sent) > most:
            sent.pop(0)[0].wait()
        self._add_communication_time(time.perf_counter() - began)

    # ---- telling and taking ----

    @torch.no_grad()
    def state_dict(self) -> State:
        """A copy of the whole network's weights and statistics, on the CPU, for the first worker; the others have what
        is theirs. A collective."""
        own = self.module.state_dict()
        found: State = {}
        for key, (owner, form) in self._kept.items():
            if owner == self._rank:
                found[key] = own[key].detach().clone()
                if self._rank:
                    self._send(found[key], 0)
            elif self._rank == 0:
                found[key] = self._receive(form, owner).cpu()
        self.finish()
        return found

    def load_state_dict(self, state: State) -> None:
        """Give each worker its part of these."""
        self.module.load_state_dict({key: state[key] for key in self.module.state_dict()})

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """What the solver remembers, of the whole network and numbered as one worker would, for the first worker; the
        others have what is theirs. A collective."""
        own = solver.state_dict()
        named = _by_name(torch.utils._pytree.tree_map(_on_cpu, own["optimizer"]), self._own_groups)
        everyone: list[Any] | None = [None] * self._size if self._rank == 0 else None
        dist.gather_object(named, everyone)
        if everyone is None:
            return own
        kept = {name: value for given, _ in everyone for name, value in given.items()}
        settings = {name: values for _, given in everyone for name, values in given.items()}
        return {**own, "optimizer": _by_number(kept, settings, self._groups)}

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore the solver's state, each worker its shards."""
        kept, settings = _by_name(state["optimizer"], self._groups)
        solver.load_state_dict({**state, "optimizer": _by_number(kept, settings, self._own_groups)})


Kept = dict[str, dict[str, Any]]


def _by_name(optimizer: dict[str, Any], groups: list[list[str]]) -> tuple[Kept, Kept]:
    """What an optimizer remembers of each parameter, and the settings of its group, by name."""
    names = [name for group in groups for name in group]
    numbers = [number for group in optimizer["param_groups"] for number in group["params"]]
    kept = {name: optimizer["state"][n] for name, n in zip(names, numbers, strict=True) if n in optimizer["state"]}
    settings: Kept = {}
    for group, members in zip(optimizer["param_groups"], groups, strict=True):
        own = {key: value for key, value in group.items() if key != "params"}
        settings |= dict.fromkeys(members, own)
    return kept, settings


def _by_number(kept: Kept, settings: Kept, groups: list[list[str]]) -> dict[str, Any]:
    """The state of an optimizer with these parameters, in torch's form."""
    numbers = {name: number for number, name in enumerate(name for group in groups for name in group)}
    return {
        "state": {number: kept[name] for name, number in numbers.items() if name in kept},
        "param_groups": [{**settings[group[0]], "params": [numbers[name] for name in group]} for group in groups],
    }


def _on_cpu(value: Any) -> Any:
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def _as_bytes(x: torch.Tensor) -> torch.Tensor:
    """Whatever it is made of: not every backend knows every type."""
    return x.contiguous().flatten().view(torch.uint8)
