"""How a network leaves as ONNX: the options of an export, from which form, command line, JSON schema and documentation
follow."""

from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.records import Record

OPSETS = (13, 25)
"""Lowest and highest opset that is written."""
NUMBERS, SHAPES, CONTENT, CHECK = "Numbers", "Sizes", "What is in the file", "Check"


def _is_reduced(options: Any) -> bool:
    return bool(options.precision != "float32")


def flag(name: str) -> str:
    """Return the option of the command line that sets an option."""
    return f"--{name.replace('_', '-')}"


class OnnxOptions(Record):
    """Options of an export to ONNX."""

    precision = Choice(
        "float32",
        options=("float32", "float16", "int8-dynamic", "int8-static"),
        notes={
            "float32": "As trained",
            "float16": "Half the size; fast where the hardware computes in it",
            "int8-dynamic": "Weights of products and LSTM in 8 bits, activations as they come",
            "int8-static": "Weights and activations in 8 bits, calibrated on the validation data",
        },
        group=NUMBERS,
        help="Numbers of the file. Default float32. Accuracy, size and speed are compared with those before",
    )
    float32_inputs = Bool(
        True,
        label="Inputs and outputs float32",
        group=NUMBERS,
        help="Take and give float32 and convert inside. Default true",
        visible_when=lambda options: options.precision == "float16",
    )
    calibration_samples = Int(
        128,
        low=1,
        high=100_000,
        unit="samples",
        group=NUMBERS,
        help="Number of samples of the validation data that the ranges of activations are measured on. Default 128",
        visible_when=lambda options: options.precision == "int8-static",
    )
    accepted_loss = Float(
        0.02,
        low=0.0,
        high=1.0,
        group=NUMBERS,
        help="Largest loss of accuracy, or of R² for numbers, by the conversion. Default 0.02. The file is not written "
        "where it costs more; 1 accepts any",
        visible_when=_is_reduced,
    )
    batch = Int(
        0,
        zero="free",
        high=65_536,
        unit="samples",
        label="Batch size",
        group=SHAPES,
        help="Number of samples per call, for runtimes that need a fixed one. Default free: any number",
    )
    steps = Int(
        0,
        zero="free",
        high=1_000_000,
        label="Length of sequences",
        group=SHAPES,
        help="Number of steps of inputs that are sequences of any length. Default free: any number",
    )
    opset = Int(
        20,
        low=OPSETS[0],
        high=OPSETS[1],
        group=CONTENT,
        help="Version of ONNX's operators that the file uses, 13 to 25. Default 20. Older runtimes need lower ones",
    )
    normalization = Choice(
        "inside",
        options=("inside", "outside"),
        notes={
            "inside": "The file takes the numbers of the data as they are",
            "outside": "Whoever calls it normalises, with the numbers in the metadata",
        },
        label="Input normalisation",
        group=CONTENT,
        help="Place of the input normalisation. Default inside",
    )
    probabilities = Choice(
        "inside",
        options=("inside", "outside"),
        notes={"inside": "Outputs are probabilities", "outside": "Outputs are scores, before softmax or sigmoid"},
        group=CONTENT,
        help="Place of the softmax or sigmoid at outputs that are classes or labels. Default inside",
    )
    temperature = Choice(
        "inside",
        options=("inside", "outside"),
        notes={
            "inside": "Scores are divided by the temperature that was stored with the network",
            "outside": "As trained; the preparation has the temperature, and predict applies it",
        },
        group=CONTENT,
        help="Place of a stored temperature, which calibrates probabilities. Default inside. Of PyTorch files, too",
    )
    external_data = Choice(
        "auto",
        options=("auto", "yes", "no"),
        notes={
            "auto": "Beside the file where they have more than 2 GB, which one ONNX file cannot hold",
            "yes": "In a file of their own beside it",
            "no": "In the file",
        },
        label="Weights beside the file",
        group=CONTENT,
        help="Place of the weights. Default auto",
    )
    layers = Bool(
        False,
        label="Compare layer by layer",
        group=CHECK,
        help="Compare each layer with torch also where the outputs agree. Default false",
    )
    measure = Bool(
        _is_reduced,
        label="Accuracy, size and speed",
        group=CHECK,
        help="Compare accuracy, size and speed with torch's. Default true for float16 and int8",
    )

    def problems(self) -> list[FieldError]:
        """Return the options that do not go together."""
        errors = []
        if self.external_data == "yes" and self.precision != "float32":
            errors.append(
                FieldError(
                    "external_data",
                    f"weights beside the file are written in float32 only; received {self.precision}.",
                    hint="Set one of the two to its default.",
                )
            )
        return errors
