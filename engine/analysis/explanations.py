"""Explanations of a run by method, stored in the folder of the run by a hash of their inputs.

`explanations/` of the run folder has, per explanation, a JSON file with what is told and an `.npz` file with arrays.
"""

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis.activations import Found, activations, attention, filters, shown, thumbnails
from netwright.engine.analysis.attributions import attributions, grad_cam, integrated_gradients, occlusion
from netwright.engine.analysis.embeddings import embedding
from netwright.engine.analysis.evaluate import EvaluationData
from netwright.engine.analysis.importance import partial_dependence, permutation
from netwright.engine.analysis.max_activation import STEPS, max_activation
from netwright.engine.analysis.subject import Sample, Subject, Target
from netwright.engine.analysis.word_attributions import index_input, word_gradients, word_occlusion
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.files import read_object, write_atomically, write_checked_json
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.version import VERSION
from netwright.engine.data.loading.data_places import places_of
from netwright.engine.data.sources.source import Array
from netwright.engine.models.open_model import open_model
from netwright.engine.runs.model_files import ModelChoice

FOLDER = "explanations"
FORMAT = 1
LIMIT_BYTES = 2**28


@dataclass(frozen=True)
class Question:
    """A question: a method and its arguments. Methods ignore arguments that they do not take."""

    method: str
    split: str = ""
    """Split of the run's data; empty: test, else validation, else training."""
    place: int = 0
    """Place of the sample in the split, from 0."""
    file: str = ""
    """File whose first sample is explained, instead of one of the data."""
    layer: str = ""
    """Layer by its path of names or ids; empty: one that fits the method."""
    class_name: str = ""
    """Class, label or number; empty: the answer of the network."""
    column: str = ""
    reduction: str = "pca"
    window: int = 0
    """Side of the occluding window; 0 chooses one."""
    steps: int = STEPS
    """Steps of the gradient ascent."""


@dataclass(frozen=True)
class Method:
    """A method of explanation: its title, the fields of a question that it takes, and its function."""

    title: str
    takes: tuple[str, ...]
    answer: Callable[[Subject, Question, Sample | None], Found]


def _targeted(
    explain: Callable[[Subject, Sample, Any, Question], Found],
) -> Callable[[Subject, Question, Sample | None], Found]:
    """Return an answer about the score of one class for a sample, with the picture of the sample."""

    def answer(subject: Subject, question: Question, sample: Sample | None) -> Found:
        assert sample is not None
        target = subject.target(question.class_name, sample.inputs)
        findings = explain(subject, sample, target, question)
        findings.told["target"] = target.name
        return findings

    return answer


def _of_sample(explain: Callable[[Subject, Sample, str], Found]) -> Callable[[Subject, Question, Sample | None], Found]:
    def answer(subject: Subject, question: Question, sample: Sample | None) -> Found:
        assert sample is not None
        return explain(subject, sample, question.layer)

    return answer


def _gradients(subject: Subject, sample: Sample, target: Target, _: Question) -> Found:
    if (number := index_input(subject)) is not None:
        return word_gradients(subject, sample, number, target)
    return integrated_gradients(subject, sample, target)


def _occlusion(subject: Subject, sample: Sample, target: Target, question: Question) -> Found:
    if (number := index_input(subject)) is not None:
        return word_occlusion(subject, sample, number, target)
    return occlusion(subject, sample, target, question.window)


SAMPLE = ("split", "place", "file")
METHODS: Mapping[str, Method] = {
    "gradcam": Method(
        "Grad-CAM", (*SAMPLE, "layer", "class_name"), _targeted(lambda s, x, to, asked: grad_cam(s, x, to, asked.layer))
    ),
    "integrated_gradients": Method(
        "Integrated gradients",
        (*SAMPLE, "class_name"),
        _targeted(_gradients),
    ),
    "occlusion": Method(
        "Occlusion",
        (*SAMPLE, "class_name", "window"),
        _targeted(_occlusion),
    ),
    "activations": Method("Activations", (*SAMPLE, "layer"), _of_sample(activations)),
    "filters": Method("Filters", ("layer",), lambda s, asked, x: filters(s, asked.layer)),
    "max_activation": Method(
        "Maximum activation",
        ("layer", "class_name", "steps"),
        lambda s, asked, x: max_activation(s, asked.class_name, asked.layer, asked.steps),
    ),
    "permutation": Method("Permutation importance", ("split",), lambda s, asked, x: permutation(s)),
    "partial_dependence": Method(
        "Partial dependence", ("split", "column"), lambda s, asked, x: partial_dependence(s, asked.column)
    ),
    "attention": Method("Attention", (*SAMPLE, "layer"), _of_sample(attention)),
    "embedding": Method(
        "Embedding",
        ("split", "layer", "reduction"),
        lambda s, asked, x: embedding(s, asked.layer, asked.reduction),
    ),
    "sample": Method("Sample", SAMPLE, lambda s, asked, x: shown(s, x or s.sample(0))),
    "thumbnails": Method("Activations on the canvas", SAMPLE, lambda s, asked, x: thumbnails(s, x or s.sample(0))),
    "attributions": Method(
        "Attribution on the canvas", (*SAMPLE, "class_name"), _targeted(lambda s, x, to, asked: attributions(s, x, to))
    ),
}
"""`sample`, `thumbnails` and `attributions` are for the window alone."""


