"""Python of the user's own that takes part in a training."""

from engine.fields import FilePath, Record

PYTHON = "Python files (*.py)"


class CodeOptions(Record):
    """Python of the user's own that takes part in a training: docs/hooks.md says how it is written."""

    hooks_file = FilePath(
        "",
        pattern=PYTHON,
        group="Own code",
        help="A Python file whose functions on_start, on_step, on_validation, on_epoch_end, on_checkpoint, on_end "
        "are called at these moments; one that returns True ends the run; default none. MATLAB: OutputFcn; torch: "
        "lines of one's own loop",
    )
    step_function = FilePath(
        "",
        pattern=PYTHON,
        label="Training step",
        group="Own code",
        help="A Python file with a function training_step(network, inputs, targets, loss) that gives the loss of a "
        "batch; FILE.py:NAME where it has another name; default none. MATLAB and torch: a custom "
        "training loop",
    )
