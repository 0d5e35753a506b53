"""Options of precision and memory, checkpoints, monitoring, reproducibility and user code."""

from engine.core.errors import FieldError
from engine.core.fields import Bool, Choice, FilePath, Float, Int
from engine.core.records import Record

LOW_PRECISIONS = ("bf16", "fp16")
"""Those that round so much that a solver which compares losses would be misled."""
PYTHON = "Python files (*.py)"


class PrecisionOptions(Record):
    """With how many digits a run computes, and what it computes twice to hold less."""

    precision = Choice(
        "auto",
        options=("auto", "fp32", "tf32", "bf16", "fp16", "fp64"),
        notes={
            "auto": "tf32 on a GPU that has it; fp32 elsewhere, and for lbfgs and lm",
            "fp32": "Single precision everywhere, as MATLAB; torch lets cuDNN's convolutions take tf32",
            "tf32": "Single precision with products of 10 bits; only NVIDIA GPUs from Ampere on have it",
            "bf16": "Layers compute in bfloat16 where that does no harm; weights and loss stay single",
            "fp16": "As bf16 with half precision; the loss is scaled so that small gradients do not vanish, and a step "
            "whose gradients overflow is left out",
            "fp64": "Network, data and loss in double precision; slow on most GPUs. What is exported is single",
        },
        group="Precision and memory",
        help="How exactly a run computes. Default auto. torch: set_float32_matmul_precision, autocast, GradScaler",
    )
    gradient_checkpointing = Choice(
        "off",
        options=("off", "auto", "blocks"),
        notes={
            "off": "All that the backward pass needs is held",
            "auto": "About as many segments as the root of the number of layers, cut where little crosses",
            "blocks": "Each block, and each of its copies, is a segment",
        },
        group="Precision and memory",
        help="Holds only what enters a segment of the network and computes the rest again in the backward pass: same "
        "numbers, less memory, about a third more time. Default off. torch: utils.checkpoint; MATLAB has none",
        visible_when=lambda options: options.solver != "lm",
    )

    acceleration = Choice(
        "auto",
        options=("auto", "none", "compile"),
        notes={
            "auto": "Compiled on a GPU, where a short comparison at the start says that it pays; never on a CPU",
            "none": "As it is",
            "compile": "Always compiled; it takes some ten seconds before the first step, and pays on few CPUs",
        },
        group="Precision and memory",
        help="Whether the network is compiled for its sizes. Default auto, as in MATLAB. torch: torch.compile",
        visible_when=lambda options: options.solver != "lm",
    )

    @property
    def fitting_precision(self) -> str:
        """The precision; of auto fp32 for a solver that compares losses, which products of 10 bits would mislead."""
        return "fp32" if self.precision == "auto" and getattr(self, "is_full_batch", False) else self.precision

    def problems(self) -> list[FieldError]:
        """What does not go together, and no more."""
        found = super().problems()
        solver = getattr(self, "solver", "")
        if self.acceleration == "compile" and self.gradient_checkpointing != "off":
            message = "what is computed again in segments is not compiled. Use none, or no gradient checkpointing."
            found.append(FieldError("acceleration", message))
        if self.acceleration == "compile" and getattr(self, "watch_layers", False):
            found.append(FieldError("acceleration", "a compiled network shows nothing of its layers. Use none."))
        if self.precision in LOW_PRECISIONS and solver in ("lbfgs", "lm"):
            message = f"the solver {solver} compares losses, which {self.precision} rounds too much. Use fp32 or fp64."
            found.append(FieldError("precision", message))
        return found


