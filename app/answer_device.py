"""Where the answers of a network are computed: the user's choice in the Preferences, for all projects."""

from pathlib import Path

from netwright.designer.language import noop
from netwright.designer.settings import settings

SETTING = "answer_device"
DEVICES = {
    "auto": noop("A GPU where there is one"),
    "cpu": noop("The processor"),
    "multi-gpu": noop("All GPUs, a batch each"),
    "multi-cpu": noop("The processor, a batch per core"),
}
"""Choices by the word that requests take, in words."""


def answer_device(model: Path | None = None) -> str:
    """Return the word of the device that answers are computed on; that of an ONNX file is always the processor."""
    if model is not None and model.suffix.lower() == ".onnx":
        return "cpu"
    word = str(settings().value(SETTING, ""))
    return word if word in DEVICES else next(iter(DEVICES))


def choose_answer_device(word: str) -> None:
    """Compute answers there from now on."""
    settings().setValue(SETTING, word)
