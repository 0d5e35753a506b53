"""How long it goes on, and what a batch is made of."""

from typing import Any

from engine.fields import Bool, Choice, Int, Record


def _has_batches(options: Any) -> bool:
    return not options.is_full_batch


class BatchOptions(Record):
    """How long it goes on, and what a batch is made of."""

    max_epochs = Int(
        30,
        low=1,
        high=1_000_000,
        group="Batches",
        help="Passes over the training data; default 30, as in MATLAB",
        visible_when=_has_batches,
    )
    mini_batch_size = Int(
        128,
        low=1,
        unit="samples",
        label="Mini-batch size",
        group="Batches",
        help="Samples an optimizer step, over all workers; default 128, as in MATLAB. torch: batch_size is "
        "that of one worker",
        visible_when=_has_batches,
    )
    gradient_accumulation = Int(
        1,
        low=1,
        high=100_000,
        unit="pieces",
        group="Batches",
        help="In so many pieces a mini-batch is computed, whose gradients add up to those of the whole: same numbers, "
        "less memory; default 1. Only batch normalisation sees a piece at a time. With torch one divides the batch",
        visible_when=lambda options: options.solver != "lm",
    )
    shuffle = Choice(
        "once",
        options=("once", "every-epoch", "never"),
        group="Batches",
        help="When the training samples get a new order; default once, as in MATLAB. torch: shuffle, every epoch",
        visible_when=_has_batches,
    )
    last_batch = Choice(
        "keep",
        options=("keep", "discard"),
        group="Batches",
        help="What becomes of an incomplete last batch; default keep. MATLAB discards it; torch: drop_last",
        visible_when=_has_batches,
    )
    sequence_length = Choice(
        "longest",
        options=("longest", "shortest"),
        notes={
            "longest": "Batches are padded to their longest sequence; no layer, loss or metric sees the padding",
            "shortest": "While training, each batch is cut to its shortest sequence: what comes later is left out",
        },
        group="Batches",
        help="Where sequences differ in length; default longest. The side and the value of the padding play no part",
    )
    bucket_by_length = Bool(
        False,
        group="Batches",
        help="Puts sequences of like length into a batch, so that less is padded; default off. Samples are shuffled, "
        "sorted within 50 batches at a time, and the batches shuffled",
        visible_when=lambda options: _has_batches(options) and options.shuffle != "never",
    )
