"""What holds a run back, in one sentence with what to do: the data, the other workers, or the computing."""

import math
from collections.abc import Mapping

from engine.words import format_percent

WORTH_SAYING = 0.3
"""So much of the time of all steps."""
LEAST_S = 10.0
"""What took less has no time to win, and its first steps count for much."""
_FASTER = {
    "fully-sharded": "Fewer workers, a larger mini-batch, or data-parallel where the network fits, would be faster.",
    "pipeline": "Fewer workers, stages of more equal work or more pieces (environment.pipeline_pieces) would be "
    "faster.",
    "local-sgd": "Fewer workers, a larger mini-batch or a longer interval would be faster.",
}
_FASTER_TOGETHER = (
    "Fewer workers, a larger mini-batch, or the strategy local-sgd with a longer interval would be faster."
)


def held_back_by(
    shares: Mapping[str, object],
    seconds: float = math.inf,
    *,
    strategy: str = "",
    is_streamed: bool = False,
    augments: bool = False,
) -> str:
    """From the shares of the time of all steps (`data`, `communication`), of which NaN is not known; nothing where
    none was measured, or all of it took no time to speak of. `is_streamed`: the data was read while the run trained.
    `augments`: its images were changed at random, which counts with the data."""
    if not shares or seconds < LEAST_S:
        return ""
    data, sending = (_known(shares.get(name)) for name in ("data", "communication"))
    if max(data, sending) < WORTH_SAYING:
        return _computing(1 - data - sending, is_told_apart=not _is_unknown(shares.get("communication")))
    if sending > data:
        faster = _FASTER.get(strategy, _FASTER_TOGETHER)
        waited = format_percent(sending)
        return f"Other workers hold the run back: steps waited for them for {waited} of their time. {faster}"
    what = "it, and for the random changes of its images," if augments else "it"
    begin = f"Data holds the run back: steps waited for {what} for {format_percent(data)} of their time."
    if is_streamed:
        return (
            f"{begin} Hold it in memory where it fits (data.loading), keep more pictures decoded (data.decoded_cache) "
            "or store them in the size they are used in, or give the run a faster disk or more cores."
        )
    return f"{begin} A larger mini-batch takes it in larger pieces{', fewer changes take less' if augments else ''}."


def _computing(share: float, *, is_told_apart: bool) -> str:
    """What to do where it takes most of the time. On some devices other workers are waited for in the same moments."""
    faster = "A faster device or more of them, a lower precision or a smaller network would be faster."
    if is_told_apart:
        return f"Computing holds the run back: {format_percent(share)} of the time of its steps. {faster}"
    return (
        "Computing, together with what workers send each other meanwhile, holds the run back: "
        f"{format_percent(share)} of the time of its steps. {faster}"
    )


def _is_unknown(share: object) -> bool:
    return isinstance(share, (float, str)) and math.isnan(float(share))


def _known(share: object) -> float:
    return float(share) if isinstance(share, (int, float, str)) and not _is_unknown(share) else 0.0
