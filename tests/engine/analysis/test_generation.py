"""Text that a language model writes: against a decoder written here, with and without a cache, stopped, streamed."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import netwright as nw
from netwright.engine.analysis.evaluate import Evaluation
from netwright.engine.analysis.generation import LanguageModel, Writer, generate
from netwright.engine.analysis.operations.generate import WRITTEN, GenerateRequest
from netwright.engine.analysis.predictors import open_predictor
from netwright.engine.cli.main import main
from netwright.engine.cli.request_handlers import answer
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.export import export
from netwright.engine.models.open_model import open_model
from netwright.engine.operations.operation import run_operation
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation, TextPreparation
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train

LINES = [f"{'red' if n % 2 else 'blue'} bird{'s' * (n % 3)} é sings {n % 7} times." for n in range(60)]
WINDOW = 40


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that predicts the next byte of lines, after a few steps."""
    folder = tmp_path_factory.mktemp("writing")
    (folder / "birds.txt").write_text("\n".join(LINES), encoding="utf-8")
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=256, dimension=16),
        layer("position_embedding", positions=WINDOW),
        layer("self_attention", heads=2, mask="causal"),
        layer("layer_norm"),
        layer("fully_connected", outputs=256),
        layer("softmax"),
    )
    project = Project(network)
    data = project.data.replace(
        source="text", path=str(folder / "birds.txt"), tokens="byte", text_samples="lines", block_length=WINDOW
    )
    training = project.training.replace(max_epochs=6, solver="adam", initial_learn_rate=0.02, mini_batch_size=8)
    environment = project.environment.replace(target="cpu", threads=1)
    train(replace(project, data=data, training=training, environment=environment), folder / "run")
    return folder / "run"


def written(run: Path, prompt: str = "red b", **options: Any) -> str:
    return "".join(piece["text"] for piece in generate(GenerateRequest(model=run, prompt=prompt, **options)).pieces)


def reference(run: Path, prompt: str, length: int) -> bytes:
    """The likeliest bytes, each of a whole pass."""
    model, tokens = open_model(run), list(prompt.encode())
    for _ in range(length):
        with torch.no_grad():
            shares = model.answering(torch.tensor([tokens]))
        tokens.append(int(shares[0, -1].argmax()))
    return bytes(tokens[len(prompt.encode()) :])


def test_greedy_text_is_that_of_a_plain_decoder(run: Path) -> None:
    expected = reference(run, "red b", 25).decode()
    assert written(run, length=25, temperature=0.0) == expected
    assert len(expected) > 20
    assert written(run, length=25, temperature=0.0, no_cache=True) == expected


@pytest.mark.parametrize("options", [{}, {"top_k": 5}, {"top_p": 0.8, "temperature": 0.7}])
def test_the_tokens_are_the_same_without_a_cache(run: Path, options: dict[str, Any]) -> None:
    def tokens(**more: Any) -> list[int]:
        result = generate(GenerateRequest(model=run, prompt="red b", length=3 * WINDOW, seed=5, **options, **more))
        assert result.has_cache != more["no_cache"]
        return [piece["token"] for piece in result.pieces]

    assert tokens(no_cache=False) == tokens(no_cache=True)  # over the end of the window, too


def test_an_onnx_file_writes_the_same_text(run: Path) -> None:
    file = run.parent / "birds.onnx"
    export(run, "onnx", file)
    assert written(file, length=20, temperature=0.0) == written(run, length=20, temperature=0.0)


