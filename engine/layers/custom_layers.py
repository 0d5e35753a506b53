"""Layers whose code is the user's own: a class in a Python file, a function in one, or an expression of tensors.

Their signature is read from the text of the file (`netwright.engine.user_code.signature`); what they do with tensors is
measured in a child process (`netwright.engine.user_code.measurement`). The fields of a class or function are kept in
the layer, so that a project opens, and shows its form, without the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, Literal, Self

from netwright.engine.core.errors import (
    FieldError,
    FieldErrors,
    ShapeError,
    UnknownSizesError,
    UntrustedCodeError,
    UserError,
    did_you_mean,
    plural,
)
from netwright.engine.core.fields import JSON, Choice, Field, FilePath, Int, Text, path_part, quoted
from netwright.engine.core.records import Record
from netwright.engine.core.types import LAYOUTS, Sizes, TensorType
from netwright.engine.layers.base import LENGTHS, Call, LayerType, Lowered, as_chain, function, with_lengths
from netwright.engine.layers.weighted import AS_MADE, ParameterOptions, Weighted, l2_field, rate_field
from netwright.engine.user_code import registry
from netwright.engine.user_code.expression import code_target, expression_target, parsed
from netwright.engine.user_code.registry import Failed, Measured, Question
from netwright.engine.user_code.signature import MOST_PARAMETERS, MOST_PORTS, Parameter, Signature, pick

_OWN = ("values", "signature")
_AUTO = "As the input with as many axes, else the usual one: features, sequence, image, volume"
_FIRST = ("expression", "file", "class_name", "function_name")
"""What a form begins with: which code it is; then what the code is given."""
PYTHON = "Python files (*.py)"


def _is_expression(layer: Any) -> bool:
    return not layer.file and layer.code_kind == "expression"


def _is_function(layer: Any) -> bool:
    return bool(layer.file)


class UserCode(LayerType):
    """Base of layers of the user's code: a class, a function or an expression."""

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """The fields of the class or function, as its file had them when they were read."""

    file = FilePath("", pattern=PYTHON, help="Path of the Python file with the code, relative to the project's folder")
    num_inputs = Int(
        1, low=1, high=MOST_PORTS, label="Inputs", help="Number of input tensors", visible_when=_is_expression
    )
    num_outputs = Int(1, low=1, high=MOST_PORTS, label="Outputs", help="Number of output tensors")
    layout = Choice(
        "auto",
        options=("auto", *LAYOUTS, "tokens"),
        notes={"auto": _AUTO},
        help="Axes of the output, after the batch",
    )

    @classmethod
    def with_parameters(cls, parameters: Sequence[Parameter]) -> type[Self]:
        """The layer type with the fields of a class or function besides its own. The same ones give the same type."""
        plain: Any = _plain(cls)
        layer_class: type[Self] = _made(plain, tuple(parameters))
        return layer_class

    @classmethod
    def of(cls, file: str, signature: Signature) -> Self:
        """The layer for a class or function that was read from a file."""
        type = cls.with_parameters(signature.parameters)
        values = {"file": file, "num_inputs": signature.num_inputs, "num_outputs": signature.num_outputs}
        return type(**values, **{cls._name_field: signature.name})

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        first = [name for name in _FIRST if name in cls.fields]
        own = [name for name in cls._attributes.values() if name in cls.fields]
        cls.fields = {name: cls.fields[name] for name in dict.fromkeys([*first, *own, *cls.fields])}

    _name_field: ClassVar[str] = ""
    _attributes: ClassVar[Mapping[str, str]] = {}
    """For each parameter the name of its field: its own, unless a layer type has something of that name."""

    def with_signature(self, signature: Signature) -> "UserCode":
        """The layer with the fields that its file has now; values that still have a field stay."""
        type = self.with_parameters(signature.parameters)
        values: dict[str, object] = {name: value for name, value in self._values.items() if name in _plain(type).fields}
        values |= {self._name_field: signature.name, "num_inputs": signature.num_inputs}
        values["num_outputs"] = signature.num_outputs
        for parameter in signature.parameters:
            attribute = self._attributes.get(parameter.name, "")
            if attribute in self._values:
                try:
                    values[type._attributes[parameter.name]] = parameter.field().check(self._values[attribute])
                except FieldError:
                    continue  # of another kind now
        return type(**values)

    @property
    def code_name(self) -> str:
        """The class, the function, or the expression."""
        name: str = getattr(self, self._name_field)
        return name

    @property
    def code_file(self) -> str:
        """The file that is run, or nothing where an expression is."""
        return self.file

    @property
    def code_kind(self) -> str:
        """`class`, `function` or `expression`."""
        return "class"

    @property
    def is_measured(self) -> bool:
        return True

    def lower_padded(self, *x: TensorType) -> Lowered:
        if self.code_kind == "expression":
            raise ShapeError("An expression is not told how long each sequence is.")
        if not self.current().takes_lengths:
            where = "forward" if self.code_kind == "class" else self.code_name
            raise ShapeError(
                f"Code of your own is told how long each sequence is only where '{where}' has a parameter "
                "lengths=None; it gets the number of real steps of each sample, int64."
            )
        for out in self.output_types(*x):
            if out.is_open and not any(type.is_open and type["T"] == out["T"] for type in x):
                raise ShapeError(f"How long each sequence is that leaves {self.code_name} is not known: {out}.")
        (call,) = as_chain(self.lower(*x))
        return with_lengths(call)

    def lengths_after(self, *x: TensorType) -> Call | None:
        steps = next((out["T"] for out in self.output_types(*x) if out.is_open), None)
        port = next((port for port, type in enumerate(x) if type.is_open and type["T"] == steps), None)
        return None if port is None else function(f"{LENGTHS}lengths_of", port=port)

    def fault(self) -> ShapeError | None:
        try:
            self.question(())
        except ShapeError as error:
            return error
        return None

    def input_ports(self) -> tuple[str, ...]:
        return _ports("in", self.num_inputs)

    def output_ports(self) -> tuple[str, ...]:
        return _ports("out", self.num_outputs)

    def short_value(self) -> str:
        return self.code_name if len(self.code_name) <= 24 else self.code_name[:23] + "…"

    def output(self, *x: TensorType) -> TensorType:
        return self._measured(x).outputs[0]

    def output_types(self, *x: TensorType) -> tuple[TensorType, ...]:
        return self._measured(x).outputs

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        return dict(self._measured(x).weights)

    def flops(self, *x: TensorType) -> int:
        return self._measured(x).flops

    def lower(self, *x: TensorType) -> Lowered:
        kind: Literal["module", "function"] = "module" if self.code_kind == "class" else "function"
        return Call(code_target(self.file, self.code_name), kind, kwargs=self.handed())

    def handed(self) -> dict[str, Any]:
        """Return the arguments of the constructor or function: other than the defaults, and required."""
        return {
            p.name: getattr(self, self._attributes[p.name])
            for p in self.parameters
            if p.is_required or self._attributes[p.name] in self._values
        }

    def current(self) -> Signature:
        """The class or function as the file has it now. Raises `ShapeError`."""
        if not self.file:
            raise ShapeError("Choose the Python file that holds the code.", field="file")
        code = registry.file(self.file)
        if code is None:
            raise UnknownSizesError(f"Nothing is known yet about the file {self.file}.", field="file")
        if code.error:
            raise ShapeError(code.error, field="file")
        try:
            return pick(code.signatures, self.code_name, self.code_kind, self.file)
        except UserError as error:
            raise ShapeError(str(error), field=self._name_field) from None

    def question(self, x: tuple[TensorType, ...]) -> Question:
        """Return the question to measure for these inputs. Raises `ShapeError` for errors that need no run."""
        signature = self.current()
        code = registry.file(self.file)
        assert code is not None
        if signature.num_inputs != self.num_inputs:
            raise ShapeError(
                f"{self.code_name} takes {plural(signature.num_inputs, 'tensor')}, the layer has "
                f"{plural(self.num_inputs, 'input')}. Read its fields again.",
                field="num_inputs",
            )
        self._refuse_stale(signature)
        values = registry.values_text(self.handed())
        return Question(code.sha256, self.code_kind, self.code_name, values, x, self.layout, self.file)

    def _refuse_stale(self, signature: Signature) -> None:
        """Refuse values for parameters that the file no longer has, and a lack of those that it requires now."""
        kinds = {p.name: p.kind for p in signature.parameters}
        mine = {p.name: p for p in self.parameters}
        stale = [name for name in self.handed() if kinds.get(name) != mine[name].kind]
        new = [p.name for p in signature.parameters if p.is_required and p.name not in mine]
        for names, words in ((stale, "no longer takes"), (new, "now requires")):
            if names:
                raise ShapeError(
                    f"{self.code_name} in {self.file}, line {signature.line}, {words} {', '.join(names)}. "
                    "Read its fields again.",
                    field=self._name_field,
                )

    def _measured(self, x: tuple[TensorType, ...]) -> Measured:
        question = self.question(x)
        measurement = registry.answer(question)
        if isinstance(measurement, Failed):
            raise ShapeError(measurement.message if measurement.message.endswith(".") else f"{measurement.message}.")
        if measurement is None:
            code = self.code_file or "the expression"
            if registry.is_being_measured(question):
                raise UnknownSizesError(f"The sizes are being measured: {code} runs now to learn them.")
            unknown = f"The sizes are not known yet: {code} has not run"
            if not registry.may_run(self.code_file):
                raise UntrustedCodeError(f"{unknown}, because its folder is not trusted.")
            raise UnknownSizesError(f"{unknown}.")
        count = len(measurement.outputs)
        if count != self.num_outputs:
            raise ShapeError(
                f"{plural(count, 'tensor')} came out, the layer has {plural(self.num_outputs, 'output')}. "
                f"Set the outputs to {count}.",
                field="num_outputs",
            )
        return measurement

    @classmethod
    def read(cls, data: object, where: str, *, keep_unknown: bool = False) -> Self:
        if not isinstance(data, dict):
            return super().read(data, where, keep_unknown=keep_unknown)
        type = cls.with_parameters(_read_parameters(data.get("signature", []), f"{where}.signature"))
        values = data.get("values", {})
        if not isinstance(values, dict):
            raise FieldErrors([FieldError(f"{where}.values", f"expected an object, received {quoted(values)}.")])
        unknown = next((name for name in values if name not in type._attributes), None)
        if unknown is not None:
            message = "there is no such field in the signature beside it."
            raise FieldErrors([FieldError(f"{where}.values.{path_part(unknown)}", message)])
        own = {name: value for name, value in data.items() if name not in _OWN}
        hidden = next((name for name in own if name in type._attributes.values()), None)
        if hidden is not None:
            raise FieldErrors([FieldError(f"{where}.{hidden}", "it belongs into the object 'values'.")])
        stray = next((name for name in own if name not in type.fields and not did_you_mean(name, type.fields)), None)
        if stray is not None and not keep_unknown:
            message = "there is no such field. What the code takes stands in 'values', and what it is in 'signature'."
            raise FieldErrors([FieldError(f"{where}.{path_part(stray)}", message)])
        own |= {type._attributes[name]: value for name, value in values.items()}
        layer: Self = _record_read(type, own, where, keep_unknown)
        return layer

    def write(self) -> dict[str, JSON]:
        """Return the layer as JSON; without a file also without the fields that the last file had."""
        attributes = set(self._attributes.values())
        written = {
            name: self.fields[name].write(value) for name, value in self.changed().items() if name not in attributes
        }
        if self.code_kind == "expression":
            return {**written, **self._unknown}
        values = {
            p.name: p.field().write(self._values[self._attributes[p.name]])
            for p in self.parameters
            if self._attributes[p.name] in self._values
        }
        if values:
            written["values"] = values
        if self.parameters:
            written["signature"] = [p.write() for p in self.parameters]
        return {**written, **self._unknown}

    @classmethod
    def schema(cls) -> dict[str, JSON]:
        described = super().schema()
        described["properties"] |= {
            "values": {"type": "object", "description": "Values of the fields that the code has"},
            "signature": {
                "type": "array",
                "description": "The fields that the code has: name, kind, default, options, whether it is required",
                "items": {"type": "array", "minItems": 3, "maxItems": 5},
                "maxItems": MOST_PARAMETERS,
            },
        }
        return described


