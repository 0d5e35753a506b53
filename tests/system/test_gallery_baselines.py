"""Simple answers to the examples that the engine does not compute itself, beside which `docs/gallery.md` puts the
networks: on the same splits."""

import re
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import Split
from netwright.engine.project.file import load as load_project

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "resources" / "examples"


def splits(name: str) -> tuple[Split, Split]:
    """The training and the test split of an example."""
    data = load(load_project(EXAMPLES / f"{name}.netwright").project.data, EXAMPLES)
    return data.split("training"), data.split("test")


def stated(name: str) -> float:
    """The baseline in the table of the gallery."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| \[`{name}`\].*\|.*\|.*\| ([\d.,]+)", page, re.MULTILINE)
    assert row is not None, name
    return float(row[1].replace(",", ""))


def one_hot(split: Split) -> np.ndarray:
    """A column of numbers and columns of indices as one table of normalised numbers and zeros and ones."""
    numbers, *categories = split.inputs
    columns = [np.eye(20)[column[:, 0]] for column in categories]
    return np.concatenate([(numbers - numbers.mean(0)) / numbers.std(0), *columns, np.ones((len(numbers), 1))], axis=1)


def counts_of_words(split: Split) -> np.ndarray:
    """How often each word is in each text."""
    (words,), (lengths,) = split.inputs, split.lengths
    assert lengths is not None
    return np.stack([np.bincount(row[:length], minlength=2000) for row, length in zip(words, lengths, strict=True)])


def test_most_pixels_of_the_shapes_are_ground() -> None:
    _, test = splits("shapes")
    mask = test.targets[0]
    assert 100 * (mask[mask >= 0] == 0).mean() == pytest.approx(stated("shapes"), abs=0.05)


def test_principal_components_restore_the_digits() -> None:
    training, test = (split.targets[0].reshape(len(split.targets[0]), -1).astype(float) for split in splits("codes"))
    mean = training.mean(axis=0)
    axes = np.linalg.svd(training - mean, full_matrices=False)[2][:10]
    restored = (test - mean) @ axes.T @ axes + mean
    assert np.sqrt(((restored - test) ** 2).mean()) == pytest.approx(stated("codes"), abs=0.0005)


def test_a_linear_model_of_the_categories_of_the_orders() -> None:
    training, test = splits("orders")
    inputs, wanted = one_hot(training), np.eye(2)[training.targets[0]]
    weights = np.linalg.solve(inputs.T @ inputs + np.eye(inputs.shape[1]), inputs.T @ wanted)
    answers = (one_hot(test) @ weights).argmax(axis=1)
    assert 100 * (answers == test.targets[0]).mean() == pytest.approx(stated("orders"), abs=0.05)


def test_the_words_of_the_reports_without_their_order() -> None:
    """Naive Bayes."""
    training, test = splits("reports")
    counts, kinds = counts_of_words(training), np.eye(4)[training.targets[0]]
    shares = np.log(kinds.T @ counts + 1) - np.log((kinds.T @ counts + 1).sum(axis=1, keepdims=True))
    answers = (counts_of_words(test) @ shares.T + np.log(kinds.mean(axis=0))).argmax(axis=1)
    assert 100 * (answers == test.targets[0]).mean() == pytest.approx(stated("reports"), abs=0.05)


def test_the_mean_spectrogram_of_each_instrument() -> None:
    """The class whose mean, over training sounds, is nearest."""
    training, test = splits("sounds")
    sounds, others = (np.asarray(split.inputs[0][:]).reshape(len(split.targets[0]), -1) for split in (training, test))
    means = np.stack([sounds[training.targets[0] == kind].mean(axis=0) for kind in range(6)])
    answers = ((others[:, None] - means) ** 2).sum(axis=-1).argmin(axis=1)
    assert 100 * (answers == test.targets[0]).mean() == pytest.approx(stated("sounds"), abs=0.05)


def test_the_letter_that_follows_two_letters_most_often() -> None:
    training, test = splits("recipes")
    follows = np.zeros((256 * 256, 256))
    for split in (training, test):
        (letters,), wanted = split.inputs, split.targets[0]
        pairs, after = 256 * letters[:, :-1] + letters[:, 1:], wanted[:, 1:]
        counted = after >= 0
        if split is training:
            np.add.at(follows, (pairs[counted], after[counted]), 1)
        else:
            share = (follows.argmax(axis=1)[pairs[counted]] == after[counted]).mean()
            assert 100 * share == pytest.approx(stated("recipes"), abs=0.05)
