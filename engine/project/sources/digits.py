"""The handwritten digits that are shipped with Netwright."""

from netwright.engine.project.sources.source_type import SourceType


class Digits(SourceType):
    """1,797 grey images of handwritten digits."""

    key, label = "digits", "Digits example"
    note = "1,797 handwritten digits of 8 × 8 pixels, shipped with Netwright"
    inputs, targets = "grey images of 8 × 8", "one of ten classes"
    takes = "nothing"
    reader = "netwright.engine.data.sources.arrays_reader:Digits"
    span = (0.0, 16.0)
