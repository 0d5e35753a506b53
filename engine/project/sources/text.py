"""Texts: with a class or number each, or to predict the next token."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Choice, ColumnNames, FilePath, Int
from netwright.engine.core.records import Record
from netwright.engine.project.sources.converted_tables import CONVERTED, as_csv
from netwright.engine.project.sources.csv_dialect import Beginning
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType
from netwright.engine.project.sources.table import response_of

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

TEXT_SUFFIXES = (".txt", ".text", ".md")
TABLES = (".csv", ".tsv", *CONVERTED)
SPACES = 5
"""Spaces in a text from which it is a sentence."""
_CHARACTER = "[\u3040-\u30ff\u4e00-\u9fff]"
_PER_SPACE = 2
"""Characters of Chinese or Japanese, which have no spaces, that count as one."""
LOOKED_AT = 50
"""Rows of a table in which sentences are looked for: half of a column's cells."""


def _is_table(options: Any) -> bool:
    return bool(options.path.lower().endswith(TABLES))


def _predicts_tokens(options: Any) -> bool:
    return options.text_goal != "response" and not _is_table(options)


def _has_responses(options: Any) -> bool:
    is_file = options.path.lower().endswith(TEXT_SUFFIXES)
    return bool(options.text_goal == "response" or (options.text_goal == "auto" and not is_file))


MOST_TABLES = 4
"""Texts of a folder that are looked at for columns of numbers."""
_NUMBERS = re.compile(r"[-+\d.eE ]*")


class TextOptions(Record):
    """Options of texts."""

    text_goal = Choice(
        "auto",
        options=("auto", "response", "next-token"),
        words={"auto": "Automatic", "response": "A response per text", "next-token": "The next token"},
        notes={
            "auto": "The response for tables and folders of classes, the next token for one file",
            "response": "A class or number per text",
            "next-token": "At every token, the one that follows: a language model",
        },
        label="Learn",
        group="Source",
        help="What the network predicts of texts. Default auto",
    )
    text_column = ColumnNames(
        "",
        label="Column of texts",
        group="Source",
        help="Column of a table that holds the texts. Default: the first column of texts beside the response",
        visible_when=_is_table,
    )
    tokens = Choice(
        "word",
        options=("word", "byte", "piece", "file"),
        words={"word": "Words", "byte": "Bytes", "piece": "Pieces of words", "file": "From a file"},
        notes={
            "word": "Words and signs; the most frequent ones of the training split",
            "byte": "The bytes of UTF-8: 256 tokens, none unknown",
            "piece": "Pieces of words (byte-pair encoding), trained on the training split",
            "file": "The tokens of a tokenizer.json",
        },
        label="Tokens",
        group="Source",
        help="The units that texts are cut into. Default word. MATLAB: wordEncoding, bpeTokenizer; Hugging Face: "
        "tokenizers",
    )
    tokenizer_file = FilePath(
        "",
        pattern_for=lambda options: "Tokenizers (*.json)",
        label="Tokenizer",
        group="Source",
        help="A tokenizer.json of the library tokenizers, as models of Hugging Face have it",
        visible_when=lambda options: options.tokens == "file",
    )
    vocabulary_limit = Int(
        10_000,
        low=2,
        high=1_000_000,
        unit="tokens",
        label="Largest vocabulary",
        group="Source",
        help="Number of different tokens, at most; rarer words are one token, <other>. Default 10,000. MATLAB: "
        "MaxNumWords; Hugging Face: vocab_size",
        visible_when=lambda options: options.tokens in ("word", "piece"),
    )
    lower_case = Bool(
        False,
        label="Lower case",
        group="Source",
        help="Take words in lower case. Default off. MATLAB: lower",
        visible_when=lambda options: options.tokens == "word",
    )
    longest_text = Int(
        512,
        low=1,
        high=1_000_000,
        unit="tokens",
        label="Longest text",
        group="Source",
        help="Tokens of a text that are kept, from its beginning. Default 512. MATLAB: the option Length of "
        "doc2sequence; Hugging Face: max_length with truncation",
        visible_when=_has_responses,
    )
    text_samples = Choice(
        "blocks",
        options=("blocks", "lines"),
        notes={
            "blocks": "Stretches of the same number of tokens, whatever they hold",
            "lines": "Each line that is not empty, up to a block's length",
        },
        label="Samples",
        group="Source",
        help="What one sample is where the next token is predicted. Default blocks",
        visible_when=_predicts_tokens,
    )
    block_length = Int(
        256,
        low=1,
        high=1_000_000,
        unit="tokens",
        label="Block length",
        group="Source",
        help="Tokens per sample where the next token is predicted. Default 256. Hugging Face: block_size",
        visible_when=_predicts_tokens,
    )
    block_stride = Int(
        0,
        low=0,
        high=1_000_000,
        zero="as the length",
        unit="tokens",
        label="Block stride",
        group="Source",
        help="Tokens from the beginning of one block to that of the next; fewer than the length make them overlap. "
        "Default: the length",
        visible_when=lambda options: _predicts_tokens(options) and options.text_samples == "blocks",
    )