def test_a_seed_writes_the_same_text_again(run: Path) -> None:
    texts = [written(run, seed=seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_writing_ends_before_a_stop(run: Path) -> None:
    whole = written(run, length=60, temperature=0.0)
    stop = whole[10:13]
    result = generate(GenerateRequest(model=run, prompt="red b", length=60, temperature=0.0, stop=("none", stop)))
    text = "".join(piece["text"] for piece in result.pieces)
    assert (text, result.stopped) == (whole[: whole.index(stop)], "stop")


def test_a_beam_is_no_less_likely_than_the_greedy_text(run: Path) -> None:
    model = LanguageModel(open_predictor(run))

    def likelihood(text: str) -> float:
        tokens, total = list(b"red b"), 0.0
        for token in text.encode():
            total += float(np.log(np.exp(model.scores_of([tokens])[0]))[token])
            tokens.append(token)
        return total

    greedy, wide = written(run, length=8, temperature=0.0), written(run, length=8, beams=6)
    assert likelihood(wide) >= likelihood(greedy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prompt": ""}, "has no tokens"),
        ({"prompt": "a", "top_p": 0.0}, "above 0"),
        ({"prompt": "a", "temperature": -1.0}, "from 0 on"),
        ({"prompt": "a", "source": "1 2"}, "Leave out the source"),
    ],
)
def test_what_cannot_be_written_is_refused_in_words(run: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(run_operation("generate", model=run, **options).pieces)


def test_the_command_prints_text_json_and_rows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", str(run), "red b", "--length", "12", "--temperature", "0"]
    assert main(arguments) == 0
    expected = written(run, length=12, temperature=0.0)
    assert capsys.readouterr().out == f"red b{expected}\n"
    assert main([*arguments, "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    assert (found["text"], found["stopped"], found["has_cache"]) == (expected, "length", True)
    assert "".join(piece["text"] for piece in found["pieces"]) == expected
    assert main([*arguments, "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 13


def test_a_script_is_told_each_piece(run: Path) -> None:
    pieces: list[str] = []
    text = nw.generate(run, "red b", pieces.append, length=12, temperature=0.0)
    assert text == "".join(pieces) == written(run, length=12, temperature=0.0)
    assert nw.generate(run, "red b", length=12, temperature=0.0, stop=text[4:6]) == text[: text.index(text[4:6])]
    with pytest.raises(UserError, match="no argument 'top'"):
        nw.generate(run, "red b", top=3)


def test_the_window_reads_the_text_as_it_grows(run: Path, tmp_path: Path) -> None:
    request = {"model": str(run), "prompt": "red b", "length": 9, "folder": str(tmp_path / "live"), "temperature": 0.0}
    result = answer({"id": 1, "do": "generate", "with": request})["result"]
    assert (tmp_path / "live" / WRITTEN).read_text(encoding="utf-8") == result["text"]
    assert len(result["pieces"]) == 9
    json.dumps(result)


def test_evaluate_tells_the_perplexity(run: Path) -> None:
    model = open_model(run)
    evaluation = Evaluation(model, "test", None)
    part = evaluation.data.split("test")
    total, count = 0.0, 0
    for row, target in zip(part.inputs[0], part.targets[0], strict=True):
        real = target[target >= 0]
        with torch.no_grad():
            shares = model.answering(torch.from_numpy(row[None, : len(real)]).long())[0].numpy()
        total -= float(np.log(shares[np.arange(len(real)), real]).sum())
        count += len(real)
    found = evaluation.result()[0]["metrics"]["perplexity"]
    assert found == pytest.approx(np.exp(total / count), rel=1e-4)
    assert 1 < found < 256


def test_predict_says_the_next_bytes_as_text(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run.parent / "two.txt"
    lines.write_text("red bird\nblue birds\n")
    assert main(["predict", str(run), str(lines), "--json"]) == 0
    first, second = (each["outputs"][0] for each in checked_output(capsys.readouterr().out)["predictions"])
    model = open_model(run)
    for output, text in ((first, "red bird"), (second, "blue birds")):
        with torch.no_grad():
            shares = model.answering(torch.tensor([list(text.encode())]))[0]
        assert output["text"] == bytes(shares.argmax(1).tolist()).decode("utf-8", "replace")
    assert main(["predict", str(run), str(lines)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{lines}:1: {first['text']}"


class Steps:
    """A predictor whose next token is the one before plus one, or with a source that of the source."""

    season = longest = 0
    num_devices = 1
    assumed: tuple[str, ...] = ()

    def __init__(self, classes: int, *, has_source: bool = False, text: TextPreparation | None = None) -> None:
        self.count = classes
        part = InputPreparation(
            name="x",
            axes=("T",),
            sizes=(6,),
            content="indices",
            dtype="int64",
            text=text,
            reads="text" if text else "array",
        )
        target = TargetPreparation(
            name="y", task="classes", axes=("T", "C"), sizes=(6, classes), classes=tuple(map(str, range(classes)))
        )
        self.record = Preparation(kind="arrays", inputs=(part,) * (2 if has_source else 1), targets=(target,))

    def pool(self, count: int) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(count)

    def cached(self, most: int) -> None:
        """Have none."""

    def target_picture(self, sample: Path, shape: tuple[int, ...]) -> None:
        """Have none."""

    def outputs(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Give the source back, or count on."""
        assert inputs[-1].shape[1] == 6
        following = inputs[0] if len(inputs) > 1 else (inputs[0] + 1) % self.count
        return [np.eye(self.count)[following]]


def text_of(model: LanguageModel, **options: Any) -> tuple[str, str]:
    writer = Writer(model, GenerateRequest(model=Path("m"), temperature=0.0, **options), 0)
    return "".join(piece["text"] for piece in writer.pieces()), writer.stopped


def test_indices_are_written_as_numbers_and_the_window_moves() -> None:
    text, stopped = text_of(LanguageModel(Steps(20)), prompt="3 4", length=30)
    assert text.split() == [str(n % 20) for n in range(5, 35)]
    assert stopped == "length"
    assert text_of(LanguageModel(Steps(20)), prompt="3 4", stop=("12",)) == (" 5 6 7 8 9 10 11", "stop")
    with pytest.raises(UserError, match="0 to 19"):
        text_of(LanguageModel(Steps(20)), prompt="3 20")


@pytest.mark.parametrize("beams", [1, 3])
def test_a_sequence_to_sequence_network_reads_a_source(beams: int) -> None:
    model = LanguageModel(Steps(20, has_source=True), "5 9 7 2")
    assert text_of(model, prompt="0", stop=("2",), beams=beams) == (" 5 9 7", "stop")


def test_a_network_of_pictures_is_refused() -> None:
    predictor = Steps(20)
    part = InputPreparation(name="x", axes=("C", "H", "W"), sizes=(1, 4, 4))
    predictor.record = replace(predictor.record, inputs=(part,))
    with pytest.raises(UserError, match="cannot write on"):
        LanguageModel(predictor)


def test_words_stand_apart_and_signs_do_not() -> None:
    words = ("a", ".", "\n", "(", ")", "b")
    how = TextPreparation(tokens="word", vocabulary=7, words=words)
    model = LanguageModel(Steps(7, text=how))
    assert model.vocabulary.text([1, 6, 2, 3, 1, 4, 6, 5]) == "a b.\na (b)"
    assert model.vocabulary.barred == (0,)
    assert text_of(model, prompt="b", length=3)[0].strip() != ""


def test_pieces_have_no_end_of_text_behind_a_prompt() -> None:
    tokenizer = Tokenizer(models.WordLevel({"<begin>": 0, "<end>": 1, "a": 2, "b": 3}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<begin> $A <end>", special_tokens=[("<begin>", 0), ("<end>", 1)]
    )
    tokenizer.add_special_tokens(["<begin>", "<end>"])
    how = TextPreparation(tokens="piece", vocabulary=4, tokenizer=tokenizer.to_str())
    vocabulary = LanguageModel(Steps(4, text=how)).vocabulary
    assert vocabulary.tokens("b a") == [0, 3, 2]
    assert vocabulary.text([0, 3, 2, 1]) == "b a"


def test_an_unfinished_character_is_held_back() -> None:
    how = TextPreparation(tokens="byte", vocabulary=256)
    model = LanguageModel(Steps(256, text=how))
    writer = Writer(model, GenerateRequest(model=Path("m"), prompt="a", temperature=0.0, length=3), 0)
    tokens = iter("é!".encode())
    model.scores = lambda _: np.eye(256)[next(tokens)]  # type: ignore
    assert [piece["text"] for piece in writer.pieces()] == ["", "é", "!"]
