"""Options of precision and memory, checkpoints, monitoring, reproducibility and user code."""

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, FilePath, Float, Int, Text
from netwright.engine.core.records import Record

LOW_PRECISIONS = ("bf16", "fp16")
"""Those that round so much that a solver which compares losses would be misled."""
PYTHON = "Python files (*.py)"
MOST_WATCHED = 24
"""Samples whose answers can be kept."""


class PrecisionOptions(Record):
    """Options of number formats, and of recomputing to save memory."""

    precision = Choice(
        "auto",
        options=("auto", "fp32", "tf32", "bf16", "fp16", "fp64"),
        notes={
            "auto": "tf32 on GPUs that support it; otherwise, and for lbfgs and lm, fp32",
            "fp32": "Single precision everywhere, as in MATLAB; torch allows tf32 in cuDNN's convolutions",
            "tf32": "Single precision with products of 10 bits; requires an NVIDIA GPU from Ampere on",
            "bf16": "bfloat16 in layers that tolerate it; weights and loss in single precision",
            "fp16": "As bf16 with half precision; the loss is scaled so that small gradients do not vanish, and a step "
            "whose gradients overflow is left out",
            "fp64": "Network, data and loss in double precision; slow on most GPUs. Exports are in single precision",
        },
        group="Precision and memory",
        help="Number format of the computations. Default auto",
        torch="set_float32_matmul_precision, autocast, GradScaler",
    )
    gradient_checkpointing = Choice(
        "off",
        options=("off", "auto", "blocks"),
        notes={
            "off": "All activations are stored",
            "auto": "Segments by the number of layers; about as many as its square root, cut at small tensors",
            "blocks": "Each block, and each of its copies, is a segment",
        },
        group="Precision and memory",
        help="Recomputes activations, which saves memory. Default off. Only the inputs of segments of the network are "
        "stored until the backward pass: same numbers, less memory, about a third more time",
        matlab="none",
        torch="utils.checkpoint",
        visible_when=lambda options: options.solver != "lm",
    )

    acceleration = Choice(
        "auto",
        options=("auto", "none", "compile"),
        notes={
            "auto": "Compiled on a GPU if that is faster; by a short comparison at the start. Never on a CPU",
            "none": "Not compiled",
            "compile": "Always compiled; takes about ten seconds before the first step and helps on few CPUs",
        },
        group="Precision and memory",
        help="Compilation of the network for its sizes. Default auto",
        matlab="Acceleration",
        torch="torch.compile",
        visible_when=lambda options: options.solver != "lm",
    )

    @property
    def fitting_precision(self) -> str:
        """The precision; of auto fp32 for a solver that compares losses, which products of 10 bits would mislead."""
        return "fp32" if self.precision == "auto" and getattr(self, "is_full_batch", False) else self.precision

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = super().problems()
        solver = getattr(self, "solver", "")
        if self.acceleration == "compile" and self.gradient_checkpointing != "off":
            message = "what is computed again in segments is not compiled. Use none, or no gradient checkpointing."
            errors.append(FieldError("acceleration", message))
        if self.acceleration == "compile" and getattr(self, "watch_layers", False):
            errors.append(FieldError("acceleration", "a compiled network shows nothing of its layers. Use none."))
        if self.precision in LOW_PRECISIONS and solver in ("lbfgs", "lm"):
            message = f"the solver {solver} compares losses, which {self.precision} rounds too much. Use fp32 or fp64."
            errors.append(FieldError("precision", message))
        return errors


class CheckpointOptions(Record):
    """Options of checkpoints, and of the reaction to a non-finite loss."""

    checkpoint_unit = Choice(
        "auto",
        options=("auto", "seconds", "iterations", "epochs", "never"),
        notes={
            "auto": "After 2, 4 and 8 s, then every 10 s; less often where that takes more than 1 % of the run time, "
            "but so that a restart repeats at most 5 % of it, for which checkpoints may take up to 5 %",
            "seconds": "Interval in seconds; checkpoints take at most 1 % of the run time",
            "iterations": "Interval in iterations",
            "epochs": "Interval in epochs, as in MATLAB by default",
            "never": "No checkpoints: an interrupted run starts again",
        },
        group="Checkpoints",
        help="Interval between saved training states. Default auto: if a worker dies, at most 10 s or 5 % of the work "
        "is lost. A restart continues from such a checkpoint",
        matlab="CheckpointFrequencyUnit",
        torch="none",
    )
    checkpoint_frequency = Int(
        lambda options: 1 if options.checkpoint_unit == "epochs" else 60,
        low=1,
        high=100_000_000,
        group="Checkpoints",
        help="Units between two checkpoints. Default 60, or 1 epoch. Another one is saved at the end. Has no effect "
        "with the unit auto",
        matlab="CheckpointFrequency",
        torch="none",
        visible_when=lambda options: options.checkpoint_unit not in ("auto", "never"),
    )
    checkpoints_kept = Int(
        2,
        low=1,
        high=10_000,
        unit="checkpoints",
        group="Checkpoints",
        help="Number of checkpoints kept. Default 2, so that one is left if the last is damaged. Older ones are "
        "removed",
        matlab="keeps all",
        torch="none",
        visible_when=lambda options: options.checkpoint_unit != "never",
    )

    non_finite_loss = Choice(
        "stop",
        options=("stop", "skip", "go-back"),
        notes={
            "stop": "The run ends and names the layer",
            "skip": "The step is skipped, up to a hundred in a row. Synchronises with the device at every step",
            "go-back": "Returns to the last checkpoint with a lower rate; at most run.max_restarts times",
        },
        label="Non-finite loss",
        group="Checkpoints",
        help="Reaction to a loss or gradient that is NaN or infinite. Default stop",
        matlab="none",
        torch="none",
        visible_when=lambda options: options.solver != "lm",
    )
    go_back_rate_factor = Float(
        0.5,
        above=0.0,
        high=1.0,
        group="Checkpoints",
        help="Factor on the learn rate after a rollback. Default 0.5. A rollback returns to the last checkpoint",
        visible_when=lambda options: options.solver != "lm" and options.non_finite_loss == "go-back",
    )


