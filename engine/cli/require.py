"""Conditions of `--require` on the outcome of a run, and the outcome as JUnit XML."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.files import write_atomically
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo
from netwright.engine.project.options.metric_options import of_training

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


OPPOSITES = {">=": "<", "<=": ">", ">": "<=", "<": ">="}


@dataclass(frozen=True)
class RequirementResult:
    """Whether a condition of `--require` holds: the split that it was judged on and the value of the metric there.

    `split` and `value` are None where no split has the metric. A run that has not finished passes no condition.
    """

    requirement: "Requirement"
    split: str | None
    value: float | None
    state: str = "finished"

    @property
    def passed(self) -> bool:
        """True if the run has finished and the value meets the condition. False for a missing value or NaN."""
        if self.value is None or self.state != "finished":
            return False
        return OPERATORS[self.requirement.sign](self.value, self.requirement.limit)

    @property
    def text(self) -> str:
        """What holds, such as `test accuracy 0.974 < 0.98`."""
        asked = self.requirement
        name = " ".join(filter(None, (self.split or asked.split, asked.name)))
        limit = f"{asked.limit:.15g}"
        if self.value is None or math.isnan(self.value):
            received = "has no value" if self.value is None else "is NaN"
            return f"{name} {received}, required {asked.sign} {limit}"
        value = f"{self.value:.6g}"
        if value == limit and self.value != asked.limit:  # six digits would hide the difference
            value = repr(self.value)
        holds = OPERATORS[asked.sign](self.value, asked.limit)
        return f"{name} {value} {asked.sign if holds else OPPOSITES[asked.sign]} {limit}"

    def write(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return {"text": self.requirement.text, "split": self.split, "value": self.value, "passed": self.passed}


@dataclass(frozen=True)
class Requirement:
    """Condition of `--require`. With an empty `split` the test split is judged if it has the metric, else
    validation."""

    text: str
    split: str
    name: str
    sign: str
    limit: float

    def judge(self, result: Mapping[str, Any]) -> RequirementResult:
        """Judge the result of a run."""
        state = str(result.get("state", "finished"))
        for split in [self.split] if self.split else ["test", "validation"]:
            if split == "training":
                value = result.get("loss") if self.name == "loss" else (result.get("metrics") or {}).get(self.name)
            else:
                value = (result.get(split) or {}).get(self.name)
            if value is not None:
                return RequirementResult(self, split, float(value), state)
        return RequirementResult(self, self.split or None, None, state)


def parse(text: str) -> Requirement:
    """Parse a requirement such as `accuracy>=0.95`. Raises `UserError`."""
    match = re.fullmatch(r"\s*(?:(\w+)\.)?([\w-]*\w)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*", text)
    if match is None:
        raise UserError(f'--require "{text}": expected a condition such as "accuracy>=0.95" or "validation.loss<0.2".')
    split, name, sign, limit = match.groups()
    if split and split not in SPLITS:
        raise UserError(f"--require \"{text}\": there is no split '{split}'; splits are {', '.join(SPLITS)}.")
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(f"--require \"{text}\": '{limit}' is not a number.")
    return Requirement(text.strip(), split or "", name, sign, number)


def refuse_impossible(requirements: list[Requirement], facts: DatasetInfo, metrics: Sequence[str]) -> None:
    """Raise `UserError` if a requirement is on a metric or split that the run does not have. Called before training."""
    names = ("loss", *metrics)
    for requirement in requirements:
        if requirement.name not in names:
            hint = did_you_mean(requirement.name, names)
            available = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
            raise UserError(
                f'--require "{requirement.text}": this run has {available}, not {requirement.name}.', hint=hint
            )
        if requirement.split == "training" and not of_training(requirement.name):
            message = (
                f"{requirement.name} is measured at validations and test alone. Require validation.{requirement.name}."
            )
            raise UserError(f'--require "{requirement.text}": {message}')
        splits = [requirement.split] if requirement.split else ["test", "validation"]
        if not any(facts.samples.get(split) for split in splits):
            raise UserError(
                f'--require "{requirement.text}": the data has no {" and no ".join(splits)} split.',
                hint=f"Give it a share, or require training.{requirement.name}.",
            )


def write_junit(path: Path, result: Mapping[str, Any], outcomes: Sequence[RequirementResult]) -> None:
    """Write a JUnit XML file with a test case for the training and one per requirement. Raises `UserError`."""
    finished = result["state"] == "finished"
    suite = ElementTree.Element(
        "testsuite",
        name="netwright",
        tests=str(1 + len(outcomes)),
        failures=str(sum(not outcome.passed for outcome in outcomes)),
        errors=str(int(not finished)),
        time=f"{result['seconds']:.3f}",
    )
    case = ElementTree.SubElement(
        suite, "testcase", classname="netwright", name="train", time=f"{result['seconds']:.3f}"
    )
    if not finished:
        ElementTree.SubElement(case, "error", message=_legal(f"{result['state']}: {result['reason']}"))
    for outcome in outcomes:
        asked = outcome.requirement
        name = " ".join(filter(None, (outcome.split, asked.text if not asked.split else asked.text.partition(".")[2])))
        case = ElementTree.SubElement(suite, "testcase", classname="netwright.require", name=_legal(name))
        if not outcome.passed:
            text = outcome.text if finished else f"the run has not finished: {result['state']}"
            ElementTree.SubElement(case, "failure", message=_legal(text))
    if path.is_dir():
        raise UserError(f"--junit {path}: this is a folder.", hint="Name a file in it, such as outcome.xml.")
    try:
        write_atomically(path, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        raise UserError(f"--junit {path} cannot be written: {error.strerror}.") from None


def _legal(text: str) -> str:
    """Replace characters that are not allowed in XML by question marks."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
