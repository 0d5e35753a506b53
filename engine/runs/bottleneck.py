"""What holds a run back, in one sentence with what to do: the data, the other workers, or the computing."""

import math
from collections.abc import Mapping

from engine.words import percent

WORTH_SAYING = 0.3
"""So much of the time of all steps."""


def held_back_by(shares: Mapping[str, object], *, is_streamed: bool = False, augments: bool = False) -> str:
    """From the shares of the time of all steps (`data`, `communication`), of which NaN is not known; nothing where
    none was measured. `is_streamed`: the data was read while the run trained. `augments`: its images were changed at
    random, which counts with the data."""
    if not shares:
        return ""
    data, sending = (_known(shares.get(name)) for name in ("data", "communication"))
    if max(data, sending) < WORTH_SAYING:
        return (
            f"Computing holds the run back: {percent(1 - data - sending)} of the time of its steps. A faster device or "
            "more of them, a lower precision or a smaller network would be faster."
        )
    if sending > data:
        return (
            f"Other workers hold the run back: steps waited for them for {percent(sending)} of their time. Fewer "
            "workers, a larger mini-batch, or the strategy local-sgd with a longer interval would be faster."
        )
    what = "it, and for the random changes of its images," if augments else "it"
    begin = f"Data holds the run back: steps waited for {what} for {percent(data)} of their time."
    if is_streamed:
        return (
            f"{begin} Hold it in memory where it fits (data.loading), keep more pictures decoded (data.decoded_cache) "
            "or store them in the size they are used in, or give the run a faster disk or more cores."
        )
    return f"{begin} A larger mini-batch takes it in larger pieces{', fewer changes take less' if augments else ''}."


def _known(share: object) -> float:
    value = float(share) if isinstance(share, (int, float, str)) else 0.0
    return 0.0 if math.isnan(value) else value
