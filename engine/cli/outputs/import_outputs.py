"""What commands about imported networks and weights to start from print with `--json`."""

from collections.abc import Mapping
from typing import Literal, TypedDict


class ImportedOperator(TypedDict):
    """Operators of one name in an imported file, and how many of them became layers, were computed at import, were not
    needed, or are kept as they are."""

    operator: str
    count: int
    lifted: int
    folded: int
    removed: int
    opaque: int
    layers: Mapping[str, int]
    """Number of layers that they became, by label."""


class ImportedInput(TypedDict):
    """Input layer of an imported network."""

    name: str
    sizes: str


class ImportedOutput(TypedDict):
    """Output of an imported network, compared with the original on random inputs."""

    name: str
    difference: float | None
    """Largest difference; null where it is infinite."""
    spread: float | None
    """Standard deviation of the original's values."""
    agrees: bool
    """Whether the difference is at most 1e-4 of the spread."""
    layer: str
    """Layer that gives it, or the block that it is in."""


class Imported(TypedDict):
    """An imported network."""

    source: str
    project: str
    kind: str
    layers: int
    parameters: int
    weights: str | None
    constants: str | None
    """File with the numbers of operators that are kept as they are; null where there is none."""
    producer: str
    opset: int
    operators: list[ImportedOperator]
    inputs: list[ImportedInput]
    agrees: bool
    """Whether all outputs were compared and agree."""
    samples: int
    outputs: list[ImportedOutput]
    warnings: list[str]
    notes: list[str]


class WeightedLayer(TypedDict):
    """What a layer starts from."""

    id: str
    name: str
    state: Literal["loaded", "partly", "fresh"]
    why: str
    """Why it is not loaded as a whole, in words."""


class OtherShape(TypedDict):
    """A key whose counterpart in the file has another shape."""

    key: str
    file_key: str
    shape: list[int]
    file_shape: list[int]


class WeightsMatch(TypedDict):
    """What of a file fills a network."""

    file: str
    sha256: str
    layout: str
    """Name of the publisher's layout that the keys follow; empty for others."""
    sentence: str
    layers: list[WeightedLayer]
    counts: Mapping[str, int]
    """Number of keys that are `matched`, of `other_shape`, `missing` in the file, and `left_over` there."""
    matched: list[list[str]]
    """Key of the network, key of the file, and how it was found: map, layer, name, layout. The first 200."""
    other_shape: list[OtherShape]
    missing: list[str]
    left_over: list[str]


class PublishedFile(TypedDict):
    """A published file of weights."""

    name: str
    template: str
    url: str
    sha256: str
    """All digits, or the first ones where the publisher tells no more."""
    title: str
    licence: str
    bytes: int
    """0 where it is not known."""
    classes: str
    mean: list[float]
    """Of the colour channels of pixels from 0 to 1, as the network was trained."""
    deviation: list[float]
    path: str
    """Where it lies once it is fetched."""
    is_here: bool


class PublishedFiles(TypedDict):
    """Published weights."""

    weights: list[PublishedFile]


class FetchedWeights(TypedDict):
    """A file of weights that was fetched."""

    name: str
    path: str
    bytes: int
