"""Word and letter error rates of transcripts, against a table of edits that is filled in here."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from netwright.engine.analysis.evaluate import Evaluation
from netwright.engine.analysis.passes import pass_for
from netwright.engine.analysis.predictors import ModelPredictor
from netwright.engine.analysis.sample_views import look
from netwright.engine.cli.main import main
from netwright.engine.core.types import sequence
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.models.open_model import open_model
from netwright.engine.models.trained_model import Model
from netwright.engine.project.dataset_info import IGNORED, TargetInfo
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train
from tests.system.test_training_kinds import project_of

LETTERS = ("a", "b", " ", "é")


def edits(true: Sequence[str], said: Sequence[str]) -> int:
    """The fewest substitutions, deletions and insertions."""
    row = list(range(len(said) + 1))
    for place, sign in enumerate(true, 1):
        before, row = row, [place]
        for column, other in enumerate(said, 1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (sign != other)))
    return row[-1]


def rates(pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """The error rates of words and characters of true and predicted texts."""
    words = [(true.split(), said.split()) for true, said in pairs]
    signs = [(true.strip(" "), said.strip(" ")) for true, said in pairs]
    wer, cer = (
        sum(edits(*pair) for pair in both) / max(1, sum(len(true) for true, _ in both)) for both in (words, signs)
    )
    return wer, cer


def scored(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], classes: Sequence[str], **options: Any) -> Any:
    """The scores of true and predicted classes, each of these a step with a blank behind; the blank is the last
    channel."""
    longest = max(1, *(len(true) for true, _ in pairs))
    steps = max(1, *(2 * len(said) for _, said in pairs))
    target = np.full((len(pairs), longest), IGNORED)
    output = np.zeros((len(pairs), steps, len(classes) + 1), np.float32)
    output[:, :, -1] = 1
    for place, (true, said) in enumerate(pairs):
        target[place, : len(true)] = [classes.index(name) for name in true]
        for step, name in enumerate(said):
            output[place, 2 * step, classes.index(name)] = 2
    info = TargetInfo("y", sequence(1, len(classes) + 1).opened(), "transcripts", tuple(classes))
    of_pass = pass_for(info, 24, is_blank_first=False, **options)
    half = (len(pairs) + 1) // 2
    for begin, part in ((0, slice(0, half)), (half, slice(half, None))):
        if len(output[part]):
            of_pass.update(output[part], target[part], begin)
    return of_pass


@pytest.mark.parametrize(
    ("true", "said", "wer", "cer"),
    [
        ("ab ba", "ab ba", 0, 0),
        ("ab ba", "ab b", 1 / 2, 1 / 5),
        ("ab ba", "abba", 1, 1 / 5),  # a space less: one word is another, one is missing
        ("a", "b a b", 2, 4),
        ("éa", "ea", 1, 1 / 2),
        ("ab a", "", 1, 1),  # blanks alone
        ("", "a b", 2, 3),  # of no words at all: the number of edits
        ("", "", 0, 0),
    ],
)
def test_small_cases(true: str, said: str, wer: float, cer: float) -> None:
    found = scored([(true, said)], (*LETTERS, "e")).result()
    assert (found["wer"], found["cer"]) == pytest.approx((wer, cer)) == rates([(true, said)])


@given(st.lists(st.tuples(st.text(LETTERS, max_size=9), st.text(LETTERS, max_size=9)), min_size=1, max_size=8))
def test_random_texts(pairs: list[tuple[str, str]]) -> None:
    of_pass = scored(pairs, LETTERS)
    found, each = of_pass.result(), of_pass.each()
    assert (found["wer"], found["cer"]) == pytest.approx(rates(pairs))
    assert each["loss"].tolist() == pytest.approx([rates([pair])[1] for pair in pairs])
    assert found["worst"][0]["error"] == pytest.approx(max(each["loss"]))
    for name in ("wer", "cer"):
        low, high = found[f"{name}_interval"]
        assert 0 <= low <= high


def test_classes_of_more_letters_are_words() -> None:
    found = scored([(("yes", "no", "yes"), ("yes", "yes"))], ("no", "yes")).result()
    assert (found["wer"], found["cer"]) == pytest.approx((1 / 3, 3 / len("yes no yes")))
    assert (found["worst"][0]["label"], found["worst"][0]["prediction"]) == ("yes no yes", "yes yes")


def test_of_numbered_classes_no_digits_are_counted() -> None:
    found = scored([(("10", "3", "7"), ("11", "3", "7"))], tuple(map(str, range(12)))).result()
    assert found["wer"] == pytest.approx(1 / 3)
    assert "cer" not in found


def test_a_letter_has_its_marks() -> None:
    classes = ("a", "e\u0301", "\u0915\u093f")  # a letter with an accent, one with a vowel sign
    found = scored([(classes, classes[:2])], classes).result()
    assert (found["wer"], found["cer"]) == pytest.approx((1, 2 / 5))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that reads letters off pulses, of sequences of different lengths, after a few steps."""
    folder = tmp_path_factory.mktemp("letters")
    random = np.random.default_rng(5)
    counts = random.integers(1, 6, 90)
    lengths = 2 * counts - 1 + random.integers(0, 3, 90)
    x = random.normal(scale=0.3, size=(90, 12, 3)).astype(np.float32)
    text = np.full((90, 5), "a")
    for sample, count in enumerate(counts):
        letters = random.integers(0, 3, count)
        text[sample, :count] = np.array(["a", " ", "é"])[letters]
        x[sample, 2 * np.arange(count), letters] += 1.5
    np.savez(folder / "data.npz", x=x, x_lengths=lengths, y=text, y_lengths=counts)
    network = chain(
        layer("sequence_input", channels=3), layer("gru", hidden_units=12), layer("fully_connected", outputs=4)
    )
    training = {
        "solver": "adam",
        "initial_learn_rate": 0.03,
        "mini_batch_size": 15,
        "max_epochs": 12,
        "ctc_blank": "last",
    }
    data = {"source": "arrays", "path": str(folder / "data.npz")}
    done = train(project_of(network, data, {}, training), folder / "run")
    assert done.result["state"] == "finished", done.result
    return folder / "run"


