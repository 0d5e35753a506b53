"""Levenberg-Marquardt: Gauss-Newton's step with damping, for the squared errors of all samples.

Marquardt, An Algorithm for Least-Squares Estimation of Nonlinear Parameters, 1963; Hagan and Menhaj, Training
feedforward networks with the Marquardt algorithm, 1994.
"""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, jacrev, vmap

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Batch
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training import out_of_memory
from netwright.engine.training.lbfgs import Tolerance
from netwright.engine.training.solvers import trainable_parameters

_MAX_JACOBIAN = 2**22
"""Elements of the Jacobian that are held at the same time."""
_MIN_DAMPING = 1e-20


class LevenbergMarquardt:
    """Updates the weights w by the solution d of (c·JᵀJ + diag(L2) + damping·I) d = -(c·Jᵀr + L2·w).

    r are the errors of all N samples and their K responses, J their derivatives by w, and c/2 · |r|² the loss: c is 1/N
    for half-mse and 2/(N·K) for mse. A step that lowers loss + 1/2·L2·|w|² is accepted and the damping decreased;
    otherwise the damping is increased and the step tried again. A learning-rate factor f scales its axis, as for lbfgs:
    w = sqrt(f) · z, and d moves z; a factor of 0 keeps the parameter still.

    Each worker differentiates its own samples. The sums are the same on all; the first worker solves for all, since
    another number of threads may round differently.
    """

    searches = False

    def __init__(
        self,
        options: TrainingOptions,
        network: nn.Module,
        parameters: Mapping[str, ParameterOptions],
        group: ProcessGroup,
    ) -> None:
        self._network = network
        self._group = group
        self._is_mean_over_responses = options.loss == "mse"
        self._damping = options.initial_damping_factor
        self._most, self._increase = options.max_damping_factor, options.damping_increase_factor
        self._decrease = options.damping_decrease_factor
        self._tolerance = Tolerance(options)
        names = {parameter: name for name, parameter in network.named_parameters()}
        trainable = list(trainable_parameters(network, parameters))
        self._weights = {names[parameter]: parameter for parameter, _ in trainable}
        l2 = options.l2_regularization
        self._axes = torch.cat([_filled(p, math.sqrt(of.learn_rate_factor)) for p, of in trainable])
        self._l2 = torch.cat([_filled(p, l2 * of.l2_factor) for p, of in trainable])
        self.finished = ""
        """Why there is nothing left to do; empty before."""

    def moments(self) -> Iterator[torch.Tensor]:
        """Return nothing: no moments of past gradients are kept."""
        return iter(())

    def state_dict(self) -> dict[str, Any]:
        """Return the damping, and the first gradient, with which later ones are compared."""
        return {"damping": self._damping, "tolerance": self._tolerance.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the damping."""
        self._damping = float(state["damping"])
        self._tolerance.load_state_dict(state["tolerance"])

    @torch.no_grad()
    def step(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Update the weights by all samples. Returns this worker's part of the loss, and outputs, before it."""
        if len(batch.targets) != 1:
            raise UserError("The solver lm takes networks of one output. Choose another solver.")
        scale = 1.0 / batch.total / (batch.targets[0].shape[1] / 2.0 if self._is_mean_over_responses else 1.0)
        curvature, slope, squares, output = self._sums(batch)
        part = 0.5 * scale * squares
        w = self._vector()
        size = len(w)
        whole = self._group.all_reduce(torch.cat([curvature.flatten(), slope, squares[None]]))
        curvature = scale * whole[: size * size].view(size, size) * self._axes[:, None] * self._axes
        curvature += torch.diag(self._axes**2 * self._l2)
        slope = (scale * whole[size * size : -1] + self._l2 * w) * self._axes
        loss = 0.5 * scale * float(whole[-1]) + self._regularisation(w)
        self.finished = self._tolerance.of_gradient(float(slope.abs().max()), loss)
        if math.isfinite(loss) and not self.finished:
            self._move(batch, 0.5 * scale, w, loss, curvature, slope)
        return part.to(output.dtype), output

    def _move(
        self, batch: Batch, scale: float, w: torch.Tensor, loss: float, curvature: torch.Tensor, slope: torch.Tensor
    ) -> None:
        """Increase the damping until a step lowers the loss, and make that step."""
        while self._damping <= self._most:
            d = self._group.all_reduce(self._solved(curvature, slope)) * self._axes
            self._set(w + d)
            squares = self._l2.new_zeros(1)
            for inputs, targets in self._chunks(batch):
                squares += (self._network(*inputs) - targets).double().square().sum()
            there = scale * float(self._group.all_reduce(squares)) + self._regularisation(self._vector())
            if there < loss:
                self._damping = max(_MIN_DAMPING, self._damping * self._decrease)
                self.finished = self._tolerance.of_step(float(d.norm()))
                return
            self._damping *= self._increase
        self._set(w)
        self.finished = f"no step lowers the loss, whatever the damping (up to {self._most:g})"

    def _solved(self, curvature: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        """Solve for the step along the scaled axes on the first worker; zeros on the others, NaN where it fails."""
        if self._group.rank:
            return torch.zeros_like(slope)
        factor, failure = torch.linalg.cholesky_ex(curvature + self._damping * torch.eye(len(slope)).to(curvature))
        if failure:
            return torch.full_like(slope, math.nan)
        return -torch.cholesky_solve(slope[:, None], factor)[:, 0]

    def _sums(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return JᵀJ, Jᵀr, |r|² over this worker's samples, in double precision, and the outputs."""
        size = len(self._axes)
        curvature, slope = self._axes.new_zeros(size, size), self._axes.new_zeros(size)
        squares, outputs = self._axes.new_zeros(()), []
        for inputs, targets in self._chunks(batch):
            jacobian, output = self._derivatives(inputs)
            errors = (output - targets).flatten().double()
            curvature.addmm_(jacobian.T, jacobian)
            slope.addmv_(jacobian.T, errors)
            squares += errors.square().sum()
            outputs.append(output)
        output = torch.cat(outputs) if outputs else batch.targets[0][:0].clone()
        return curvature, slope, squares, output

    def _chunks(self, batch: Batch) -> Iterator[tuple[tuple[torch.Tensor, ...], torch.Tensor]]:
        """Yield the samples in chunks whose Jacobian is not too large."""
        (responses,) = batch.targets
        most = max(1, _MAX_JACOBIAN // (len(self._axes) * responses.shape[1]))
        for start in range(0, batch.count, most):
            part = slice(start, min(start + most, batch.count))
            yield tuple(x[part] for x in batch.inputs), responses[part]

    def _derivatives(self, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the Jacobian `(samples · responses, weights)`, and the outputs."""

        def of_sample(weights: dict[str, torch.Tensor], *sample: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            output = functional_call(self._network, weights, tuple(x[None] for x in sample))[0]
            return output, output

        weights = {name: parameter.detach() for name, parameter in self._weights.items()}
        each = vmap(jacrev(of_sample, has_aux=True), in_dims=(None, *[0] * len(inputs)))
        try:
            with warnings.catch_warnings(), torch.enable_grad():
                warnings.filterwarnings("ignore", "There is a performance drop")  # recurrent layers: one by one
                jacobian, output = each(weights, *inputs)
        except RuntimeError as error:
            if out_of_memory.is_out_of_memory(error) or isinstance(error, torch.AcceleratorError):
                raise
            raise UserError(
                "The solver lm needs the derivatives of each sample by itself, which a layer of this network does not "
                f"give ({str(error).partition('.')[0][:200]}). Choose another solver."
            ) from error
        count = output.numel()
        return torch.cat(
            [jacobian[name].detach().reshape(count, -1) for name in weights], dim=1
        ).double(), output.detach()

    def _vector(self) -> torch.Tensor:
        return torch.cat([parameter.detach().flatten() for parameter in self._weights.values()]).double()

    def _set(self, w: torch.Tensor) -> None:
        parts = torch.split(w, [parameter.numel() for parameter in self._weights.values()])
        for parameter, part in zip(self._weights.values(), parts, strict=True):
            parameter.copy_(part.view_as(parameter))

    def _regularisation(self, w: torch.Tensor) -> float:
        return 0.5 * float((self._l2 * w.square()).sum())


def _filled(parameter: nn.Parameter, value: float) -> torch.Tensor:
    """Return the value for each element of the parameter."""
    return torch.full((parameter.numel(),), value, dtype=torch.float64, device=parameter.device)