class CheckpointOptions(Record):
    """Checkpoints to resume from, and what happens at a non-finite loss."""

    checkpoint_unit = Choice(
        "auto",
        options=("auto", "seconds", "iterations", "epochs", "never"),
        notes={
            "auto": "Every 10 s; less often where that takes more than 1 % of the run time, but so that a restart "
            "repeats at most 5 % of it, for which checkpoints may take up to 5 %",
            "seconds": "At this interval; checkpoints take at most 1 % of the run time",
            "iterations": "After so many iterations",
            "epochs": "At the end of every so many epochs, as in MATLAB by default",
            "never": "No checkpoint: a run that is interrupted begins anew",
        },
        group="Checkpoints",
        help="When the complete state of the training is saved, from which a restart continues. Default auto: when a "
        "worker dies, at most 10 s or 5 % of the work is lost. MATLAB: CheckpointFrequencyUnit",
    )
    checkpoint_frequency = Int(
        60,
        low=1,
        high=100_000_000,
        group="Checkpoints",
        help="Number of units between two checkpoints; another one is saved at the end. Default 60. Has no effect with "
        "the unit auto. torch has none",
        visible_when=lambda options: options.checkpoint_unit not in ("auto", "never"),
    )
    checkpoints_kept = Int(
        2,
        low=1,
        high=10_000,
        unit="checkpoints",
        group="Checkpoints",
        help="Number of checkpoints kept; older ones are removed. Default 2, so that one is left if the last is "
        "damaged. MATLAB keeps all",
        visible_when=lambda options: options.checkpoint_unit != "never",
    )

    non_finite_loss = Choice(
        "stop",
        options=("stop", "skip", "go-back"),
        notes={
            "stop": "The run ends and says where",
            "skip": "The step is left out; the run ends after a hundred in a row. Waits for the device at every step",
            "go-back": "To the last checkpoint, with a lower learning rate; run.max_restarts times at most",
        },
        label="Non-finite loss",
        group="Checkpoints",
        help="What happens when the loss or a gradient is NaN or infinite. Default stop. MATLAB and torch have none",
        visible_when=lambda options: options.solver != "lm",
    )
    go_back_rate_factor = Float(
        0.5,
        above=0.0,
        high=1.0,
        group="Checkpoints",
        help="Factor on the learning rate when the run returns to its last checkpoint. Default 0.5",
        visible_when=lambda options: options.solver != "lm" and options.non_finite_loss == "go-back",
    )


class WatchingOptions(Record):
    """What a run watches beside its loss and its metrics. Nothing of it changes what is learned."""

    watch_gradient_norm = Bool(
        False,
        group="Monitoring",
        help="Reports the norm of all gradients at every step, before clipping, as a curve of the Train tab. "
        "Default off. torch: what clip_grad_norm_ returns; MATLAB has none",
    )
    watch_layers = Bool(
        False,
        group="Monitoring",
        help="Reports for each layer, from time to time, the norm of its gradient, the size of its output, and the"
        " fraction of its units that are zero for every sample, as badges on the canvas. Default off. Neither"
        " torch nor MATLAB has it",
    )

    def problems(self) -> list[FieldError]:
        """The solver lm has no gradient."""
        found = super().problems()
        if self.watch_gradient_norm and getattr(self, "solver", "") == "lm":
            message = "the solver lm takes the error of each sample apart, and has no gradient. Switch it off."
            found.append(FieldError("watch_gradient_norm", message))
        return found


class ReproducibilityOptions(Record):
    """What makes a run repeatable."""

    seed = Int(
        0,
        low=0,
        group="Reproducibility",
        help="Initial weights, order of samples and dropout follow from it. Default 0. torch: manual_seed; MATLAB: rng",
    )
    deterministic = Bool(
        False,
        group="Reproducibility",
        help="Uses only deterministic algorithms, at a cost on GPUs, and always all threads of a worker. Default "
        "off. torch and MATLAB have a switch for it too",
    )


class CodeOptions(Record):
    """Python of the user's own that takes part in a training: docs/hooks.md says how it is written."""

    hooks_file = FilePath(
        "",
        pattern=PYTHON,
        group="Custom code",
        help="A Python file whose functions on_start, on_step, on_validation, on_epoch_end, on_checkpoint, on_end "
        "are called at these moments; one that returns True ends the run. Default none. MATLAB: OutputFcn; torch: "
        "lines of one's own loop",
    )
    step_function = FilePath(
        "",
        pattern=PYTHON,
        label="Training step",
        group="Custom code",
        help="A Python file with a function training_step(network, inputs, targets, loss) that gives the loss of a "
        "batch; FILE.py:NAME where it has another name. Default none. MATLAB and torch: a custom "
        "training loop",
    )