class Custom(UserCode, Weighted):
    """Runs an nn.Module of yours from a Python file.

        y = module(x1, x2, ...)

    The module's fields are read from the text of the file: the parameters of its constructor with the annotations int,
    float, bool, str, Literal and tuple[int, ...], or with a default of such a kind. Parameters of other kinds keep
    their defaults. What goes in and comes out has the batch first. Sizes, parameters and work are measured in a process
    of its own, once the folder of the file is trusted: until then they are not known. One file holds all that the
    module needs besides installed packages; a run and an export to PyTorch take a copy of it along.

    Sequences of different lengths are padded at their ends. Where `forward` has a parameter lengths=None, it is given
    the number of real steps of each sample (int64; of several inputs a tuple, None for one that is no such sequence),
    and must give each step what it would get in the sequence alone. Without it such sequences are refused.
    """

    key, label, family = "custom", "Custom layer", "Custom"
    class_name = Text("", label="Class", help="The class in the file, an nn.Module")
    weight_learn_rate_factor = rate_field("weights", label="Learn rate factor")
    weight_l2_factor = l2_field("weights", 1.0, label="L2 factor")
    _name_field = "class_name"

    def role(self, name: str) -> str:
        return "weight"

    def parameter_options(self, name: str) -> ParameterOptions:
        return replace(super().parameter_options(name), initializer=AS_MADE)


