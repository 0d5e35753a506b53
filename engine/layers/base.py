"""The base of layer types: declared fields, ports, and rules for sizes, learnables, FLOPs and the torch call.

A layer type is one class in its family's file. The palette, the form, the sizes on the canvas, the file format, the
module, the printed source and the parity tests all follow from it. Nothing here imports torch: a `Call` is data, which
`netwright.engine.lowering.module` resolves and `netwright.engine.lowering.print_source` prints, so that both always
agree.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.records import Record
from netwright.engine.core.types import LAYOUTS, Sizes, TensorType, with_article

FAMILIES = (
    "Input",
    "Convolution",
    "Fully connected",
    "Normalisation",
    "Activation",
    "Pooling",
    "Combination",
    "Arithmetic",
    "Recurrent",
    "Attention",
    "Signal",
    "Reshape",
    "Utility",
    "Block",
    "Custom",
)


@dataclass(frozen=True)
class Call:
    """One call of the built network.

    `module`: `target` is a class (`torch.nn.Conv2d`, one in `netwright.engine.lowering.modules`), built once with
    `kwargs`, then called with the tensors. `function`: `target` is a function (`torch.cat`), called with the tensors,
    then `args` and `kwargs`. `method`: `target` is a method of the first tensor (`flatten`), called with `args` and
    `kwargs`.

    The first call of a chain gets the layer's inputs, each further one what the call before it returned. `as_list`
    hands the tensors over as one list; `repeat` hands over the same tensor so many times (query, key and value of a
    self-attention); `call_kwargs` are given at each call of a module; `pick` takes one element of a returned tuple.
    `name` tells several modules of one chain apart (`conv_1_pad`).

    `lengths`, in `lower_padded` only, hands over the keyword `lengths`: those of the sequences that enter the layer
    (`before`) or leave it (`after`), int64 of the batch. A layer with several input ports gets a tuple, one for each
    port, for `before`; None stands where a port's input is no sequence of any length. A first call with `each` is made
    for each input that is one, with its lengths, and the next call gets all inputs.
    """

    target: str
    kind: Literal["module", "function", "method"] = "module"
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    call_kwargs: Mapping[str, Any] = field(default_factory=dict)
    as_list: bool = False
    repeat: int = 1
    pick: int | None = None
    name: str = ""
    lengths: Literal["", "before", "after", "each"] = ""


def module(target: str, **kwargs: Any) -> Call:
    """A module of torch, named by its class below `torch.nn`, or one of ours
    (`netwright.engine.lowering.modules.<file>.X`)."""
    return Call(target if "." in target else f"torch.nn.{target}", kwargs=kwargs)


def function(target: str, *args: Any, **kwargs: Any) -> Call:
    """A function, by its qualified name."""
    return Call(target, "function", args=args, kwargs=kwargs)


def method(target: str, *args: Any, **kwargs: Any) -> Call:
    """A method of the tensor."""
    return Call(target, "method", args=args, kwargs=kwargs)


Lowered = Call | tuple[Call, ...]
LENGTHS = "netwright.engine.lowering.modules.lengths."


def with_lengths(call: Call) -> Call:
    """The call, which is told how long the sequences are that enter the layer."""
    return replace(call, lengths="before")


def as_chain(lowered: Lowered) -> tuple[Call, ...]:
    """The calls as a chain, also where there is only one."""
    return (lowered,) if isinstance(lowered, Call) else lowered


def masked(lowered: Lowered, value: float = 0.0) -> tuple[Call, ...]:
    """The calls, behind one that puts a number at all steps behind the end of each sequence that enters."""
    arguments = {"value": value} if value else {}
    return replace(function(f"{LENGTHS}mask_steps", **arguments), lengths="each"), *as_chain(lowered)


class LayerType(Record):
    """A declared layer type. An instance of it holds the field values of one placed layer.

    The rules take one `TensorType` for each input port. `output` raises `ShapeError` for what does not fit; the other
    rules may rely on `output` having accepted the inputs. A subclass names its ports:
    `def output(self, x: TensorType)` (`*x: Any, **_: Any` is how typing says "any parameters", so it may).
    """

    key: ClassVar[str] = ""
    label: ClassVar[str] = ""
    family: ClassVar[str] = ""
    is_input: ClassVar[bool] = False
    onnx_refusal: ClassVar[str] = ""
    """Why this layer has no ONNX form, or nothing where it has one."""
    matlab: ClassVar[str] = ""
    """What MATLAB calls it (`convolution2dLayer`), or nothing where MATLAB has no such layer."""
    found_as: ClassVar[str] = ""
    """Other names that people look for, of MATLAB and torch, with spaces between."""
    random: ClassVar[bool] = False
    """Whether training uses random numbers here (dropout), so that two runs differ by worker."""

    @property
    def is_measured(self) -> bool:
        """Whether the output types are measured and not computed: they may be unknown now and known later."""
        return False

    def fault(self) -> ShapeError | None:
        """Return the error of the fields that holds for any input, or None."""
        return None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.key:
            first = REGISTRY.setdefault(cls.key, cls)
            if (first.__module__, first.__qualname__) != (cls.__module__, cls.__qualname__):
                raise TypeError(
                    f"Two layer types have the key '{cls.key}': {first.label} of {first.__module__}, and "
                    f"{cls.label or cls.__name__} of {cls.__module__}. Give one of them another key."
                )
            if cls.family not in FAMILIES or not cls.label or not (cls.__doc__ or "").strip():
                raise TypeError(f"Layer type '{cls.key}' needs a label, a docstring and one of the known families.")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring, the summary."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @classmethod
    def help(cls) -> str:
        """Return the rest of the docstring: formula, remarks, shapes and source. Paragraphs stand apart by an
        empty line; lines that are set in are formulas."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[2].strip("\n")

    def input_ports(self) -> tuple[str, ...]:
        """The names of the input ports."""
        return () if self.is_input else ("in",)

    def output_ports(self) -> tuple[str, ...]:
        """The names of the output ports."""
        return ("out",)

    def side_ports(self) -> tuple[str, ...]:
        """Output ports that may stay unused without becoming an output of the network."""
        return ()

    def short_value(self) -> str:
        """Return the value shown on the node (`8 filters`), or an empty text."""
        return ""

    def output(self, *x: Any, **_: Any) -> TensorType:
        """Return the output type, without the batch. Raises `ShapeError` with the expected and the received type."""
        raise NotImplementedError

    def output_types(self, *x: Any, **_: Any) -> tuple[TensorType, ...]:
        """Return the type of each output port. A layer with one port overrides `output`; with several ports, the last
        call of `lower` returns a tuple in this order."""
        return (self.output(*x),)

    def weights(self, *x: Any, **_: Any) -> dict[str, Sizes]:
        """The learnable parameters by their name in the built module, with sizes, without building anything."""
        return {}

    def flops(self, *x: Any, **_: Any) -> int:
        """FLOPs per sample, forward; a multiply-add counts two. Only products are counted, as torch's
        `FlopCounterMode` does; element-wise layers count nothing. Zero where sizes are not known."""
        return 0

    def lower(self, *x: Any, **_: Any) -> Lowered:
        """The torch call, or the chain of calls, that the layer becomes."""
        raise NotImplementedError

    def lower_padded(self, *x: Any, **_: Any) -> Lowered:
        """Return the call for sequences of different lengths, padded at their ends to the longest of a batch.

        Every step of a sequence must get what it would get in the sequence alone, whatever stands behind the end; what
        leaves behind the end does not matter, as long as it is finite. So a layer that works on each step by itself, or
        looks back only, becomes what it is otherwise. One that looks further puts zeros there first (`masked`), or is
        told the lengths (`with_lengths`). Modules keep their places in the chain and the names of their weights.
        Raises `ShapeError` where it cannot be. A layer type of an add-on or of the user's must say this itself.
        """
        return self.lower(*x)

    def lengths_after(self, *x: Any, **_: Any) -> Call | None:
        """Return a function from the lengths of the inputs, one argument for each port (None where it has none), to the
        lengths of the output; None where they are those of the first port that has some."""
        return None


