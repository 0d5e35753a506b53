"""Pipeline parallelism with the 1F1B schedule (Narayanan et al., PipeDream, 2019): one stage of the network per worker.

The pieces of a batch pass through all stages in turn. A worker starts the backward pass of a piece as soon as it can,
so that it holds the activations of at most as many pieces as there are stages.

torch's own schedules (`torch.distributed.pipelining`) require pieces of equal, fixed sizes, which excludes an uneven
last batch and sequences of different lengths. Here the forms of the tensors between two stages are sent once for each
size of a piece.
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

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.parallel.process_group import ProcessGroup, closed_ports
from netwright.engine.parallel.strategies.strategy import SolverState, State


@dataclass(frozen=True)
class Stage:
    """Pipeline stage: a part of the network as a module.

    The module takes all inputs of the network, followed by the outputs of the previous stage. It returns the tensors
    that later stages need, or, in the last stage, the outputs of the network. Its layers are the network's own, under
    the same names.
    """

    module: fx.GraphModule
    num_entering: int
    num_leaving: int


def cut(network: fx.GraphModule, stage_of: Mapping[str, int], count: int) -> list[Stage]:
    """Return the stages of a network made by `netwright.engine.lowering.module.build`.

    stage_of: number of the stage, from 0, per layer id. count: number of stages. A tensor that a later stage than the
    next one needs passes through the stages between. Raises `UserError` if layers in different stages share weights.
    """
    nodes = list(network.graph.nodes)
    assigned = {node: stage_of[node.meta["layer"]] for node in nodes if node.op not in ("placeholder", "output")}
    # Outputs of the network are passed on to the last stage, wherever they are computed.
    needed = {node: max((assigned.get(user, count - 1) for user in node.users), default=0) for node in assigned}
    leaving = [[node for node in assigned if assigned[node] <= number < needed[node]] for number in range(count)]
    stages = []
    for number in range(count):
        graph = fx.Graph()
        copies = {node: graph.placeholder(node.name) for node in nodes if node.op == "placeholder"}
        entering = leaving[number - 1] if number else []
        copies |= {node: graph.placeholder(node.name) for node in entering}
        for node in nodes:
            if assigned.get(node) == number:
                copies[node] = graph.node_copy(node, lambda source, copies=copies: copies[source])  # type: ignore[misc]
        if number < count - 1:
            graph.output(tuple(copies[node] for node in leaving[number]))
        else:
            graph.output(fx.map_arg(nodes[-1].args[0], lambda source, copies=copies: copies[source]))  # type: ignore[misc]
        module = fx.GraphModule(network, graph, "Stage")
        stages.append(Stage(module, len(entering), len(leaving[number])))
    _refuse_shared(stages)
    return stages


def _refuse_shared(stages: list[Stage]) -> None:
    owner: dict[nn.Parameter, tuple[int, str]] = {}
    for number, stage in enumerate(stages):
        for name, parameter in stage.module.named_parameters():
            first, original = owner.setdefault(parameter, (number, name))
            if first != number:
                raise UserError(
                    f"{original} of stage {first + 1} and {name} of stage {number + 1} are the same weights.",
                    hint="Put these layers into one stage.",
                )


Tensors = tuple[torch.Tensor, ...]
Key = tuple[Any, ...]
Call = Callable[..., torch.Tensor | Tensors]
Groups = Callable[[nn.Module], list[list[str]]]
"""Returns the names of the trainable parameters, in the order and groups of the solver."""

MOST_AXES = 10
MOST_WAITING = 16
"""Maximum number of tensors in transit to the next stage before this one waits, in a forward pass only."""
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
    """Form of a tensor, which the receiver needs in advance: dtype, sizes, and whether it requires a gradient."""

    WIDTH: ClassVar[int] = MOST_AXES + 3

    dtype: torch.dtype
    sizes: tuple[int, ...]
    wants_gradient: bool

    @classmethod
    def of(cls, x: torch.Tensor) -> "Form":
        """Return the form of a tensor."""
        return cls(x.dtype, tuple(x.shape), x.requires_grad)

    @classmethod
    def read(cls, numbers: Sequence[int]) -> "Form":
        """Return the form encoded by `write` as `WIDTH` numbers."""
        kind, wants, axes, *sizes = numbers
        return cls(_TYPES[kind], tuple(sizes[:axes]), bool(wants))

    def write(self) -> list[int]:
        """Encode the form as `WIDTH` numbers."""
        padding = [0] * (MOST_AXES - len(self.sizes))
        return [_TYPES.index(self.dtype), int(self.wants_gradient), len(self.sizes), *self.sizes, *padding]

    def none(self, device: torch.device) -> torch.Tensor:
        """Return an empty tensor of this form, with 0 samples."""
        return torch.empty((0, *self.sizes[1:]), dtype=self.dtype, device=device)

    def empty(self, device: torch.device) -> torch.Tensor:
        """Allocate an uninitialised tensor of this form."""
        return torch.empty(self.sizes, dtype=self.dtype, device=device)


def schedule(stage: int, count: int, pieces: int) -> Iterator[tuple[bool, int]]:
    """Yield the 1F1B schedule of a stage: (True for forward or False for backward, number of the piece)."""
    ahead = min(pieces, count - 1 - stage)
    yield from ((True, piece) for piece in range(ahead))
    for piece in range(pieces - ahead):
        yield True, piece + ahead
        yield False, piece
    yield from ((False, piece) for piece in range(pieces - ahead, pieces))


class Pipeline:
    """Pipeline strategy of one worker: its stage and the communication with its neighbours.

    `module` is the stage. It has a part of the network's weights, under their names, so that the solver, the limits and
    the guard of a worker apply to that part.
    """

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
        """Cut the network and keep this worker's stage.

        stage_of: number of the stage per layer id, one stage per worker. Raises `UserError` as `cut` does.
        """
        stages = cut(network, stage_of, group.size)
        owners = {key: number for number, stage in enumerate(stages) for key in stage.module.state_dict()}
        self._kept = {key: (owners[key], Form.of(x)) for key, x in network.state_dict().items() if key in owners}
        stage = stages[group.rank]
        self._groups, self._own_groups = groups(network), groups(stage.module)
        self.module: fx.GraphModule = stage.module.to(device)
        self._num_entering, self._num_leaving = stage.num_entering, stage.num_leaving
        self._rank, self._size, self._device = group.rank, group.size, device
        # A separate group: over nccl, gradients sent back must not queue behind activations sent forward.
        self._back: Any = None
        if device.type != "cpu":
            with closed_ports():
                self._back = dist.new_group()
        # gloo sends CPU tensors only.
        self._via = torch.device("cpu") if dist.get_backend() == "gloo" else device
        self._add_communication_time = group.add_communication_time
        self.measures_communication = self._via.type == "cpu"  # over nccl the host does not wait for transfers
        self._entering: dict[Key, list[Form]] = {}
        self._told: dict[Key, list[Form]] = {}
        self._results: dict[Key, list[Form]] = {}
        self._sent: list[tuple[Any, torch.Tensor]] = []
        self._sent_back: list[tuple[Any, torch.Tensor]] = []

    @property
    def is_last(self) -> bool:
        """Whether this worker has the last stage, and so the outputs of the network."""
        return self._rank == self._size - 1

    def zero_grad(self) -> None:
        """Clear the gradients."""
        self.module.zero_grad(set_to_none=True)

    def no_sync(self) -> AbstractContextManager[Any]:
        """Return an empty context: there is nothing to synchronize, since no two stages share a weight."""
        return contextlib.nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Run the backward pass of the last stage only; `differentiate` runs that of all stages."""
        torch.autograd.backward(loss)

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: each worker has updated its own weights."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: each weight is on one worker."""

    # ---- computing ----

    def differentiate(
        self, pieces: Sequence[Tensors], call: Call, loss_of: Callable[[int, Tensors], torch.Tensor]
    ) -> None:
        """Run forward and backward of all pieces of a batch and accumulate the gradients. A collective.

        Every worker has the inputs of all pieces. `loss_of` is called on the last worker with the number of a piece and
        the outputs of the network for it.
        """
        pending: dict[int, tuple[Tensors, Tensors]] = {}
        for is_forward, number in schedule(self._rank, self._size, len(pieces)):
            if is_forward:
                entering, leaving = self._compute(pieces[number], call)
                # The previous stage has received all gradients but those of the last piece, or it would not have sent
                # this piece.
                self._wait(self._sent_back, self._num_wanted(entering))
                if self.is_last:
                    leaving = (loss_of(number, leaving),)
                pending[number] = entering, leaving
            else:
                self._go_back(*pending.pop(number))
                # A gradient received for a piece shows that its activations have arrived.
                self._wait(self._sent, len(pending) * self._num_leaving)
        self.finish()

    def forward(self, inputs: Tensors, call: Call) -> Tensors | None:
        """Run the forward pass of all stages; return the outputs on the last worker, None on others. A collective."""
        leaving = self._compute(inputs, call)[1]
        self._wait(self._sent, MOST_WAITING)
        return leaving if self.is_last else None

    def finish(self) -> None:
        """Wait until all tensors sent have arrived."""
        self._wait(self._sent, 0)
        self._wait(self._sent_back, 0)

    def tell_results(self, inputs: Tensors, results: Tensors | None) -> Tensors:
        """Return `results` on the last worker, and tensors of the same forms with 0 samples on others. A collective."""
        key = self._key(inputs)
        if key not in self._results:
            # The number of results is broadcast first, so that the receivers can allocate their forms.
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
        """Return the key that the forms of all tensors between stages depend on: modes and input sizes."""
        return (torch.is_grad_enabled(), self.module.training, *(tuple(x.shape) for x in inputs))

    def _compute(self, inputs: Tensors, call: Call) -> tuple[Tensors, Tensors]:
        """Run the forward pass of one piece through this stage; return its received inputs and its outputs."""
        key = self._key(inputs)
        entering = self._enter(key) if self._rank else ()
        outputs = call(self.module, *inputs, *entering)
        leaving = outputs if isinstance(outputs, tuple) else (outputs,)
        if not self.is_last:
            self._send_on(key, leaving)
        return entering, leaving

    def _enter(self, key: Key) -> Tensors:
        """Receive the tensors of the previous stage."""
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
                "same sizes.",
                hint="Put the layer whose output depends so on the values, and what follows it, into the last "
                "stage, or use another strategy.",
            )
        for x in leaving:
            self._send(x.detach(), self._rank + 1)

    def _go_back(self, entering: Tensors, leaving: Tensors) -> None:
        """Run the backward pass of one piece through this stage, and send the gradients to the previous stage."""
        outputs = [x for x in leaving if x.requires_grad]
        if self.is_last:
            torch.autograd.backward(outputs)
        elif outputs:
            gradients = [self._receive(Form.of(x), self._rank + 1, self._back) for x in outputs]
            torch.autograd.backward(outputs, gradients)
        for x in entering:
            if x.requires_grad:
                self._send_back(torch.zeros_like(x) if x.grad is None else x.grad)

    def _send(self, x: torch.Tensor, to: int) -> None:
        """Start sending a tensor to rank `to`; it is kept in memory until it has arrived."""
        flat = _as_bytes(x.to(self._via))
        self._sent.append((dist.isend(flat, to), flat))

    def _send_back(self, x: torch.Tensor) -> None:
        flat = _as_bytes(x.to(self._via))
        self._sent_back.append((dist.isend(flat, self._rank - 1, self._back), flat))

    def _receive(self, form: Form, source: int, group: Any = None) -> torch.Tensor:
        x = form.empty(self._via)
        start = time.perf_counter()
        dist.recv(_as_bytes(x), source, group)
        self._add_communication_time(time.perf_counter() - start)
        return x.to(self._device)

    @staticmethod
    def _num_wanted(entering: Tensors) -> int:
        return sum(x.requires_grad for x in entering)

    def _wait(self, transfers: list[tuple[Any, torch.Tensor]], most: int) -> None:
        """Wait until at most `most` of the tensors in `transfers` are still in transit."""
        start = time.perf_counter()
        while len(transfers) > most:
            transfers.pop(0)[0].wait()
        self._add_communication_time(time.perf_counter() - start)

    # ---- saving and loading the state ----

    @torch.no_grad()
    def state_dict(self) -> State:
        """Return a copy of the whole network's weights and statistics on the first worker, of the stage's on others.

        Tensors received from other workers are on the CPU. A collective.
        """
        own = self.module.state_dict()
        state: State = {}
        for key, (owner, form) in self._kept.items():
            if owner == self._rank:
                state[key] = own[key].detach().clone()
                if self._rank:
                    self._send(state[key], 0)
            elif self._rank == 0:
                state[key] = self._receive(form, owner).cpu()
        self.finish()
        return state

    def checkpoint_state(self) -> State:
        """Return the same as `state_dict`. A collective."""
        return self.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Load this worker's part of the weights and statistics of the whole network."""
        self.module.load_state_dict({key: state[key] for key in self.module.state_dict()})

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the solver's state, of the whole network on the first worker and of the stage on others. A collective.

        The parameters in the state of the whole network are numbered as on a single worker.
        """
        own = solver.state_dict()
        by_name = _by_name(torch.utils._pytree.tree_map(_on_cpu, own["optimizer"]), self._own_groups)
        per_worker: list[Any] | None = [None] * self._size if self._rank == 0 else None
        dist.gather_object(by_name, per_worker)
        if per_worker is None:
            return own
        moments = {name: value for states, _ in per_worker for name, value in states.items()}
        settings = {name: values for _, states in per_worker for name, values in states.items()}
        return {**own, "optimizer": _by_number(moments, settings, self._groups)}

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore this worker's part of the solver's state."""
        moments, settings = _by_name(state["optimizer"], self._groups)
        solver.load_state_dict({**state, "optimizer": _by_number(moments, settings, self._own_groups)})