@dataclass(frozen=True)
class Explanation:
    """An answer: facts as JSON, arrays by name, and whether it was stored before. `file` has the arrays;
    None where the run's folder cannot be written."""

    told: Mapping[str, Any]
    arrays: Mapping[str, Array]
    cached: bool = False
    file: Path | None = None


_kept: dict[tuple[ModelChoice, Hashable, str, EvaluationData | None], Subject] = {}


def subject_of(choice: ModelChoice, split: str = "", other: EvaluationData | None = None) -> Subject:
    """Return the network of a model with its samples, that of the call before where the files are the same; of another
    checkpoint with the data that was opened then. Raises `UserError`."""
    key = (choice, choice.stamps, split, other)
    if key not in _kept:
        before = list(_kept.items())
        _kept.clear()  # one at a time: data and networks are large
        _kept[key] = Subject(open_model(choice), split, other)
        for (choice_before, _, *samples), subject in before:
            if [replace(choice_before, iteration=choice.iteration), *samples] == [choice, split, other]:
                _kept[key].take_data(subject)
    return _kept[key]


def explain(subject: Subject, question: Question, *, fresh: bool = False) -> Explanation:
    """Answer a question about a run; from its folder where the answer is known. Raises `UserError`."""
    method = METHODS.get(question.method)
    if method is None:
        hint = did_you_mean(question.method, METHODS)
        raise UserError(f"There is no method '{question.method}'.{hint} Choose one of {', '.join(METHODS)}.")
    folder = subject.trained.kept_in(FOLDER)
    key = _key(subject, question, method) if folder is not None else ""
    if folder is not None and not fresh and (cached := _known(folder, key)) is not None:
        return cached
    sample = None
    if "place" in method.takes:
        sample = subject.sample_of(Path(question.file)) if question.file else subject.sample(question.place)
    findings = method.answer(subject, question, sample)
    if sample is not None:
        findings.told |= subject.compared(sample)
        if (picture := subject.picture(sample)) is not None:
            findings.arrays["picture"] = picture
    notes = [*findings.told.pop("notes", []), *dict.fromkeys(subject.notes)]
    facts = {"format": FORMAT, "method": question.method, "title": method.title, **findings.told, "notes": notes}
    facts["arrays"] = {name: list(array.shape) for name, array in findings.arrays.items()}
    facts["weights"] = subject.trained.kept
    plain = json.loads(json.dumps(to_json(facts)))
    if folder is None:
        return Explanation(plain, findings.arrays)
    written, file = None, folder / f"{key}.npz"
    with contextlib.suppress(OSError):  # a run folder that cannot be written is explained all the same
        folder.mkdir(exist_ok=True)
        write_atomically(file, packed(findings.arrays), mode=0o600, follow_link=False)
        write_checked_json(folder / f"{key}.json", plain, follow_link=False)
        written = file
    return Explanation(plain, findings.arrays, file=written)


def packed(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as the content of an .npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # numpy's stub takes `allow_pickle` for one of them
    return buffer.getvalue()


def _known(folder: Path, key: str) -> Explanation | None:
    with contextlib.suppress(OSError, ValueError, KeyError):
        facts = read_object(folder / f"{key}.json", LIMIT_BYTES, may_be_deep=True)
        if facts is None or facts.get("format") != FORMAT:
            return None
        file = folder / f"{key}.npz"
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in facts["arrays"]}
        return Explanation(facts, arrays, cached=True, file=file)
    return None


def _key(subject: Subject, question: Question, method: Method) -> str:
    """Return the hash of the inputs of an answer."""
    values = {name: value for name, value in asdict(question).items() if name in method.takes}
    trained = subject.trained
    options, base = subject.options, subject.base
    parts: list[Any] = [FORMAT, VERSION, question.method, trained.hash, values]
    if question.file and "file" in method.takes:
        parts.append(_hash_of(Path(question.file)))
    if options.source != "none":
        record = trained.data_record if subject.is_own_data else None
        parts += [options.write(), [place.write() for place in places_of(options, base)]]
        parts.append(record.split_hash if record is not None else "")
    return hashlib.sha256(json.dumps(to_json(parts), sort_keys=True).encode()).hexdigest()[:32]


def _hash_of(file: Path) -> str:
    """Return the hash of a file. Raises `UserError`."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror or error}.") from None
