"""A layer that contains a network, and the two layers that represent its ports inside."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from netwright.engine.core.errors import FieldError, FieldErrors, ShapeError, plural
from netwright.engine.core.fields import Choice, Float, Int
from netwright.engine.core.types import TensorType
from netwright.engine.layers.base import LayerType, Lowered, function
from netwright.engine.layers.weighted import Weighted, freeze_field

if TYPE_CHECKING:
    from netwright.engine.network.network import Network
LAYER_LIMIT = 20_000
"""Largest number of layers of a whole network, with every copy of a block counted."""
DEPTH_LIMIT = 8
"""Largest depth of nested blocks."""
SOLVERS = {
    "euler": "Euler: first order, one evaluation per step (MATLAB's ode1)",
    "midpoint": "Midpoint: second order, two evaluations per step",
    "rk4": "Classical Runge-Kutta: fourth order, four evaluations per step",
    "dopri5": "Dormand-Prince: fifth order, six evaluations per step, those of MATLAB's ode45",
}
STAGES = {"euler": 1, "midpoint": 2, "rk4": 4, "dopri5": 6}


class BlockInput(LayerType):
    """Stands inside a block for one of its inputs. Its name is the name of the port.

        y = what arrives at the block's port

    Nothing of it is computed, and nothing of it is in the built module or the source.
    """

    key, label, family = "block_input", "Block input", "Block"

    def input_ports(self) -> tuple[str, ...]:
        return ()

    def output(self, *x: TensorType) -> TensorType:
        raise ShapeError("A block input belongs inside a block. Delete it, or use an input layer.")

    def lower(self, *x: TensorType) -> Lowered:
        return ()


class BlockOutput(LayerType):
    """Stands inside a block for one of its outputs. Its name is the name of the port.

        the block's port = x

    Nothing of it is computed, and nothing of it is in the built module or the source.
    """

    key, label, family = "block_output", "Block output", "Block"

    def output_ports(self) -> tuple[str, ...]:
        return ()

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return ()


class Block(LayerType):
    """A network of its own in one layer, once or several times in a row.

    Each use of a block is a copy: changing one changes no other. Repeated, it becomes a chain of copies with weights of
    their own: what leaves a copy enters the next one, output by output; an input without an output of its own (a mask)
    enters every copy. Blocks with equal layers become one class in the exported source. A frozen block learns nothing,
    as when its weights come from another network and only what follows it is to be trained.
    """

    key, label, family = "block", "Block", "Block"
    matlab = "networkLayer"
    repeat = Int(1, low=1, high=1000, help="Number of copies in sequence, each with its own weights")
    frozen = freeze_field(
        "Keeps the weights of all layers inside fixed during training, whatever their own setting",
        lambda block: block.has_weights,
    )

    def __init__(self, /, network: "Network | None" = None, **values: object) -> None:
        super().__init__(**values)
        if network is None:
            from netwright.engine.network.network import Connection, Layer, Network, Port

            layers = {
                "in": Layer("in", "input_1", BlockInput()),
                "out": Layer("out", "output_1", BlockOutput()),
            }
            network = Network(layers, (Connection(Port("in", "out"), Port("out", "in")),))
        self.network = network
        if self.size > LAYER_LIMIT:
            raise FieldErrors([FieldError(*self._too_large())])
        if self.depth > DEPTH_LIMIT:
            raise FieldErrors([FieldError("network", f"blocks stand at most {DEPTH_LIMIT} deep in each other.")])
        self._key: Any = (*self._key, network)
        self._hash = hash(self._key)

    def _too_large(self) -> tuple[str, str]:
        """Return the field that makes the block too large, and the reason in words."""
        reason = f"{self.size:,} layers in all copies; a network has at most {LAYER_LIMIT:,}."
        return "repeat", f"{reason} Repeat it less often."

    @property
    def evaluations(self) -> int:
        """Return the number of evaluations of each copy per sample."""
        return 1

    @property
    def gives_what_leaves(self) -> bool:
        """Return whether the outputs of the inner network are the outputs of the block as they are."""
        return True

    def shape_error(self, inputs: tuple[TensorType, ...], outputs: tuple[TensorType, ...]) -> str:
        """Return the reason why a valid inner network does not make a valid block, or an empty text."""
        return ""

    def replace(self, /, **values: object) -> Self:
        new = type(self)(self.network, **{**self._values, **values})
        new._unknown = self._unknown
        return new

    def with_network(self, network: "Network") -> Self:
        """Return the block with another inner network."""
        new = type(self)(network, **self._values)
        new._unknown = self._unknown
        return new

    @cached_property
    def size(self) -> int:
        """Return the number of layers of all copies, with those of nested blocks counted once per copy."""
        inner = (layer.type for layer in self.network.layers.values())
        return self.repeat * sum(type.size if isinstance(type, Block) else 1 for type in inner)

    @cached_property
    def depth(self) -> int:
        """Return the depth of nesting, this block included."""
        inner = (layer.type for layer in self.network.layers.values())
        return 1 + max((type.depth for type in inner if isinstance(type, Block)), default=0)

    @cached_property
    def is_measured(self) -> bool:
        """Return whether the sizes of any layer inside, at any depth, are measured."""
        return any(layer.type.is_measured for layer in self.network.layers.values())

    @cached_property
    def has_weights(self) -> bool:
        """Return whether any layer inside, at any depth, may have learnable weights."""
        inner = (layer.type for layer in self.network.layers.values())
        return any(type.has_weights if isinstance(type, Block) else isinstance(type, Weighted) for type in inner)

    def ids(self, kind: type[BlockInput] | type[BlockOutput]) -> tuple[str, ...]:
        """Return the ids of the inner layers that are its inputs, or its outputs, in the order of the ports."""
        return self._port_ids[kind is BlockOutput]

    @cached_property
    def _port_ids(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        layers = self.network.layers.values()
        ins = tuple(layer.id for layer in layers if isinstance(layer.type, BlockInput))
        return ins, tuple(layer.id for layer in layers if isinstance(layer.type, BlockOutput))

    @cached_property
    def _ports(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        ins, outs = self._port_ids
        layers = self.network.layers
        return tuple(layers[id].name for id in ins), tuple(layers[id].name for id in outs)

    def input_ports(self) -> tuple[str, ...]:
        return self._ports[0]

    def output_ports(self) -> tuple[str, ...]:
        return self._ports[1]

    def short_value(self) -> str:
        if self.repeat > 1:
            return f"\u00d7 {self.repeat}"
        inner = (layer.type for layer in self.network.layers.values())
        return plural(sum(not isinstance(type, BlockInput | BlockOutput) for type in inner), "layer")

    def output_types(self, *x: TensorType) -> tuple[TensorType, ...]:
        from netwright.engine.network.analysis import inside

        contents = inside(self, x)
        for problem in (problem for copy in contents.copies for problem in copy.problems):
            raise ShapeError(f"Inside, {problem.name}: {problem.message}" if problem.name else problem.message)
        return tuple(type for type in contents.outputs if type is not None)

    def output(self, *x: TensorType) -> TensorType:
        outputs = self.output_types(*x)
        if not outputs:
            raise ShapeError("The block has no output. Add a block output inside it.")
        return outputs[0]


class NeuralOde(Block):
    """Lets its input flow along the network inside, as a differential equation from one time to another.

        dy/dt = network(y),  y(start) = x,  the output is y(end)

    Open it to edit the network, which must give what it takes: one input, one output, equal sizes. Its weights are the
    same at every step, so depth costs time and no parameters; a step of Euler is one residual block.

    Steps have one length: (end - start) / steps. MATLAB's ode45 chooses its steps by a tolerance; here that many equal
    steps of the same formula are taken, so that gradients are exact for what is computed, sizes of the work are known
    before, and the layer has an ONNX form. The network does not see the time.

    Source: Chen, Rubanova, Bettencourt, Duvenaud: Neural ordinary differential equations, NeurIPS 2018. Dormand,
    Prince: A family of embedded Runge-Kutta formulae, 1980.
    """

    key, label, family = "neural_ode", "Neural ODE", "Block"
    matlab = "neuralODELayer"
    repeat = Int(1, low=1, high=1, help="A neural ODE is one", visible_when=lambda _: False)
    solver = Choice("rk4", options=tuple(SOLVERS), notes=SOLVERS, help="Integration method of a step")
    steps = Int(4, low=1, high=1000, help="Number of equal steps from start to end")
    start = Float(0.0, help="Time of the input")
    end = Float(1.0, help="Time of the output")

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
        """Return the number of layers of all evaluations: each is in the built module."""
        return self.evaluations * super().size

    def _too_large(self) -> tuple[str, str]:
        reason = f"{self.size:,} layers in all steps; a network has at most {LAYER_LIMIT:,}."
        return "steps", f"{reason} Take fewer steps, or a solver with fewer evaluations."

    def short_value(self) -> str:
        return f"{self.steps} steps of {self.solver}"

    def shape_error(self, inputs: tuple[TensorType, ...], outputs: tuple[TensorType, ...]) -> str:
        if len(inputs) != 1 or len(outputs) != 1:
            return f"A neural ODE has one input and one output; this one has {len(inputs)} and {len(outputs)}."
        if inputs[0].kind != "real":
            return f"A neural ODE takes real numbers, received {inputs[0]}."
        if inputs[0] != outputs[0]:
            return f"The network inside takes {inputs[0]} and gives {outputs[0]}. Make it give what it takes."
        return ""

    def lower(self, *x: TensorType) -> Lowered:
        return function(
            f"netwright.engine.lowering.modules.ode.{self.solver}", start=self.start, end=self.end, steps=self.steps
        )