class Function(UserCode):
    """Runs an expression of tensors, such as x1 * torch.sigmoid(x2), or a function of yours from a Python file.

        y = f(x1, x2, ...)

    An expression has the tensors x1, x2, ..., `torch` and `math` to work with. A function takes its tensors first; its
    other parameters become fields, read from the text of the file; with a parameter lengths=None it is told how many
    steps of padded sequences are real. Either runs only where the folder, of the project
    or of the file, is trusted; sizes are measured in a process of its own and not known until then.
    """

    key, label, family = "function", "Function", "Custom"
    matlab = "functionLayer"
    found_as = "Lambda"
    expression = Text("x1", help="Expression of the tensors x1, x2 and so on", visible_when=_is_expression)
    function_name = Text("", label="Function", help="The function in the file", visible_when=_is_function)
    _name_field = "function_name"

    def __init__(self, /, **values: object) -> None:
        super().__init__(**values)
        stray = [name for name in ("expression", "function_name") if name in self._values and not self.is_visible(name)]
        if stray:  # by the other kind of code: an expression beside a file, a function without one
            super().__init__(**{name: value for name, value in self._values.items() if name not in stray})

    @property
    def code_name(self) -> str:
        return self.function_name if self.file else self.expression

    @property
    def code_kind(self) -> str:
        return "function" if self.file else "expression"

    def lower(self, *x: TensorType) -> Lowered:
        if self.file:
            return super().lower(*x)
        return Call(expression_target(self.expression, self.num_inputs), "function")

    def question(self, x: tuple[TensorType, ...]) -> Question:
        if self.file:
            return super().question(x)
        try:
            parsed(self.expression, self.num_inputs)
        except FieldError as error:
            raise ShapeError(error.message[:1].upper() + error.message[1:], field="expression") from None
        text = self.expression.strip()
        return Question(registry.hash_of(text), "expression", text, "{}", x, self.layout)


