"""Words of a text and what each adds, on a bag of embeddings, whose answer is linear in them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.analysis.explanations import Question, explain
from netwright.engine.analysis.word_attributions import words_of
from netwright.engine.cli.main import main
from netwright.engine.data.sources.tokens import fit_pieces, token_names
from netwright.engine.project.preparation import InputPreparation, TextPreparation
from tests.builders import chain, layer
from tests.engine.analysis.test_explain import opened, trained
from tests.json_schema import checked_output

SPOKEN = ("a crane is good", "the crane leaks bad oil", "bad oil", "good press", "the press is bad", "a good crane")


def input_of(text: TextPreparation | None) -> InputPreparation:
    return InputPreparation(name="x", reads="text" if text else "array", axes=("T",), sizes=(None,), text=text)


@pytest.fixture(scope="module", params=["word", "byte"])
def texts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a linear network on texts: the mean of the vectors of the tokens, and a score per class."""
    folder = tmp_path_factory.mktemp("texts")
    rows = [f"{text},{'bad' if 'bad' in text else 'good'}" for text in SPOKEN * 6]
    (folder / "a.csv").write_text("\n".join(["text,kind", *rows]))
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=256 if request.param == "byte" else 11, dimension=4),
        layer("global_average_pool"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    data = {"source": "text", "path": str(folder / "a.csv"), "response": "kind", "tokens": request.param}
    return trained(folder, network, data, max_epochs=6, solver="adam", initial_learn_rate=0.05)


@pytest.mark.parametrize("method", ["integrated_gradients", "occlusion"])
def test_a_word_adds_what_its_vectors_add_to_a_linear_answer(texts: Path, method: str) -> None:
    subject = opened(texts)
    found = explain(subject, Question(method, place=1, class_name="bad"))
    table = next(
        weights for name, weights in subject.module.named_parameters() if weights.shape[-1] == 4 and "emb" in name
    )
    scores = next(weights for name, weights in subject.module.named_parameters() if weights.shape == (2, 4))
    tokens = subject.sample(1).inputs[0][0]
    part = subject.record.inputs[0]
    assert part.text is not None
    hidden = 32 if part.text.tokens == "byte" else 0
    each = ((table[tokens] - table[hidden]) @ scores[0 if subject.target("bad", None).place == 0 else 1]) / len(tokens)
    expected = [float(each[places].sum()) for _, places in words_of(part, tokens.tolist())]
    assert found.arrays["attribution"] == pytest.approx(np.array(expected), abs=1e-5)
    said = [one["word"] for one in found.told["words"]]
    assert " ".join(said) in SPOKEN
    if method == "integrated_gradients":
        assert abs(found.told["convergence_delta"]) < 1e-4


def test_words_are_printed_and_written(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", str(texts), "--method", "occlusion", "--sample", "1", "-o", str(tmp_path / "a.csv")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    assert any(line in SPOKEN for line in printed)
    assert main([*arguments, "--json"]) == 0
    told = checked_output(capsys.readouterr().out)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [row["word"] for row in rows] == [one["word"] for one in told["words"]]
    assert main(["explain", str(texts), "--method", "occlusion", "-o", str(tmp_path / "a.png"), "--json"]) == 2
    assert "is a table of numbers and no picture here" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_integrated_gradients_need_vectors_of_words(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(60).reshape(20, 3) % 5, y=np.arange(20) % 2)
    network = chain(
        layer("sequence_input", content="indices", length=3),
        layer("one_hot", classes=5),
        layer("global_average_pool"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    subject = opened(trained(tmp_path, network, {"source": "arrays", "path": str(tmp_path / "a.npz")}))
    found = explain(subject, Question("integrated_gradients"))
    other = explain(subject, Question("occlusion"))
    assert found.arrays["attribution"] == pytest.approx(other.arrays["attribution"], abs=1e-5)
    assert [one["word"] for one in found.told["words"]] == [str(int(n)) for n in subject.sample(0).inputs[0][0]]
    assert found.told["baseline"] == "index 0"


def test_tokens_are_grouped_to_words() -> None:
    of_bytes = input_of(TextPreparation(tokens="byte", vocabulary=256))
    spoken = list("Größe 7\nist  gut".encode())
    assert [text for text, _ in words_of(of_bytes, spoken)] == ["Größe", "7", "ist", "gut"]
    assert sorted(place for _, places in words_of(of_bytes, spoken) for place in places) == list(range(len(spoken)))
    assert words_of(of_bytes, []) == []
    pieces = fit_pieces(["the crane leaks", "the cranes leak"] * 3, 270)
    names = token_names(pieces)
    tokens = [names.index(name) for name in ("t", "h", "e", "Ġ", "c", "r", "Ġ", "o")]
    assert [text for text, _ in words_of(input_of(pieces), tokens)] == ["the", "cr", "o"]
    assert words_of(input_of(None), [3, 1]) == [("3", [0]), ("1", [1])]
