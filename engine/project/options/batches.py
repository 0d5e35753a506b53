"""How long it goes on, and what a batch is made of."""

from typing import Any

from engine.core.errors import FieldError
from engine.core.fields import Bool, Choice, Float, Int
from engine.core.records import Record


def _has_batches(options: Any) -> bool:
    return not getattr(options, "is_full_batch", False)


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
        options=("longest", "shortest", "split"),
        notes={
            "longest": "Batches are padded to their longest sequence",
            "shortest": "While training, each batch is cut to its shortest sequence: the rest is left out",
            "split": "While training, sequences are cut into pieces of a length; each is a sample and starts without a "
            "state",
        },
        group="Batches",
        help="What becomes of sequences that differ in length; default longest, as in MATLAB, where a whole number "
        "splits. Validation and test see whole sequences",
    )
    sequence_split_length = Int(
        100,
        low=1,
        unit="steps",
        label="Length of pieces",
        group="Batches",
        help="Of what length the pieces are; default 100. The last piece of a sequence is shorter, or the first one "
        "where the padding direction is left. MATLAB: SequenceLength, a number",
        visible_when=lambda options: options.sequence_length == "split",
    )
    sequence_padding = Choice(
        "masked",
        options=("masked", "seen"),
        notes={
            "masked": "No layer, loss or metric sees the padding: each sequence gives what it gives alone",
            "seen": "Layers take the padding for data, as MATLAB's do; no loss or metric counts it",
        },
        group="Batches",
        help="Whether layers see the padding of sequences that differ in length; default masked. MATLAB: seen; torch: "
        "packed sequences are not",
    )
    sequence_padding_direction = Choice(
        "right",
        options=("right", "left"),
        label="Padding direction",
        group="Batches",
        help="On which side sequences are padded and cut; default right. Left: all of a batch end at the same step. "
        "Masked padding has no side, only a cut has. MATLAB: SequencePaddingDirection",
        visible_when=lambda options: options.sequence_padding == "seen" or options.sequence_length != "longest",
    )
    sequence_padding_value = Float(
        0.0,
        low=-1e30,
        high=1e30,
        label="Padding value",
        group="Batches",
        help="What layers see as padding, in the units of the data; default 0. MATLAB: SequencePaddingValue",
        visible_when=lambda options: options.sequence_padding == "seen",
    )
    bucket_by_length = Bool(
        False,
        group="Batches",
        help="Puts sequences of like length into a batch, so that less is padded; default off. Samples are shuffled, "
        "sorted within 50 batches at a time, and the batches shuffled. With torch and MATLAB one sorts the data",
        visible_when=lambda options: _has_batches(options) and options.shuffle != "never",
    )

    def problems(self) -> list[FieldError]:
        """More pieces than samples."""
        found = super().problems()
        if _has_batches(self) and self.gradient_accumulation > self.mini_batch_size:
            message = f"a mini-batch has {self.mini_batch_size:,} samples. Use at most {self.mini_batch_size:,} pieces."
            found.append(FieldError("gradient_accumulation", message))
        return found
