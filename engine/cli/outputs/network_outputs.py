"""What commands about projects and their networks print with `--json`."""

from typing import Literal, NotRequired, TypedDict


class Problem(TypedDict):
    """Problem of a project."""

    severity: Literal["error", "warning", "note"]
    layer: str
    """Name of the layer, empty for the whole network or an option; `block/layer` inside a block."""
    field: str
    """Field of the layer, or path of the option."""
    message: str


class LayerRow(TypedDict):
    """A layer, with sizes that are null where they are unknown."""

    name: str
    type: str
    output: list[int | str] | None
    """Sizes of the first output without the batch; a text is a symbol."""
    parameters: int | None
    flops: int | None
    """Floating-point operations per sample; a multiply-add counts two."""
    activation_bytes: int | None
    repeat: NotRequired[int]
    stage: NotRequired[int]
    """Stage of a pipeline, from 1."""


class UnreadableProject(TypedDict):
    """A project among several that cannot be read."""

    path: str
    problems: list[Problem]


class Check(TypedDict):
    """Problems, sizes and costs of one project."""

    path: str
    problems: list[Problem]
    layers: list[LayerRow]
    parameters: int
    flops: int
    memory_bytes: int
    """Estimated memory of a training step."""


class Checks(TypedDict):
    """Several projects."""

    projects: list[Check | UnreadableProject]


class Picture(TypedDict):
    """A picture of a network."""

    path: str
    width: int
    """In pixels; in units of the canvas for SVG."""
    height: int
    bytes: int


class New(TypedDict):
    """A copy of an example or template, or a project made for data."""

    path: str
    name: str
    kind: Literal["example", "template", "made"]
    data: NotRequired[str]
    """What the data was taken as, and why."""
    notes: NotRequired[list[str]]
    """What was decided about the data, and how to decide otherwise."""
    warnings: NotRequired[list[str]]
    """What should be done about the data."""


class Template(TypedDict):
    """An example or template."""

    name: str
    kind: Literal["example", "template"]
    title: str
    description: str


class Templates(TypedDict):
    """All examples and templates."""

    templates: list[Template]
