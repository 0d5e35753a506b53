"""`--require "accuracy>=0.95"`: conditions on the result of a run, read before it starts."""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.data.facts import PARTS, DataFacts
from engine.errors import UserError, did_you_mean
from engine.project.options.metrics import of_training

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Requirement:
    """One condition. `part` is empty where the text names none: then the test part counts, else validation."""

    text: str
    part: str
    name: str
    sign: str
    limit: float

    def value(self, result: Mapping[str, Any]) -> float | None:
        """The number of the result that is meant, or None where the result has none."""
        if self.part == "training":
            found = result.get("loss") if self.name == "loss" else (result.get("metrics") or {}).get(self.name)
            return None if found is None else float(found)
        for part in [self.part] if self.part else ["test", "validation"]:
            if self.name in (result.get(part) or {}):
                return float(result[part][self.name])
        return None

    def holds(self, result: Mapping[str, Any]) -> bool:
        """Whether the result meets the condition; a missing number or NaN never does."""
        value = self.value(result)
        return value is not None and OPERATORS[self.sign](value, self.limit)

    def verdict(self, result: Mapping[str, Any]) -> str:
        """The condition and what was reached, in words."""
        value = self.value(result)
        return f"required {self.text}, reached {'nothing' if value is None else f'{value:.6g}'}"


def parse(text: str) -> Requirement:
    """One requirement from its text. Raises `UserError`."""
    match = re.fullmatch(r"\s*(?:(\w+)\.)?([\w-]*\w)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*", text)
    if match is None:
        raise UserError(f'--require "{text}": expected a condition such as "accuracy>=0.95" or "validation.loss<0.2".')
    part, name, sign, limit = match.groups()
    if part and part not in PARTS:
        raise UserError(f"--require \"{text}\": there is no part '{part}'; parts are {', '.join(PARTS)}.")
    try:
        number = float(limit)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(f"--require \"{text}\": '{limit}' is not a number.")
    return Requirement(text.strip(), part or "", name, sign, number)


def refuse_impossible(requirements: list[Requirement], facts: DataFacts, metrics: Sequence[str]) -> None:
    """Raise `UserError` for a condition on something that this data will never give, before any training."""
    names = ("loss", *metrics)
    for requirement in requirements:
        if requirement.name not in names:
            hint = did_you_mean(requirement.name, names)
            known = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
            raise UserError(f'--require "{requirement.text}": this run has {known}, not {requirement.name}.{hint}')
        if requirement.part == "training" and not of_training(requirement.name):
            message = (
                f"{requirement.name} is measured at validations and test alone. Require validation.{requirement.name}."
            )
            raise UserError(f'--require "{requirement.text}": {message}')
        parts = [requirement.part] if requirement.part else ["test", "validation"]
        if not any(facts.samples.get(part) for part in parts):
            raise UserError(
                f'--require "{requirement.text}": the data has no {" and no ".join(parts)} part. '
                f"Give it a share, or require training.{requirement.name}."
            )
