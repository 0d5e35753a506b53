"""Texts: tables, folders and files, the kinds of tokens, and vocabularies that only know the training split."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import prepare
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources.text_reader import texts_in
from netwright.engine.data.sources.tokens import decode, words_in
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, DatasetInfo
from netwright.engine.project.preparation import Preparation, TextPreparation
from netwright.engine.project.preparing import preparation_of
from netwright.engine.project.sources.guess import guesses
from tests.builders import chain, layer

OPTIONS = DataOptions(source="text", path="d.csv", validation_share=0.25, test_share=0.25)
WHOLE = {"validation_share": 0.0, "test_share": 0.0}
GOOD, BAD = "What a good film, I liked it!", "Bad. So bad that I left early"


def table(folder: Path, count: int = 24) -> None:
    rows = [
        f'"{GOOD if number % 2 else BAD} word{number}",{"good" if number % 2 else "bad"}' for number in range(count)
    ]
    (folder / "d.csv").write_text("\n".join(["review,label", *rows]) + "\n")


def tokens_of(data: LoadedData, split: str = "training") -> tuple[np.ndarray, np.ndarray]:
    """Tokens and lengths."""
    part = data.split(split)
    lengths = part.lengths[0] if part.lengths else None
    return part.inputs[0], lengths if lengths is not None else np.full(len(part.inputs[0]), part.inputs[0].shape[1])


def test_new_texts_of_a_table_are_read_from_the_column_of_the_training(tmp_path: Path) -> None:
    table(tmp_path)
    data = load(OPTIONS.replace(tokens="byte"), tmp_path)
    how = data.facts.inputs[0].text
    assert how is not None
    assert how.column == "review"
    new, lines = tmp_path / "new.csv", tmp_path / "new.txt"
    new.write_text('id,review\n1,"Good, very"\n2,\n3,"two\nlines"\n')
    lines.write_text("id,review\n\nsecond\n")
    assert list(texts_in(how, new)) == [(2, "Good, very"), (5, "two\nlines")]
    assert list(texts_in(how, lines)) == [(1, "id,review"), (3, "second")]
    new.write_text("id,revue\n1,a\n")
    with pytest.raises(UserError, match=r"no column .review.*'revue'"):
        list(texts_in(how, new))
    assert list(texts_in(replace(how, column=""), new)) == [(1, "id,revue"), (2, "1,a")]


def refused(base: Path, **changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(OPTIONS.replace(**changes), base)
    return str(error.value).replace(str(base), "")


@pytest.mark.parametrize("tokens", ["word", "byte", "piece"])
def test_a_table_with_a_column_of_texts(tmp_path: Path, tokens: str) -> None:
    table(tmp_path)
    data = load(OPTIONS.replace(tokens=tokens, vocabulary_limit=300), tmp_path)
    given = data.facts.inputs[0]
    assert (given.type.layout, given.type.kind, data.facts.classes) == ("tokens", "index", ("bad", "good"))
    assert given.lengths is not None
    assert given.text is not None
    values, lengths = tokens_of(data)
    assert values.dtype == np.int64
    assert values.max() < given.text.vocabulary
    assert (values[np.arange(values.shape[1]) >= lengths[:, np.newaxis]] == 0).all()


def test_words_are_those_of_the_training_split(tmp_path: Path) -> None:
    table(tmp_path)
    data = load(OPTIONS, tmp_path)
    text = data.facts.inputs[0].text
    assert text is not None
    own = {f"word{number}" for number in data.numbers["training"].tolist()}
    assert {word for word in text.words if word.startswith("word")} == own
    assert text.words[0] == "I"  # in every text
    values, lengths = tokens_of(data, "test")
    assert (values[np.arange(len(values)), lengths - 1] == 0).all()
    assert "of the words are not in the vocabulary" in data.facts.notes[-1]


def test_texts_of_the_test_are_encoded_by_the_training_data(tmp_path: Path) -> None:
    table(tmp_path)
    rows = ["review,label", "a new review of the film and more,good", "bad,bad", "!,good"]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    data = load(OPTIONS.replace(test_path="t.csv"), tmp_path)
    assert data.facts.samples == {"training": 18, "validation": 6, "test": 3}
    values, lengths = tokens_of(data, "test")
    assert lengths.tolist() == [8, 1, 1]
    words = ("", *data.facts.inputs[0].text.words)  # type: ignore[union-attr]
    assert [words[place] for place in values[0, :8]] == ["a", "", "", "", "", "film", "", ""]


@pytest.mark.parametrize("tokens", ["word", "byte", "piece"])
def test_the_next_tokens_of_a_file_for_the_test(tmp_path: Path, tokens: str) -> None:
    for name, count in (("d.txt", 60), ("t.txt", 25)):
        (tmp_path / name).write_text("".join(f"the cat sat on mat {number}.\n" for number in range(count)))
    options = OPTIONS.replace(path="d.txt", test_path="t.txt", tokens=tokens, block_length=9, vocabulary_limit=300)
    data = load(options, tmp_path)
    part = data.split("test")
    (x,), (y,) = part.inputs, part.targets
    assert len(x) == data.facts.samples["test"] > 10
    real = y[:, :-1] != IGNORED
    np.testing.assert_array_equal(x[:, 1:][real & (y[:, 1:] != IGNORED)], y[:, :-1][real & (y[:, 1:] != IGNORED)])
    assert y.max() < len(data.facts.targets[0].classes)


def test_the_vocabulary_is_limited_and_may_be_of_lower_case(tmp_path: Path) -> None:
    table(tmp_path)
    text = load(OPTIONS.replace(vocabulary_limit=5, lower_case=True, **WHOLE), tmp_path).facts.inputs[0].text
    assert text is not None
    assert (text.vocabulary, text.words) == (5, ("bad", "i", "!", ","))  # bad: twice in each half


def test_long_texts_are_cut(tmp_path: Path) -> None:
    table(tmp_path)
    data = load(OPTIONS.replace(longest_text=3), tmp_path)
    assert data.facts.inputs[0].lengths is None
    assert data.facts.inputs[0].type.sizes == (3,)
    assert "24 texts of 24 reach 3 tokens, and are cut there." in data.facts.notes


def test_a_folder_of_classes(tmp_path: Path) -> None:
    for name, text in (("bad", BAD), ("good", GOOD)):
        (tmp_path / "d" / name).mkdir(parents=True)
        for number in range(4):
            (tmp_path / "d" / name / f"{number}.txt").write_text(f"{text} {number} é", encoding="latin-1")
    assert "4.txt" not in refused(tmp_path, path="d")
    assert "/d/bad/0.txt, line 1: the byte 0xe9 is not utf-8. Choose the encoding" in refused(tmp_path, path="d")
    data = load(OPTIONS.replace(path="d", text_encoding="latin-1", **WHOLE), tmp_path)
    assert (data.facts.classes, len(tokens_of(data)[0])) == (("bad", "good"), 8)
    assert guesses(tmp_path / "d")[0].reason == "2 subfolders with 8 texts: one class each"


@pytest.mark.parametrize("stride", [0, 5, 20])
def test_blocks_of_bytes_and_the_next_ones(tmp_path: Path, stride: int) -> None:
    content = bytes(range(32, 127)) * 3
    (tmp_path / "d.txt").write_bytes(content)
    data = load(OPTIONS.replace(path="d.txt", tokens="byte", block_length=10, block_stride=stride, **WHOLE), tmp_path)
    assert (data.facts.inputs[0].type.sizes, data.facts.targets[0].type.sizes) == ((10,), (10, 256))
    order = np.argsort(data.numbers["training"])
    (x,), (y,) = data.split("training").inputs, data.split("training").targets
    starts = range(0, len(content) - 10, stride or 10)
    assert [bytes(row.tolist()) for row in x[order].astype(np.uint8)] == [content[at : at + 10] for at in starts]
    assert [bytes(row.tolist()) for row in y[order].astype(np.uint8)] == [content[at + 1 : at + 11] for at in starts]
    assert any("Blocks overlap" in note for note in data.facts.notes) == (stride == 5)
    assert data.facts.warnings == ()


@pytest.mark.parametrize("samples", ["blocks", "lines"])
@pytest.mark.parametrize("tokens", ["word", "piece"])
def test_the_next_words(tmp_path: Path, samples: str, tokens: str) -> None:
    lines = [f"the cat sat on mat {number}, and slept" for number in range(60)]
    (tmp_path / "d.txt").write_text("\n".join(lines) + "\n")
    options = OPTIONS.replace(path="d.txt", tokens=tokens, block_length=12, text_samples=samples, vocabulary_limit=300)
    data = load(options, tmp_path)
    text, target = data.facts.inputs[0].text, data.facts.targets[0]
    assert text is not None
    assert (target.name, target.per, len(target.classes)) == ("next", "step", text.vocabulary)
    for split in ("training", "validation", "test"):
        part = data.split(split)
        (x,), (y,) = part.inputs, part.targets
        real = np.arange(x.shape[1]) < tokens_of(data, split)[1][:, np.newaxis]
        assert (y[~real] == IGNORED).all()
        assert (y[real] >= 0).all()
        inner = real[:, 1:]
        np.testing.assert_array_equal(x[:, 1:][inner], y[:, :-1][inner])
    if tokens == "word":
        assert 20 < sum(name.isdigit() for name in target.classes) < 60  # numbers of lines of the training split alone


def test_a_tokenizer_of_a_file(tmp_path: Path) -> None:
    table(tmp_path)
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "film": 1, "bad": 7}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.save(str(tmp_path / "tokenizer.json"))
    options = OPTIONS.replace(tokens="file", tokenizer_file="tokenizer.json", **WHOLE)
    data = load(options, tmp_path)
    values, _ = tokens_of(data)
    assert data.facts.inputs[0].text.vocabulary == 8  # type: ignore[union-attr]
    assert set(np.unique(values)) == {0, 1, 7}
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    assert "/tokenizer.json is no tokenizer of the library tokenizers: " in refused(
        tmp_path, tokens="file", tokenizer_file="tokenizer.json"
    )


@pytest.mark.parametrize("tokens", ["word", "byte", "piece"])
def test_new_texts_are_prepared_as_those_of_the_training(tmp_path: Path, tokens: str) -> None:
    table(tmp_path)
    options = OPTIONS.replace(tokens=tokens, vocabulary_limit=300, **WHOLE)
    data = load(options, tmp_path)
    facts = DatasetInfo.read(data.facts.write())
    assert facts == data.facts
    network = chain(layer("sequence_input", content="indices"), layer("embedding", vocabulary=300, dimension=4))
    record = Preparation.parse(preparation_of(network, options, facts).content(), "R")
    order = np.argsort(data.numbers["training"])
    (made,) = prepare(record, [f"{GOOD if number % 2 else BAD} word{number}" for number in range(24)])
    np.testing.assert_array_equal(made, data.split("training").inputs[0][order])
    (tmp_path / "new.txt").write_text(f"{BAD} word0\n\n{GOOD} word1\n")
    (again,) = prepare(record, tmp_path / "new.txt")
    np.testing.assert_array_equal(again, made[:2, : again.shape[1]])
    assert not made[:2, again.shape[1] :].any()


def test_what_cannot_be_done_says_why(tmp_path: Path) -> None:
    table(tmp_path)
    (tmp_path / "d.txt").write_text("short")
    assert "/d.txt has 1 tokens. Expected at least 513" in refused(tmp_path, path="d.txt")
    assert "/d.csv is a table. To predict the next token" in refused(tmp_path, text_goal="next-token")
    assert "/d.txt has no responses: it is one text" in refused(tmp_path, path="d.txt", text_goal="response")
    assert 'has no column "x" with texts' in refused(tmp_path, text_column="x")
    assert "choose the tokenizer.json" in refused(tmp_path, tokens="file")
    assert "expected at least 256 pieces" in refused(tmp_path, tokens="piece", vocabulary_limit=99)


def test_a_preview_shows_the_texts(tmp_path: Path) -> None:
    table(tmp_path)
    look = preview(OPTIONS, tmp_path, tmp_path / "look", 4)
    assert (look["kind"], look["rows"][1]) == ("table", [f"{GOOD} word1", "good"])
    (tmp_path / "d.txt").write_text(GOOD * 50)
    look = preview(OPTIONS.replace(path="d.txt", block_length=20), tmp_path, tmp_path / "look", 4)
    assert look["rows"][0][0].startswith(GOOD)
    bytes_of = preview(OPTIONS.replace(path="d.txt", block_length=20, tokens="byte"), tmp_path, tmp_path / "look", 4)
    assert bytes_of["classes"] == []  # most of the 256 are not in the text


def test_sentences_are_guessed(tmp_path: Path) -> None:
    table(tmp_path)
    (tmp_path / "d.txt").write_text(GOOD)
    assert guesses(tmp_path / "d.csv")[0].source == "text"
    assert guesses(tmp_path / "d.txt")[0].reason == f"The file holds text: {GOOD}"
    rows = [f"今天下雨，气温很低，大家觉得冷{number}。,天气" for number in range(9)]
    (tmp_path / "c.csv").write_text("\n".join(["正文,主题", *rows]))
    assert guesses(tmp_path / "c.csv")[0].source == "text", "Chinese has no spaces between words"


def test_characters_of_chinese_are_words() -> None:
    words = words_in("今天下雨，GPT-4 says ひら it's", lower_case=False)
    assert words == ["今", "天", "下", "雨", "，", "GPT", "-", "4", "says", "ひ", "ら", "it", "'", "s"]
    how = TextPreparation(tokens="word", vocabulary=15, words=tuple(words))
    assert decode(how, range(1, 15)) == "今天下雨，GPT-4 saysひらit's"