def _ports(word: str, count: int) -> tuple[str, ...]:
    return (word,) if count == 1 else tuple(f"{word}{number}" for number in range(1, count + 1))


def _plain(cls: type[UserCode]) -> type[Any]:
    """The declared layer type behind one with the fields of some code."""
    return next(base for base in cls.__mro__ if base in (Custom, Function))


@cache
def _made(cls: type[UserCode], parameters: tuple[Parameter, ...]) -> type[Any]:
    """A layer type with more fields. It is the same one to everything that asks for its key."""
    if not parameters:
        return cls
    attributes: dict[str, str] = {}
    fields: dict[str, Field[Any]] = {}
    for parameter in parameters:
        attribute = parameter.name
        while hasattr(cls, attribute) or attribute.startswith("_") or attribute in fields:
            attribute = f"value_{attribute.strip('_')}" if attribute.startswith("_") else f"{attribute}_"
        attributes[parameter.name] = attribute
        fields[attribute] = parameter.field()
    described = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls,), {**described, **fields, "parameters": parameters, "_attributes": attributes})


def _read_parameters(data: object, where: str) -> tuple[Parameter, ...]:
    if not isinstance(data, list) or len(data) > MOST_PARAMETERS:
        message = f"expected a list of at most {MOST_PARAMETERS} entries, received {quoted(data)}."
        raise FieldErrors([FieldError(where, message)])
    parameters: dict[str, Parameter] = {}
    for index, row in enumerate(data):
        try:
            parameter = Parameter.read(row)
        except ValueError:
            message = f"expected [name, kind, default, ...], received {quoted(row)}."
            raise FieldErrors([FieldError(f"{where}[{index}]", message)]) from None
        parameters[parameter.name] = parameter
    return tuple(parameters.values())


def _record_read(cls: type[Any], data: dict[str, Any], where: str, keep_unknown: bool) -> Any:
    """`Record.read`, which a type with fields of some code has hidden."""
    return Record.read.__func__(cls, data, where, keep_unknown=keep_unknown)  # type: ignore[attr-defined]
