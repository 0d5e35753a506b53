"""One step of training and one look at a part of the data, on whatever device, with whatever strategy."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from engine.core.errors import UserError
from engine.data.batches import Batch, ResidentDataset, Tensors, as_tuple
from engine.parallel.process_group import ProcessGroup
from engine.parallel.strategies.single import Single
from engine.parallel.strategies.strategy import Strategy
from engine.parallel.sync_batch_norm import Share
from engine.training.checkpoints import all_gather_bytes
from engine.training.classwise_metrics import Confusion
from engine.training.evaluation import MetricAccumulator
from engine.training.fast.manual_backward import LossAndOutput, ManualBackward, manual_backward
from engine.training.gradient_clipping import BatchStatistics, Clip
from engine.training.layer_statistics import Watch
from engine.training.levenberg_marquardt import LevenbergMarquardt
from engine.training.losses import Loss, OutputAdapters
from engine.training.metrics import Metric
from engine.training.nan_check import NanCheck, first_bad, has_weights, own, recording
from engine.training.precision import Precision
from engine.training.solvers import Solver
from engine.training.state import Evaluation, StepResult, concatenated
from engine.training.user_step import UserStep
from engine.training.weight_averaging import Average

State = dict[str, torch.Tensor]
MOST_PARAMETERS = 10**11
"""More than any network has, and a number for each."""


@dataclass(frozen=True)
class Fittings:
    """What a unit is fitted with where the options ask for it."""

    clip: Clip | None = None
    precision: Precision | None = None
    average: Average | None = None
    """Is judged and kept in the place of the weights."""
    population: BatchStatistics | None = None
    """Makes the statistics of batch normalisation of what is kept in the end."""
    custom_step: str = ""
    """Names a function of the user's that gives the loss of a batch."""
    guard: NanCheck | None = None
    watch: Watch | None = None
    confusion: Confusion | None = None
    ends: OutputAdapters | None = None
    """Brings outputs and targets into the form that metrics take."""
    loads: Sequence[float] = ()
    """What the shares of the workers in what is judged are in proportion to; none: equal ones."""
    new_solver: Callable[[], Solver] | None = None
    """One as it is before the first step."""
    most_at_once: int = 256
    """So many samples of a part are judged together."""
    manual_backward: bool = True
    """Whether autograd may be left out. Not where code of the user's is handed the network, and may change layers."""


def refuse_without_gradient(loss: torch.Tensor) -> None:
    """Raise `UserError` for a loss that no weight has a part in."""
    if not loss.requires_grad:
        raise UserError(
            "No gradient comes back to any weight: every way from a layer with weights to the output passes one "
            "that stops it, such as a stop gradient or an arg max. Remove it, or add a layer with weights behind."
        )