class TextFiles(SourceType):
    """Texts in files or in a column of a table."""

    key, label = "text", "Texts"
    note = "Texts: a table with a column of them, a folder with one subfolder per class, or one file to predict tokens"
    wanted = "the file or folder of texts"
    inputs = (
        "texts as indices of tokens: a column of a table, files in one subfolder per class, or blocks of one file "
        "([texts](#texts))"
    )
    targets = "the column that `response` names, the class, or the next token at every token"
    options = TextOptions
    uses = ("path", "sheet", "response", "task", "text_encoding", "decimal_mark")
    takes = "both"
    suffixes, files = (*TEXT_SUFFIXES, *TABLES), "Texts"
    reader = "netwright.engine.data.sources.text_reader:TextFiles"
    reads = "text"
    resizes = has_folders = True
    bytes_per_number = 12

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield the combinations of options that cannot be meant."""
        yield from super().problems(options)
        if options.tokens == "file" and not options.tokenizer_file:
            yield FieldError("tokenizer_file", "choose the tokenizer.json.")
        if options.task in ("labels", "transcripts"):
            yield FieldError("task", "texts have a class or numbers as responses. Choose one of them, or auto.")
        if options.tokens == "piece" and options.vocabulary_limit < 256:
            yield FieldError("vocabulary_limit", "expected at least 256 pieces: one per byte.")

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for folders of texts, tables with sentences, and files of text without columns."""
        if peek.is_folder:
            counts = {inside: sum(map(is_text, names)) for inside, names in peek.tree.items()}
            folders = [inside for inside, count in counts.items() if count and inside and "/" not in inside]
            others = sum(map(len, peek.tree.values())) - sum(counts.values())
            if len(folders) >= 2 and 2 * sum(counts.values()) > others:
                total = sum(counts[inside] for inside in folders)
                more = "more than " if peek.is_cut else ""
                reason = f"{len(folders):,} subfolders with {more}{total:,} texts: one class each"
                return Guess(self.key, 0.95, reason, {"text_goal": "response"} if counts.get("") else {})
            texts = [peek.path / name for name in peek.tree.get("", ()) if is_text(name)]
            if any(as_csv(path).path != path for path in texts[:MOST_TABLES]):
                return None  # numbers in columns
            count = len(texts)
            is_most = 2 * count >= sum(map(len, peek.tree.values()))
            reason = f"The folder holds {count:,} texts without classes"
            return Guess(self.key, 0.7 if is_most else 0.4, reason) if count else None
        if peek.suffix not in self.suffixes or not peek.text:
            return None
        if peek.suffix in TABLES:
            rows, names = peek.table.rows[:LOOKED_AT], peek.table.dialect.names
            spaces = [sorted(_spaces(row[place]) for row in rows) for place in range(len(names) if rows else 0)]
            if not any(counts[len(counts) // 2] >= SPACES for counts in spaces):
                return None
            sentence = next(place for place, counts in enumerate(spaces) if counts[len(counts) // 2] >= SPACES)
            return Guess(self.key, 0.92, "The table has a column of sentences", _columns(peek.table, sentence))
        lines = peek.text.splitlines()
        first = lines[:20]
        has_columns = len(first) > 1 and any(len({line.count(sign) for line in first} - {0}) == 1 for sign in ",;\t")
        is_prose = not has_columns and any(_spaces(line) >= SPACES for line in first)
        return Guess(self.key, 0.92 if is_prose else 0.6, f"The file holds text: {' '.join(first)[:60]}")


def _columns(table: Beginning, sentence: int) -> dict[str, str]:
    """Return the columns of the texts and of the response, where the last column is not the response: it is empty, or
    holds the sentences."""
    names, response = table.dialect.names, response_of(table)
    if response in ("", names[sentence]) and names[-1] and _spaces("".join(table.column(len(names) - 1)[:1])) < SPACES:
        return {}
    few = [place for place, name in enumerate(names) if name and place != sentence and _tells_classes(table, place)]
    if response in ("", names[sentence]) and few:
        response = names[few[0]]
    return {"response": response, "text_column": names[sentence]} if response else {}


def _tells_classes(table: Beginning, place: int) -> bool:
    cells = table.column(place)
    return 1 < len(set(cells)) <= len(cells) / 2


def _spaces(text: str) -> int:
    """Return the number of places between words, about."""
    if _NUMBERS.fullmatch(text):
        return 0
    return text.count(" ") + len(re.findall(_CHARACTER, text)) // _PER_SPACE


def is_text(name: str) -> bool:
    """Return whether a file is a text, by its suffix, or by a number as its name, as in 20 Newsgroups."""
    return name.lower().endswith(TEXT_SUFFIXES) or name.isdecimal()
