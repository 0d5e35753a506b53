"""What holds a run back, in words: the data, the other workers, or neither."""

from collections.abc import Iterator, Mapping

from engine.runs.events import Message

WORTH_SAYING = 0.3
"""So much of the time of all steps."""


def holding_back(shares: Mapping[str, float]) -> Iterator[Message]:
    """A note for each part of a step that takes long beside the computing, with the way out."""
    data, sending = shares.get("data", 0.0), shares.get("communication", 0.0)
    if data >= WORTH_SAYING:
        yield _note(
            f"Steps waited for data for {data:.0%} of their time. A larger mini-batch takes it in larger pieces."
        )
    if sending >= WORTH_SAYING:
        yield _note(
            f"Steps waited for other workers for {sending:.0%} of their time. Fewer workers, a larger mini-batch, or "
            "the strategy local-sgd with a longer interval would be faster."
        )


def _note(text: str) -> Message:
    return Message(severity="note", text=text)
