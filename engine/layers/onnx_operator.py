"""The layer for an operator of an imported ONNX file that no other layer type computes."""

import json
import re

from netwright.engine.core.errors import FieldError, ShapeError
from netwright.engine.core.fields import Bool, Int, Text, quoted
from netwright.engine.core.list_fields import Texts
from netwright.engine.core.types import Kind, Size, Symbol, TensorType, clash
from netwright.engine.layers.base import LayerType, Lowered, module

MOST_PORTS = 64
OMITTED = "-"
"""Stands for an operand or a result of the operator that is left out."""
ABSENT, PLACE = "1", "N"
"""Stand for a dimension of size 1 that a port lacks, and for the batch."""
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("float16", "float32", "float64"), "real"),
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"), "index"),
    **dict.fromkeys(("complex64", "complex128"), "complex"),
}
"""Number formats of operands and results by their names in numpy, and the kind of tensor that each is here."""
FORMATS: dict[Kind, str] = {"real": "float32", "index": "int64", "complex": "complex64"}
"""Number format of a tensor of each kind in a network."""
_CONSTANT = re.compile(r"[^\s;]+\.[^\s;]+")


class Words(Texts):
    """List of texts of which several may be equal, such as a type for each port."""

    def check(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(";") if part.strip()]
        if isinstance(value, (list, tuple)) and len(value) <= MOST_PORTS * 4:
            for item in value:
                super().check([item])
            return tuple(value)
        raise self.refuse(value)


def written_type(dtype: str, type: TensorType | None) -> str:
    """Return the number format of an operand or a result with its axes, as text: `float32 C=3 H=32 W=32`.

    Without axes it has one number per sample and no axis besides the batch; the port is then features of one channel. A
    size without an axis, `1`, is a dimension that the operator has and the port does not; `N` stands where the operator
    has the batch, unless it comes first.
    """
    axes = () if type is None else zip(type.axes, type.sizes, strict=True)
    return " ".join([dtype, *(f"{axis}={size}" for axis, size in axes)])


def read_type(text: str) -> tuple[str, TensorType]:
    """Return number format and type of a port from the text of `written_type`. Raises `ValueError`."""
    dtype, *axes = text.split()
    if dtype not in KINDS:
        raise ValueError(f"the number format {quoted(dtype)} is none of {', '.join(KINDS)}")
    pairs = [axis.partition("=") for axis in axes if axis not in (ABSENT, PLACE)] or [("C", "=", "1")]
    if len({name for name, _, _ in pairs}) < len(pairs) or not all(name and size for name, _, size in pairs):
        raise ValueError(f"expected a number format and sizes such as 'float32 C=3 H=32 W=32', received {quoted(text)}")
    sizes: list[Size] = [int(size) if size.isdecimal() else Symbol(size) for _, _, size in pairs]
    return dtype, TensorType(tuple(name for name, _, _ in pairs), tuple(sizes), KINDS[dtype])


def read_constant(text: str) -> tuple[str, str, tuple[int, ...]]:
    """Return name, number format and sizes of a constant from text such as `k3f9.weight float32 8 3`.

    Raises `ValueError`.
    """
    name, dtype, *sizes = [*text.split(), "", ""] if len(text.split()) < 2 else text.split()
    if not _CONSTANT.fullmatch(name) or dtype not in KINDS or not all(size.isdecimal() for size in sizes):
        raise ValueError(
            f"expected name, number format and sizes such as 'k3f9.weight float32 8 3', received {quoted(text)}"
        )
    return name, dtype, tuple(map(int, sizes))


def read_opset(text: str) -> tuple[str, int]:
    """Return domain and version from text such as `com.microsoft 1`; the domain of ONNX itself is `ai.onnx`.

    Raises `ValueError`.
    """
    domain, _, version = text.partition(" ")
    if not domain or not version.isdecimal():
        raise ValueError(f"expected a domain and its version such as 'com.microsoft 1', received {quoted(text)}")
    return ("" if domain == "ai.onnx" else domain), int(version)


