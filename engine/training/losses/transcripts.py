"""The loss of transcripts: which classes come in which order, without saying at which steps."""

import torch
from torch.nn import functional

from engine.data.facts import IGNORED


def ctc(
    output: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor | None = None, blank: str = "first"
) -> torch.Tensor:
    """Negative log likelihood of the transcript over all its alignments; output: samples × steps × classes and blank.

    `blank` says whether the channel of the blank is the first or the last; `lengths` are those of the output. It is
    infinite where the output has fewer steps than the transcript needs: its classes, and one between two equal ones.
    Graves et al., Connectionist Temporal Classification, 2006.
    """
    if len(output) == 0:
        return output.sum()
    log_p = functional.log_softmax(output, dim=2).transpose(0, 1)
    steps = torch.full((len(output),), output.shape[1]) if lengths is None else lengths
    is_there = target != IGNORED
    numbers = target.clamp(min=0) + (1 if blank == "first" else 0)
    place = 0 if blank == "first" else output.shape[2] - 1
    return functional.ctc_loss(log_p, numbers, steps, is_there.sum(1), blank=place, reduction="sum")
