"""A network inside a layer as the right-hand side of a differential equation."""

from functools import cached_property
from typing import TYPE_CHECKING

from engine.fields import Choice, Float, Int
from engine.layers.base import Lowered, function
from engine.layers.block import LAYER_LIMIT, Block
from engine.layers.types import TensorType

if TYPE_CHECKING:
    from engine.network.network import Network

SOLVERS = {
    "euler": "Euler: first order, one evaluation a step (MATLAB's ode1)",
    "midpoint": "Midpoint: second order, two evaluations a step",
    "rk4": "Classical Runge-Kutta: fourth order, four evaluations a step",
    "dopri5": "Dormand-Prince: fifth order, six evaluations a step, those of MATLAB's ode45",
}
STAGES = {"euler": 1, "midpoint": 2, "rk4": 4, "dopri5": 6}


class NeuralOde(Block):
    """Lets its input flow along the network inside, as a differential equation from one time to another.

        dy/dt = network(y),  y(start) = x,  the output is y(end)

    Open it to edit the network, which must give what it takes: one input, one output, equal sizes. Its weights are the
    same at every step, so depth costs time and no learnables; a step of Euler is one residual block.

    Steps have one length: (end - start) / steps. MATLAB's ode45 chooses its steps by a tolerance; here that many equal
    steps of the same formula are taken, so that gradients are exact for what is computed, sizes of the work are known
    before, and the layer has an ONNX form. The network does not see the time.

    Source: Chen, Rubanova, Bettencourt, Duvenaud: Neural ordinary differential equations, NeurIPS 2018. Dormand,
    Prince: A family of embedded Runge-Kutta formulae, 1980.
    """

    key, label, family = "neural_ode", "Neural ODE", "Block"
    matlab = "neuralODELayer"
    repeat = Int(1, low=1, high=1, help="A neural ODE is one", visible_when=lambda _: False)
    solver = Choice("rk4", options=tuple(SOLVERS), notes=SOLVERS, help="How a step is computed")
    steps = Int(4, low=1, high=1000, help="Equal steps from start to end")
    start = Float(0.0, help="Time at which the input stands")
    end = Float(1.0, help="Time at which the output stands")

    def __init__(self, /, network: "Network | None" = None, **values: object) -> None:
        super().__init__(network, **values)

    @property
    def evaluations(self) -> int:
        return self.steps * STAGES[self.solver]

    @property
    def gives_what_leaves(self) -> bool:
        return False

    @cached_property
    def size(self) -> int:
        """Layers of all evaluations: each stands in the built module."""
        return self.evaluations * super().size

    def _too_large(self) -> tuple[str, str]:
        what = f"{self.size:,} layers in all steps; a network has at most {LAYER_LIMIT:,}."
        return "steps", f"{what} Take fewer steps, or a solver with fewer evaluations."

    def telling(self) -> str:
        return f"{self.steps} steps of {self.solver}"

    def misfit(self, given: tuple[TensorType, ...], outputs: tuple[TensorType, ...]) -> str:
        if len(given) != 1 or len(outputs) != 1:
            return f"A neural ODE has one input and one output; this one has {len(given)} and {len(outputs)}."
        if given[0].kind != "real":
            return f"A neural ODE takes real numbers, received {given[0]}."
        if given[0] != outputs[0]:
            return f"The network inside takes {given[0]} and gives {outputs[0]}. Make it give what it takes."
        return ""

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"engine.build.modules.ode.{self.solver}", start=self.start, end=self.end, steps=self.steps)