class OnnxOperator(LayerType):
    """Computes an operator of an imported ONNX file for which there is no layer.

        y1, y2, ... = operator(x1, x2, ...)

    Importing an ONNX file makes such layers of the operators that no other layer type computes, so that nothing of the
    file is lost. Operator, version and attributes are those of the file; constants lie in a file beside the project,
    which the project names together with its checksum. The layer has no weights.

    Where torch has a function that gives equal numbers, which is tried at the import, torch computes the operator, and
    its inputs get gradients. Otherwise ONNX Runtime computes it on the CPU, on whole batches; in a training on a GPU
    each batch goes to the CPU and back. No gradient passes then: layers before it learn only along paths that do not
    lead through it, and a warning names those that do not learn at all.

    Sizes are those that were found when the file was
    imported; other sizes of the input are refused. An export to ONNX writes the operator as it was. Where the file is
    for a batch of one sample, and the operator would not take several, samples are computed one after another; such a
    network is exported for one sample. With the whole batch, what a sample gives depends on the others beside it.

    Operators that can only stay together, such as a condition and what it is computed from, are one layer: an If whose
    condition is always true. Inputs and constants that only its subgraphs take are its last operands.
    """

    key, label, family = "onnx_operator", "ONNX operator", "Custom"
    found_as = "opaque foreign"
    operator = Text("Identity", help="Name of the operator in ONNX, such as Erf")
    domain = Text("", help="Domain of the operator, such as ai.onnx.ml; empty for ONNX's own operators")
    opset = Int(20, low=1, high=10_000, label="Opset version", help="Version of the operators of the domain")
    attributes = Text("{}", help="Attributes of the operator as a JSON object. Long ones are constants and named here")
    num_inputs = Int(1, low=1, high=MOST_PORTS, label="Inputs", help="Number of input tensors")
    num_outputs = Int(1, low=1, high=MOST_PORTS, label="Outputs", help="Number of output tensors")
    operands = Words((), help=f"Operands in order: a port, a constant, or {OMITTED}. Empty: the ports in order")
    joined = Text("", label="Operators", help="The operators in it, where it is several that only stay together")
    inner_names = Words((), help="Names by which subgraphs of the attributes take the last operands")
    inner_opsets = Words((), help="Versions of the domains that subgraphs use, such as com.microsoft 1")
    input_tensors = Words(
        (), help="Number format and sizes of each input, without the batch, such as float32 C=3 H=32 W=32"
    )
    results = Words((), help=f"Number format and sizes of each result, or {OMITTED} for a result that nothing uses")
    constants = Words((), help="Constants in the file beside the project: name, number format and sizes")
    gradients = Words(
        (), label="Gradients", help="Ports whose inputs get a gradient; torch computes the operator where there are any"
    )
    one_by_one = Bool(
        False,
        label="One sample at a time",
        help="Computes each sample by itself, for a file of one sample",
    )
    whole_batch = Bool(
        False,
        label="Across samples",
        help="Computes across the samples of a batch: what a sample gives depends on the others",
    )

    def input_ports(self) -> tuple[str, ...]:
        return _ports("in", self.num_inputs)

    def output_ports(self) -> tuple[str, ...]:
        return _ports("out", self.num_outputs)

    def short_value(self) -> str:
        text = self.joined or self.operator
        return text if len(text) <= 24 else text[:23] + "…"

    def problems(self) -> list[FieldError]:
        errors = super().problems()
        readers = {
            "input_tensors": read_type,
            "results": read_type,
            "constants": read_constant,
            "inner_opsets": read_opset,
        }
        for name, reader in readers.items():
            try:
                for text in getattr(self, name):
                    if text != OMITTED or name != "results":
                        reader(text)
            except ValueError as error:
                errors.append(FieldError(name, f"{error}."))
        counts = {"input_tensors": self.num_inputs, "results": self.num_outputs}
        for name, count in counts.items():
            texts = [text for text in getattr(self, name) if text != OMITTED]
            if texts and len(texts) != count:
                errors.append(FieldError(name, f"expected {count}, one for each port, received {len(texts)}."))
        if not self.results and self.num_outputs > 1:
            errors.append(FieldError("results", "a layer with several outputs needs the type of each."))
        unknown = next((port for port in self.gradients if port not in self.input_ports()), None)
        if unknown is not None:
            errors.append(FieldError("gradients", f"{quoted(unknown)} is no input port of this layer."))
        return [*errors, *self._attribute_problems(), *self._argument_problems()]

    def _attribute_problems(self) -> list[FieldError]:
        try:
            value = json.loads(self.attributes)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return []
        return [FieldError("attributes", f"expected a JSON object, received {quoted(self.attributes)}.")]

    def _argument_problems(self) -> list[FieldError]:
        names = {OMITTED, *self.input_ports(), *(text.split()[0] for text in self.constants if text.split())}
        if len(self.inner_names) > len(self.operands or self.input_ports()):
            return [FieldError("inner_names", f"expected at most {len(self.operands)}, one for each operand.")]
        unknown = next((name for name in self.operands if name not in names), None)
        if unknown is None:
            return []
        message = f"{quoted(unknown)} is no port and no constant of this layer, nor {OMITTED}."
        return [FieldError("operands", message)]

    def output(self, *x: TensorType) -> TensorType:
        return self.output_types(*x)[0]

    def output_types(self, *x: TensorType) -> tuple[TensorType, ...]:
        for port, input_type, text in zip(self.input_ports(), x, self.input_tensors, strict=False):
            expected = read_type(text)[1]
            if (
                expected.kind
                not in (input_type.kind, "index" if input_type.kind == "real" else "")  # whole numbers may be real
                or input_type.rank != expected.rank
                or any(map(clash, input_type.sizes, expected.sizes))
            ):
                raise ShapeError(
                    f"The sizes of '{self.operator}' are known for those of the imported file only: {expected}; "
                    f"received {input_type}. Import the file again with other sizes, or replace the layer.",
                    port=port,
                )
        if not self.results:
            return (x[0],)
        return tuple(read_type(text)[1] for text in self.results if text != OMITTED)

    def lower(self, *x: TensorType) -> Lowered:
        entering = tuple(map(_parsed, self.input_tensors)) or tuple((FORMATS[t.kind], _sizes(t)) for t in x)
        results = tuple(None if text == OMITTED else _parsed(text, 0) for text in self.results) or entering[:1]
        places: dict[str, int | str | None] = {port: number for number, port in enumerate(self.input_ports())}
        places[OMITTED] = None
        own = "onnx_in_torch.OnnxOperatorInTorch" if self.gradients else "onnx_operator.OnnxOperator"
        return module(
            f"netwright.engine.lowering.modules.{own}",
            operator=self.operator,
            **({"domain": self.domain} if self.domain else {}),
            opset=self.opset,
            attributes=self.attributes,
            operands=tuple(places.get(name, name) for name in self.operands or self.input_ports()),
            inputs=entering,
            results=results,
            **({"inner_names": self.inner_names} if self.inner_names else {}),
            **({"inner_opsets": tuple(map(read_opset, self.inner_opsets))} if self.inner_opsets else {}),
            **({"one_by_one": True} if self.one_by_one else {}),
            **({"constants": tuple(map(read_constant, self.constants))} if self.constants else {}),
        )

    def lower_padded(self, *x: TensorType) -> Lowered:
        if any(type.is_open for type in x):
            raise ShapeError("An operator of an ONNX file is not told how long each sequence is.")
        return self.lower(*x)


def _ports(word: str, count: int) -> tuple[str, ...]:
    return (word,) if count == 1 else tuple(f"{word}{number}" for number in range(1, count + 1))


Tensor = tuple[str, tuple[int | str | None, ...]]
"""Number format, and sizes without the batch; a size that is known only at run time is a name, None the place of the
batch where it is not the first."""


def _parsed(text: str, absent: int = 1) -> Tensor:
    """Return number format and sizes; `absent` stands for a dimension that the port lacks."""
    dtype, type = read_type(text)
    sizes = iter(_sizes(type))
    marks: dict[str, int | None] = {ABSENT: absent, PLACE: None}
    return dtype, tuple(marks[axis] if axis in marks else next(sizes) for axis in text.split()[1:])


def _sizes(type: TensorType) -> tuple[int | str, ...]:
    return tuple(size if isinstance(size, int) else size.name for size in type.sizes)
