"""Answers of the network for some validation samples, kept at each validation: `answers/` of the run folder.

    answers.json
    {"samples": {"17": {"sample": "cat/17.png", "kind": "pictures", "file": "sample-17/sample_000.png", ...}},
     "steps": [{"iteration": 40, "epoch": 4, "answers": [{"index": 17, "row": {...}, "view": {...}}]}]}

`row` is what a table tells of an answer (`label`, `prediction`, `confidence`, `loss`), `view` what is drawn of it. What
both and `samples` hold is that of `netwright.engine.analysis.sample_views.look`, with the paths of pictures relative to
`answers/`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netwright.engine.core.files import number_in, read_object
from netwright.engine.core.finite_json import from_json
from netwright.engine.runs.kept_steps import LIMIT_BYTES, has_place, path_inside

FOLDER, FILE = "answers", "answers.json"
PICTURES = ("file", "mask", "target", "said", "wrong")
"""Keys of paths."""


@dataclass(frozen=True)
class WatchedStep:
    """The answers at one validation."""

    iteration: int
    epoch: int
    answer: Mapping[str, Any] = field(repr=False)
    """As that of `netwright.engine.analysis.sample_views.look`: `rows`, and `pictures` or `series`."""


@dataclass(frozen=True)
class Content:
    """Content of the file: what is shown of each sample, by its index in the source, and the answers, as JSON."""

    samples: dict[str, dict[str, Any]] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)


def read_content(folder: Path) -> Content:
    """Return the content of the file in a folder of answers; an empty one where it is missing or damaged. Raises
    `OSError`."""
    content = read_object(folder / FILE, LIMIT_BYTES, may_be_deep=True) or {}
    samples, steps = content.get("samples"), content.get("steps")
    if not isinstance(samples, dict) or not isinstance(steps, list):
        return Content()
    named = {name: sample for name, sample in samples.items() if isinstance(sample, dict)}
    return Content(from_json(named), [from_json(step) for step in steps if isinstance(step, dict) and is_whole(step)])


def read_watched(run: Path) -> list[WatchedStep]:
    """Return the answers that a run has kept, in order; none where the file is missing or damaged. Raises `OSError`."""
    folder = run / FOLDER
    content = read_content(folder)
    return [step for entry in content.steps if (step := _step(entry, content.samples, folder)) is not None]


def is_whole(step: Mapping[str, Any]) -> bool:
    """Return whether this is a step with an iteration, an epoch and answers for samples."""
    answers = step.get("answers")
    return has_place(step) and (
        isinstance(answers, list)
        and all(isinstance(answer, dict) and type(answer.get("index")) is int for answer in answers)
    )


def _step(entry: Mapping[str, Any], samples: Mapping[str, Mapping[str, Any]], folder: Path) -> WatchedStep | None:
    """Return a step as it is shown; None where nothing of it can be."""
    rows: list[dict[str, Any]] = []
    views: dict[str, list[dict[str, Any]]] = {}
    for answer in entry["answers"]:
        if (sample := samples.get(str(answer["index"]))) is None:
            continue
        rows.append({"index": answer["index"], **_object(answer, "row"), **_named(sample)})
        if (kind := str(sample.get("kind"))) in SHAPES:
            views.setdefault(kind, []).append(dict(_located({**sample, **_object(answer, "view")}, folder)))
    is_sound = all(_fits(row, ROW) for row in rows) and all(
        len(shown) == len(rows) and all(_fits(view, SHAPES[kind]) and view.keys() >= NEEDED[kind] for view in shown)
        for kind, shown in views.items()
    )
    if not rows or not is_sound:
        return None
    return WatchedStep(entry["iteration"], entry["epoch"], {**views, "rows": rows, "total": len(rows)})


def _fits(values: Mapping[str, Any], shape: Mapping[str, Callable[[Any], bool]]) -> bool:
    """Return whether values, which may be a stranger's, can be shown, as far as their keys are known."""
    return all(is_right(values[key]) for key, is_right in shape.items() if key in values)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return number_in(value) is not None


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_named_numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_are_numbers, value.values()))


def _is_answer(value: Any) -> bool:
    return value is None or _is_text(value) or _are_texts(value) or _are_numbers(value)


ROW = {"label": _is_answer, "prediction": _is_answer, "confidence": _is_number, "loss": _is_number}
SHAPES: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "pictures": {
        "file": _is_text,
        "label": _is_text,
        **dict.fromkeys(("mask", "target", "said", "wrong"), _is_text),
        "iou": lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    },
    "series": {
        "values": lambda value: isinstance(value, list) and all(map(_are_numbers, value)),
        "label": _is_text,
        "steps": _are_numbers,
        "channels": _are_texts,
        "ahead": _are_named_numbers,
        "said": _are_named_numbers,
    },
}
NEEDED = {"pictures": {"file", "label"}, "series": {"values", "label"}}


def _object(entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


def _named(sample: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of a sample, and its text where it is one."""
    return {key: str(sample[key]) for key in ("sample", "text") if sample.get(key)}


def _located(view: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the items of a view, paths of pictures in `folder`; one that leads out of it is left empty."""
    for key, value in view.items():
        yield key, path_inside(folder, value) if key in PICTURES and isinstance(value, str) else value
