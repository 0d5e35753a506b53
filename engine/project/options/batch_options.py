"""Options of run length, batches and sequences."""

from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.records import Record


def _has_batches(options: Any) -> bool:
    return not getattr(options, "is_full_batch", False)


class BatchOptions(Record):
    """Run length, batches and sequences."""

    max_epochs = Int(
        30,
        low=1,
        high=1_000_000,
        group="Batches",
        help="Passes over the training data. Default 30",
        matlab="MaxEpochs",
        visible_when=_has_batches,
    )
    mini_batch_size = Int(
        128,
        low=1,
        unit="samples",
        label="Mini-batch size",
        group="Batches",
        help="Samples per optimizer step, over all workers. Default 128",
        matlab="MiniBatchSize",
        torch="batch_size, of one worker",
        visible_when=_has_batches,
    )
    gradient_accumulation = Int(
        1,
        low=1,
        high=100_000,
        unit="pieces",
        group="Batches",
        help="Number of micro-batches per mini-batch. Default 1. Gradients are summed: same numbers, less "
        "memory. Only batch normalisation uses one micro-batch at a time",
        torch="several backward passes per step",
        visible_when=lambda options: options.solver != "lm",
    )
    shuffle = Choice(
        "once",
        options=("once", "every-epoch", "never"),
        group="Batches",
        help="Time at which the training samples are shuffled. Default once",
        matlab="Shuffle",
        torch="shuffle, at every epoch",
        visible_when=_has_batches,
    )
    last_batch = Choice(
        "keep",
        options=("keep", "discard"),
        group="Batches",
        help="Use of an incomplete last batch. Default keep",
        matlab="discards it",
        torch="drop_last",
        visible_when=_has_batches,
    )
    sequence_length = Choice(
        "longest",
        options=("longest", "shortest", "split"),
        notes={
            "longest": "Batches are padded to their longest sequence",
            "shortest": "In training, each batch is cut to its shortest sequence",
            "split": "Sequences are cut into pieces; while training, each piece is a sample and starts without a state",
        },
        group="Batches",
        help="Method that batches sequences of different lengths. Default longest. Validation and test use whole "
        "sequences",
        matlab="SequenceLength, where a whole number splits",
        torch="pad_sequence",
    )
    sequence_split_length = Int(
        100,
        low=1,
        unit="steps",
        label="Length of pieces",
        group="Batches",
        help="Steps per piece. Default 100. The last piece of a sequence is shorter; with padding direction "
        "left, the first",
        matlab="SequenceLength, a number",
        visible_when=lambda options: options.sequence_length == "split",
    )
    sequence_padding = Choice(
        "masked",
        options=("masked", "seen"),
        notes={
            "masked": "Hidden from layers, losses and metrics; the result of a sequence does not depend on padding",
            "seen": "Layers treat padding as data, as in MATLAB; losses and metrics ignore it",
        },
        group="Batches",
        help="Whether layers see the padding of sequences. Default masked. It matters where sequences differ in length",
        matlab="always seen",
        torch="packed sequences are masked",
    )
    sequence_padding_direction = Choice(
        "right",
        options=("right", "left"),
        label="Padding direction",
        group="Batches",
        help="Side on which sequences are padded and cut. Default right. Left: all sequences of a batch end at "
        "the same step. With masked padding only a cut depends on it",
        matlab="SequencePaddingDirection",
        torch="padding_side",
        visible_when=lambda options: options.sequence_padding == "seen" or options.sequence_length != "longest",
    )
    sequence_padding_value = Float(
        0.0,
        low=-1e30,
        high=1e30,
        label="Padding value",
        group="Batches",
        help="Value of padding that layers see, in the units of the data. Default 0",
        matlab="SequencePaddingValue",
        torch="padding_value",
        visible_when=lambda options: options.sequence_padding == "seen",
    )
    bucket_by_length = Bool(
        False,
        group="Batches",
        help="Batches sequences of similar length. Default off. That reduces padding. Samples are shuffled, sorted "
        "within 50 batches at a time, and the batches shuffled",
        matlab="sorted data",
        torch="sorted data",
        visible_when=lambda options: _has_batches(options) and options.shuffle != "never",
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of these options, such as more pieces than samples."""
        errors = super().problems()
        if _has_batches(self) and self.gradient_accumulation > self.mini_batch_size:
            message = f"a mini-batch has {self.mini_batch_size:,} samples. Use at most {self.mini_batch_size:,} pieces."
            errors.append(FieldError("gradient_accumulation", message))
        return errors