Kept = dict[str, dict[str, Any]]


def _by_name(optimizer: dict[str, Any], groups: list[list[str]]) -> tuple[Kept, Kept]:
    """Return an optimizer's state per parameter and the settings of the parameter's group, both by name."""
    names = [name for group in groups for name in group]
    numbers = [number for group in optimizer["param_groups"] for number in group["params"]]
    states = {name: optimizer["state"][n] for name, n in zip(names, numbers, strict=True) if n in optimizer["state"]}
    settings: Kept = {}
    for group, members in zip(optimizer["param_groups"], groups, strict=True):
        own = {key: value for key, value in group.items() if key != "params"}
        settings |= dict.fromkeys(members, own)
    return states, settings


def _by_number(states: Kept, settings: Kept, groups: list[list[str]]) -> dict[str, Any]:
    """Return the state dict of a torch optimizer with these parameter groups, from state and settings by name."""
    numbers = {name: number for number, name in enumerate(name for group in groups for name in group)}
    return {
        "state": {number: states[name] for name, number in numbers.items() if name in states},
        "param_groups": [{**settings[group[0]], "params": [numbers[name] for name in group]} for group in groups],
    }


def _on_cpu(value: Any) -> Any:
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def _as_bytes(x: torch.Tensor) -> torch.Tensor:
    """Return a flat view of the tensor's bytes, since not every backend supports every dtype."""
    return x.contiguous().flatten().view(torch.uint8)