class WatchingOptions(Record):
    """Options for values that are recorded beside loss and metrics. They do not change the training."""

    watch_gradient_norm = Bool(
        False,
        group="Monitoring",
        help="Plots the norm of all gradients at every step. Default off. The norm before clipping, as a curve of the "
        "run",
        matlab="none",
        torch="the result of clip_grad_norm_",
    )
    watch_layers = Bool(
        False,
        group="Monitoring",
        help="Shows the health of layers on the canvas. Default off. At intervals, for each layer: the norm of its "
        "gradient, the size of its output, and the fraction of its units that are zero for every sample",
        matlab="none",
        torch="none",
    )

    watch_weights = Choice(
        "none",
        options=("none", "weights", "weights-and-gradients", "all"),
        notes={
            "none": "Nothing is kept",
            "weights": "The weights of each layer",
            "weights-and-gradients": "And their gradients, before clipping",
            "all": "And the outputs of all layers, the activations",
        },
        group="Monitoring",
        help="Keeps how the weights of each layer are distributed, over the steps. Default none. At most 64 times and "
        "2 % of the time; not in trials of experiments and on pipelines",
        matlab="none",
        torch="none",
    )
    watch_answers = Choice(
        "spread",
        options=("none", "spread", "worst", "chosen"),
        notes={
            "none": "No answers are kept",
            "spread": "Of 8 validation samples, evenly spaced",
            "worst": "Of the 8 with the largest loss, others at each validation",
            "chosen": "Of the validation samples with the numbers that follow",
        },
        group="Monitoring",
        help="Keeps what the network answers for some validation samples. Default spread. At each validation, at most "
        "24 times and 2 % of the time; not in trials of experiments and on pipelines",
        matlab="none",
        torch="none",
    )
    watched_samples = Text(
        "",
        group="Monitoring",
        help="Numbers of the samples whose answers are kept. Default none. As the Data tab counts them, "
        "such as 3, 17, 40",
        matlab="none",
        torch="none",
        visible_when=lambda options: options.watch_answers == "chosen",
    )

    @property
    def watched_places(self) -> tuple[int, ...]:
        """The numbers of the samples that were chosen, from 0; empty where a text is none."""
        words = self.watched_samples.replace(",", " ").split()
        is_right = all(word.isdecimal() and int(word) > 0 for word in words)
        return tuple(dict.fromkeys(int(word) - 1 for word in words)) if is_right else ()

    def problems(self) -> list[FieldError]:
        """Return the error of a gradient norm or weights with the solver lm, and of numbers of samples."""
        errors = super().problems()
        if self.watch_answers == "chosen" and not 0 < len(self.watched_places) <= MOST_WATCHED:
            message = f"expected 1 to {MOST_WATCHED} numbers of samples from 1 on, such as 3, 17, 40"
            errors.append(FieldError("watched_samples", message))
        if self.watch_gradient_norm and getattr(self, "solver", "") == "lm":
            message = "the solver lm takes the error of each sample apart, and has no gradient. Switch it off."
            errors.append(FieldError("watch_gradient_norm", message))
        if self.watch_weights != "none" and getattr(self, "solver", "") == "lm":
            message = "the solver lm takes all steps without the layers, so that nothing is seen of them. Choose none."
            errors.append(FieldError("watch_weights", message))
        return errors


class ReproducibilityOptions(Record):
    """Options for runs that give the same result again."""

    seed = Int(
        0,
        low=0,
        group="Reproducibility",
        help="Seed of weights, order of samples and dropout. Default 0",
        matlab="rng",
        torch="manual_seed",
    )
    deterministic = Bool(
        False,
        group="Reproducibility",
        help="Uses only deterministic algorithms. Default off. They are slower on GPUs. A worker always uses all its "
        "threads",
        matlab="deep.gpu.deterministicAlgorithms",
        torch="use_deterministic_algorithms",
    )


class CodeOptions(Record):
    """Python of the user's own that takes part in a training: docs/hooks.md says how it is written."""

    hooks_file = FilePath(
        "",
        pattern=PYTHON,
        group="Custom code",
        help="Python file with functions called while training. Default none. They are on_start, on_step, "
        "on_validation, on_epoch_end, on_checkpoint and on_end; one that returns True ends the run",
        matlab="OutputFcn",
        torch="code in the training loop",
    )
    step_function = FilePath(
        "",
        pattern=PYTHON,
        label="Training step",
        group="Custom code",
        help="Python file with a function training_step. Default none. training_step(network, inputs, targets, "
        "loss) returns the loss of a batch; FILE.py:NAME for a function of another name",
        matlab="a custom training loop",
        torch="a custom training loop",
    )