def pairs_of(model: Model) -> list[tuple[str, str]]:
    """True texts and those that `predict` says, of the test split, each sequence without padding."""
    data = Evaluation(model, "test", None).data
    part, predictor = data.split("test"), ModelPredictor(model)
    lengths = part.lengths[0] if part.lengths else None
    assert lengths is not None
    classes = data.facts.classes
    pairs = []
    for row, length, target in zip(part.inputs[0], lengths, part.targets[0], strict=True):
        (answers,) = present(predictor.record, predictor.outputs((row[None, :length],)))
        true = "".join(classes[number] for number in target[target != IGNORED])
        pairs.append((true, "".join(answers.sample(0))))
    return pairs


def test_evaluate_tells_the_rates_of_what_predict_says(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(run), "--html", str(tmp_path / "report.html"), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    pairs = pairs_of(open_model(run))
    wer, cer = rates(pairs)
    assert found["metrics"] == pytest.approx({"wer": wer, "cer": cer})
    assert 0 < cer < 0.7
    (target,) = found["targets"]
    assert target["cer_interval"][0] <= cer <= target["cer_interval"][1]
    worst = target["worst"][0]
    assert (worst["label"], worst["prediction"]) in pairs
    assert main(["evaluate", str(run)]) == 0
    lines = capsys.readouterr().out
    assert f"CER: {100 * cer:.1f} %" in lines
    assert "95 % interval of the WER: " in lines
    assert "<td>CER</td>" in (tmp_path / "report.html").read_text(encoding="utf-8").replace(' class="number"', "")


def test_padding_is_not_read(run: Path, tmp_path: Path) -> None:
    """Batches pad; `predict` sees single sequences: the texts are the same, also of a network that writes a letter
    where it sees nothing."""
    model = open_model(shutil.copytree(run, tmp_path / "run"))
    for module in (*model.scoring.modules(), *model.answering.modules()):
        if isinstance(module, nn.Linear):
            for weights in (module.weight.data, module.bias.data):
                weights.copy_(weights[[3, 1, 2, 0]])  # the blank is a letter, and a letter the blank
    _, samples = Evaluation(model, "test", None).result(fresh=True)
    texts = zip(samples.outputs[0]["label"].tolist(), samples.outputs[0]["prediction"].tolist(), strict=True)
    assert list(texts) == pairs_of(model)


def test_the_samples_to_look_at_have_their_texts(run: Path, tmp_path: Path) -> None:
    found = look(Evaluation(open_model(run), "test", None), {"count": 3}, tmp_path)
    assert [(row["label"], row["prediction"]) for row in found["rows"]] == sorted(
        pairs_of(open_model(run)), key=lambda pair: -rates([pair])[1]
    )[:3]


def test_comparisons_have_the_rates(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(run), "--against", str(run), "--json"]) == 0
    metrics = checked_output(capsys.readouterr().out)["targets"][0]["metrics"]
    assert [metric["name"] for metric in metrics] == ["wer", "cer"]
    assert metrics[0]["difference"] == 0


def test_without_the_library_a_note_says_how_to_install_it(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(run), "--json"]) == 0
    whole = checked_output(capsys.readouterr().out)
    monkeypatch.setitem(sys.modules, "jiwer", None)
    assert main(["evaluate", str(run), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert found["loss"] == pytest.approx(whole["loss"])
    assert (found["metrics"], whole["notes"]) == ({}, [])
    assert 'pip install "netwright[text]"' in found["notes"][0]
    monkeypatch.undo()
    assert main(["evaluate", str(run), "--json"]) == 0
    assert "wer" in checked_output(capsys.readouterr().out)["metrics"]