REGISTRY: dict[str, type[LayerType]] = {}


def expect(x: TensorType, *layouts: str) -> None:
    """Refuse an input of another layout than these, in words."""
    if x.axes not in [LAYOUTS[name] for name in layouts]:
        names = [f"{with_article(name)} ({' × '.join(LAYOUTS[name])})" for name in layouts]
        expected = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        raise ShapeError(f"Expected {expected}, received {x}.", port="in")
    expect_real(x)


def expect_real(x: TensorType, port: str = "in") -> None:
    """Refuse indices, complex numbers and empty tensors, in words."""
    if x.kind != "real":
        hints = {
            "index": " An embedding turns indices into numbers.",
            "complex": " Put a complex-to-real layer before it.",
        }
        hint = hints.get(x.kind, "")
        raise ShapeError(f"Expected real numbers, received {x}.{hint}", port=port)
    if 0 in x.sizes:
        raise ShapeError(f"Expected at least one number along each axis, received {x}.", port=port)


def channels_first(x: TensorType, *calls: Call) -> Lowered:
    """The calls, with the channels moved before them to where torch's modules look for them, and back after them."""
    at = x.dim("C")
    if at == 1:
        return calls
    there = (0, at, *(dim for dim in range(1, x.rank + 1) if dim != at))
    back = tuple(there.index(dim) for dim in range(x.rank + 1))
    return method("permute", *there), *calls, method("permute", *back)
