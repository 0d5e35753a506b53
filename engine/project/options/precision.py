"""With how many digits a run computes, and what it computes twice to hold less."""

from engine.errors import FieldError
from engine.fields import Choice, Record

LOW_PRECISIONS = ("bf16", "fp16")
"""Those that round so much that a solver which compares losses would be misled."""


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
        help="How exactly a run computes; default auto. torch: set_float32_matmul_precision, autocast, GradScaler",
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
        "numbers, less memory, about a third more time; default off. torch: utils.checkpoint; MATLAB has none",
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
        help="Whether the network is compiled for its sizes; default auto, as in MATLAB. torch: torch.compile",
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