class Unit:
    """The network with all it takes to train and judge it."""

    def __init__(
        self,
        network: nn.Module,
        strategy: Strategy,
        solver: Solver | LevenbergMarquardt,
        loss: Loss,
        metrics: Sequence[Metric],
        group: ProcessGroup,
        *,
        share: Share,
        rate: Callable[[int], float],
        fittings: Fittings | None = None,
    ) -> None:
        """Raises `UserError` for a training step of the user's that cannot be used."""
        fitted = fittings or Fittings()
        self.metrics = tuple(metrics)
        self.rate = rate
        self.network = network
        self._strategy = strategy
        self._solver = solver
        self._loss = loss
        self._group = group
        self._share = share
        self._clip = fitted.clip
        self._precision = fitted.precision or Precision("fp32", torch.device("cpu"), group)
        self._average = fitted.average
        self._population = fitted.population
        self._most_at_once, self._loads = fitted.most_at_once, fitted.loads
        self._ends = fitted.ends or OutputAdapters(())
        called = partial(self._precision.call, strategy.module)
        self._custom = UserStep(fitted.custom_step, network, called, loss) if fitted.custom_step else None
        self._confusion = fitted.confusion
        self._guard = fitted.guard
        self._new_solver = fitted.new_solver
        self.watch = fitted.watch or Watch(network.parameters(), group)
        self._bad: Batch | None = None
        self.left_out = 0
        """So many steps in a row were not made, because loss or gradients are no numbers."""
        network.train()
        self._manual_backward = self._manual_backward_for(fitted)

    def _manual_backward_for(self, fitted: Fittings) -> ManualBackward | None:
        """Return the manual backward, where nobody but this unit has to do with how the network is computed."""
        is_plain = self._precision.name in ("fp32", "fp64") and self._custom is None
        is_alone = type(self._strategy) is Single and self._strategy.module is self.network
        return manual_backward(self.network, self._loss) if is_plain and is_alone and fitted.manual_backward else None

    @property
    def skips(self) -> bool:
        """Whether such steps are left out, and the run goes on."""
        return self._guard is not None and self._guard.skips

    def first_bad(self, batch: Batch) -> str:
        """Where what is no number comes from, in words: of the last step that was left out, else of this batch. A
        collective, since it may be in the share of any worker, or in its part of the network."""
        batch = self._bad or batch
        number, words = (0, first_bad(self.network, batch)) if self.is_whole else self._seen(batch)
        return self._first(number, words)

    def _seen(self, batch: Batch) -> tuple[int, str]:
        """Which the first is when all workers compute this batch together once more, and in words."""
        with recording(self.network) as record:
            self._strategy.zero_grad()
            self._share.part = batch.count / batch.total
            self._differentiate_all(batch)
        number, words = record.first_bad()
        return (number, words) if has_weights(self.network) else (0, "")

    def _first(self, number: int, words: str) -> str:
        """The words of the worker that has something to say, and the lowest number. A collective."""
        told = all_gather_bytes(f"{self._along(number):012d}{words}".encode(), self._group, self._device)
        found = sorted(line for one in told if len(line := one.decode()) > 12)
        return found[0][12:] if found else ""

    def _along(self, number: int) -> int:
        """Of something in this worker's part of the network, how far along the whole of it that is."""
        return number

    @property
    def _device(self) -> torch.device:
        return next(self.network.parameters()).device

    def train(self, batch: Batch, step: int) -> StepResult:
        """Forward, loss, backward, and one move of the weights. `step` counts from 0."""
        if isinstance(self._solver, LevenbergMarquardt):
            loss, output = self._solver.step(batch)
            targets = tuple(x[: batch.count] for x in batch.targets)
            done = StepResult(loss, (output,), targets, batch.count, batch.total)
        else:
            done = self._evaluate_and_move(batch, step)
        self._strategy.after_step(self._solver)
        if self._average is not None:
            self._average.after_step(step)
        return done

    def _evaluate_and_move(self, batch: Batch, step: int) -> StepResult:
        """Forward, backward and the move, unless the guard finds that the weights would be lost by it."""
        assert isinstance(self._solver, Solver)
        if self._guard is not None:
            self._guard.before()
        self.watch.before(step + 1)
        done = self._evaluate(batch)
        if self._guard is not None:
            # Where fp16 scales the loss, gradients that overflow are its own matter.
            is_good = self._guard.is_good(done.loss, with_gradients=self._precision.scale is None)
            if not is_good:
                self._guard.undo()
                self._bad = batch
                self.left_out += 1
                return done
            self.left_out = 0
        search = self._search(batch, done) if self._solver.searches else None
        self._solver.step(self.rate(step), search, self._precision.scale)
        return done

    @property
    def finished(self) -> str:
        """Why the solver has nothing left to do, or nothing. The same on all workers."""
        return self._solver.finished

    def _search(self, batch: Batch, done: StepResult) -> Callable[[], float]:
        """Gradients and loss of the whole batch for a solver that asks more than once; the first answer is there."""
        known = [done]

        def look() -> float:
            seen = known.pop() if known else self._evaluate(batch)
            return float(self._group.all_reduce(seen.loss.clone()))

        return look

    def _evaluate(self, batch: Batch) -> StepResult:
        """Forward, loss and backward, piece by piece."""
        self._strategy.zero_grad()
        self._share.part = batch.count / batch.total
        whole = self._differentiate_all(batch)
        if self._precision.scale is not None and isinstance(self._solver, Solver):
            self._solver.unscale(self._precision.scale)
        if (square := self.watch.after()) is not None:
            whole = replace(whole, squared_gradient=square.to(whole.loss.device))  # that of weights kept on the CPU
        if self._clip is not None:
            self._clip()
        return whole

    def _differentiate_all(self, batch: Batch) -> StepResult:
        """Forward, loss and backward of all pieces."""
        *before, last = batch.micro_batches()
        if self._manual_backward is not None and not before and not self.watch.sees_layers:
            return self._differentiate_manually(self._manual_backward, last)
        done = []
        for piece in before:
            with self._strategy.no_sync():
                done.append(self._differentiate(piece))
        done.append(self._differentiate(last))
        return concatenated(done)

    def _differentiate_manually(self, backward: ManualBackward, batch: Batch) -> StepResult:
        """The same for a network that needs no autograd."""

        def by_autograd() -> LossAndOutput:
            done = self._differentiate(batch)
            return LossAndOutput(done.loss, done.outputs[0])

        answer = backward(batch, by_autograd)
        return StepResult(answer.loss, *self._ends((answer.output,), batch.targets), batch.count, batch.total)

    def _differentiate(self, batch: Batch) -> StepResult:
        """Forward, loss and backward of one piece; the gradients add up."""
        self._share.is_empty = batch.count == 0
        if self._custom is not None:
            loss, outputs, targets = self._custom(batch)
        else:
            outputs, targets = as_tuple(self._precision.call(self._strategy.module, *batch.inputs)), batch.targets
            if batch.count == 0:
                outputs, targets = tuple(x[:0] for x in outputs), tuple(x[:0] for x in targets)
            loss = self._loss(outputs, targets) / batch.total
        refuse_without_gradient(loss)
        scale = self._precision.scale
        self._strategy.backward(loss if scale is None else scale.scale(loss))
        outputs, targets = self._ends(tuple(x.detach() for x in outputs), targets)
        return StepResult(loss.detach(), outputs, targets, batch.count, batch.total)

    @torch.no_grad()
    def judge(self, part: ResidentDataset) -> Evaluation:
        """Loss and metrics over a part of the data; every worker looks at its share and gets the whole answer."""
        self._strategy.synchronize(self._solver)
        with self._averaged(fresh=True):
            return self._judge(part)

    def _judge(self, part: ResidentDataset) -> Evaluation:
        self.network.eval()
        jury = MetricAccumulator(self.metrics, self._group, part.device, self._confusion)
        for piece, outputs in self._looks(part):
            if piece.count:
                jury.see(self._loss(outputs, piece.targets), *self._ends(outputs, piece.targets))
        self.network.train()
        loss, metrics, confusion = jury.verdict()
        return Evaluation(loss / len(part), metrics, confusion)

    def _looks(self, part: ResidentDataset) -> Iterator[tuple[Batch, Tensors]]:
        """This worker's share of a part of the data, and what the network gives for it, piece by piece."""
        for piece in part.shard_batches(self._group.rank, self._group.size, self._most_at_once, self._loads):
            yield piece, as_tuple(self._precision.call(self.network, *piece.inputs))

    def _averaged(self, *, fresh: bool = False) -> AbstractContextManager[None]:
        """In here the network has the weights that are judged and kept."""
        return contextlib.nullcontext() if self._average is None else self._average.applied(fresh=fresh)

    def settle(self) -> bool:
        """The network is what is kept from now on: it gets the average, if there is one, and the statistics of all
        samples, if they are wanted, in which case it is judged anew: the answer says so. A collective."""
        if self._average is not None:
            self._average.put(fresh=True)
            self._average = None
        return self._population is not None and self._population.measure()

    def state(self) -> State:
        """The weights and statistics that are kept as they are now, which training does not change any more. A
        collective, where the workers do not hold all of them."""
        with self._averaged():
            return self._strategy.state_dict()

    @property
    def workers_agree(self) -> bool:
        """Whether the network is the same on all of them as it is now."""
        return self._strategy.is_synchronized

    @property
    def measures_communication(self) -> bool:
        """Whether nothing is sent between workers while others compute, so that the time it takes is known."""
        return self._strategy.measures_communication

    @property
    def is_whole(self) -> bool:
        """Whether this worker can tell the state of the whole network by itself."""
        return self._strategy.is_replicated

    def state_dict(self) -> dict[str, Any]:
        """All of it that training changes."""
        return {
            "network": self._strategy.state_dict(),
            "solver": self._strategy.solver_state(self._solver),
            "scale": self._precision.state_dict(),
            "average": self._average.state_dict() if self._average is not None else {},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.load(state["network"])
        self._strategy.load_solver_state(self._solver, state["solver"])
        self._precision.load_state_dict(state["scale"])
        if self._average is not None:
            self._average.load_state_dict(state["average"])

    def scale_state(self) -> dict[str, Any]:
        """How the loss is scaled, if it is."""
        return self._precision.state_dict()

    def keep_guard(self) -> None:
        """From now on a step whose loss or gradients are no numbers is not made."""
        self._guard = NanCheck(self.network, self._group, skips=False, exact=True)

    def begin_again(self, state: State, scale: dict[str, Any]) -> None:
        """Be as before the first step, with these weights, and keep guard. Raises `ValueError` where the solver cannot
        be made again."""
        if self._new_solver is None:
            raise ValueError("There is no other solver.")
        self.load(state)
        self._solver, self._average = self._new_solver(), None
        self._precision.load_state_dict(scale)
        self.keep_guard()

    def last_bad_gradient(self) -> str:
        """The last layer with a gradient that is no number, which the way back comes to first; or nothing. A
        collective."""
        known = [(number, name, p.grad) for number, (name, p) in enumerate(self.network.named_parameters())]
        bad = [(n, name) for n, name, grad in known if grad is not None and not own(grad).isfinite().all()]
        number, name = bad[-1] if bad else (0, "")
        return self._first(MOST_PARAMETERS - self._along(number), name.rpartition(".")[0].replace(".", "/"))

    def load(self, state: State) -> None:
        """Give the network these weights and statistics."""
        self._strategy.load_state_dict(state)
