"""Texts: a column of a table, files in one subfolder per class, or a file whose next tokens are predicted.

To predict the next token, a text is divided into blocks of so many tokens. The targets are the inputs moved by one, so
a block needs one token more than its length. Where tokens are pieces, which are known only once they are trained, and
for lines, a sample is a stretch of text instead: as many characters as a block is expected to need, cut where a word
ends, or one line; it is padded, or cut, to the length of a block. So nothing of the validation and test splits shapes
the tokens.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.core.text import format_percent
from netwright.engine.core.types import sequence, tokens
from netwright.engine.data.sources import labelled_files
from netwright.engine.data.sources.source import (
    Array,
    Arrays,
    Column,
    Outline,
    Samples,
    Source,
    file_stamp,
    listed,
    refuse_too_large,
    unreadable,
)
from netwright.engine.data.sources.table_reader import answered, read_answered, targets_of
from netwright.engine.data.sources.tokens import (
    encode,
    fit_pieces,
    fit_words,
    of_tokenizer,
    padded,
    token_names,
    words_in,
)
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED, InputInfo, TargetInfo
from netwright.engine.project.preparation import TextPreparation
from netwright.engine.project.sources.csv_dialect import codec_of, encoding_of
from netwright.engine.project.sources.source_type import is_hidden
from netwright.engine.project.sources.text import TEXT_SUFFIXES, is_text

EXPECTED = "a text file, a CSV table with a column of texts, or a folder with one subfolder of texts per class"
BYTES_PER_CHARACTER = 8
"""Memory for a text and its words, per byte of its file."""
CHARACTERS_PER_PIECE = 3
"""Characters of a stretch of text per token of a block, where the tokens are not known yet: pieces of English have
between 3 and 4."""
SNIPPET = 300
SHOWN = 20
MOST_TOKENIZER_BYTES = 2**26
WHOLE = "texts are cut into tokens once, before training"


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts of a source. `texts` are one per sample, or the whole text where it is divided into blocks; then `stream`
    are its tokens (int32), as indices into `words` where they are words, and `starts` the first token of each block."""

    texts: tuple[str, ...]
    is_next: bool
    stream: Array | None = None
    words: tuple[str, ...] = ()
    starts: Array | None = None
    how: TextPreparation | None = None
    """The tokens, where they need no training."""
    column: str = ""
    """Column of a table that they were in."""

    @property
    def bytes(self) -> int:
        """Memory in bytes, about."""
        size = sum(map(len, self.texts)) + sum(map(len, self.words))
        return 2 * size + (self.stream.nbytes if self.stream is not None else 0)


class TextFiles(Source):
    """Texts as indices of tokens. `tokenizer_file`: the file of the option of this name."""

    def __init__(self, tokenizer_file: Path | None = None) -> None:
        self._tokenizer_file = tokenizer_file

    def stamp(self, path: Path) -> Hashable:
        """Return a value that changes when the texts or the tokenizer do."""
        tokenizer = file_stamp(self._tokenizer_file, "a tokenizer.json") if self._tokenizer_file else None
        flat = None
        if path.is_dir():
            flat = tuple((file.name, file_stamp(file, EXPECTED)) for file in _flat_files(path))
        return labelled_files.stamp(path, EXPECTED), flat, tokenizer

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline with all texts and their targets; tokens follow when they are fitted."""
        if labelled_files.is_table(path):
            return self._of_table(options, path)
        is_flat = not path.is_dir() or (options.text_goal != "response" and bool(_flat_files(path)))
        if is_flat:
            if options.text_goal == "response":
                raise UserError(f"{path} has no responses: it is one text. Choose the next token (data.text_goal).")
            return self._to_continue(options, path, _flat_files(path) if path.is_dir() else [path])
        if options.text_goal == "next-token":
            raise UserError(f"{path} has no text files beside its subfolders. Expected them to predict the next token.")
        files = labelled_files.of_classes(path, TEXT_SUFFIXES, "texts", is_text)
        texts = tuple(_read_all([files.base / name for name in files.names], options))
        labels = [files.wanted[0].classes[number] for number in files.targets[0].tolist()]
        return self._labelled(options, texts, files.targets, files.wanted, labels, files.notes)

    def _of_table(self, options: DataOptions, path: Path) -> Outline:
        if options.text_goal == "next-token":
            raise UserError(f"{path} is a table. To predict the next token, store its texts in a file of text.")
        columns, responses = read_answered(options, path)
        name = labelled_files.text_column(columns, responses, options.text_column, path, "texts")
        columns = answered(columns, (name,), path, "the text")
        targets, infos = targets_of(options.task, responses, columns, path)
        first = responses[0]
        labels: Sequence[object] = columns.texts.get(first) or columns.numbers[first][:SHOWN].tolist()
        notes = (*columns.notes, *labelled_files.unread(columns, (name, *responses)))
        return self._labelled(options, tuple(columns.texts[name]), targets, infos, labels, notes, name)

    def _labelled(
        self,
        options: DataOptions,
        texts: tuple[str, ...],
        targets: Arrays,
        infos: tuple[TargetInfo, ...],
        labels: Sequence[object],
        notes: tuple[str, ...],
        column: str = "",
    ) -> Outline:
        rows = [(_snippet(text), str(label)) for text, label in zip(texts[:SHOWN], labels, strict=False)]
        return Outline(
            inputs=(),
            targets=targets,
            wanted=infos,
            notes=notes,
            columns=(Column("text", "input", "text"), Column(infos[0].name, "response", infos[0].spoken())),
            rows=tuple(rows),
            raw=Texts(texts, is_next=False, how=self._known(options), column=column),
            resident_because=WHOLE,
        )

    def _to_continue(self, options: DataOptions, path: Path, files: list[Path]) -> Outline:
        """Return the outline of texts whose next token is predicted."""
        texts = _read_all(files, options)
        how, length = self._known(options, is_next=True), options.block_length
        if options.text_samples == "lines":
            pieces = [line for text in texts for line in text.splitlines(keepends=True) if line.strip()]
            raw = Texts(tuple(pieces), is_next=True, how=how)
        elif options.tokens == "piece":
            pieces = [piece for text in texts for piece in _stretches(text, CHARACTERS_PER_PIECE * length)]
            raw = Texts(tuple(pieces), is_next=True)
        else:
            raw = _blocks(options, "\n".join(texts), how, path)
        count = len(raw.starts) if raw.starts is not None else len(raw.texts)
        if count < 2:
            raise UserError(f"{path} gives {plural(count, 'sample')}. Choose shorter blocks (data.block_length).")
        examples = raw.texts[:SHOWN] if raw.starts is None else [_snippet(raw.texts[0])]
        notes = []
        if raw.starts is not None and 0 < options.block_stride < length:
            notes.append(
                "Blocks overlap: at random, tokens of the test split are in blocks of the training split, too. Divide "
                "them in order (data.split)."
            )
        return Outline(
            inputs=(),
            targets=(np.zeros((count, 1), np.int8),),  # until the vocabulary is fitted
            wanted=(TargetInfo("next", sequence(1, 2), "classes", ("0", "1")),),
            notes=tuple(notes),
            columns=(Column("text", "input", "text"),),
            rows=tuple((_snippet(text),) for text in examples),
            raw=raw,
            resident_because=WHOLE,
        )

    def _known(self, options: DataOptions, *, is_next: bool = False) -> TextPreparation | None:
        """Return the tokens that need no training: bytes, and those of a file. Raises `UserError`."""
        most = 0 if is_next else options.longest_text
        if options.tokens == "byte":
            return TextPreparation(tokens="byte", vocabulary=256, most=most)
        if options.tokens != "file" or self._tokenizer_file is None:
            return None
        refuse_if_large(self._tokenizer_file)
        content = read_text(self._tokenizer_file, "utf-8")
        return of_tokenizer(content, str(self._tokenizer_file), most)

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline with the tokens of all samples: their vocabulary is that of the training samples."""
        raw = outline.raw
        assert isinstance(raw, Texts)
        if not len(training):
            raise UserError("No text is left to train on. Make the training split larger.")
        how = replace(raw.how or _fitted(options, raw, training), column=raw.column)
        return _encoded_outline(options, replace(outline, notes=(*outline.notes, _vocabulary_note(how))), raw, how)

    def fit_like(self, options: DataOptions, path: Path, outline: Outline, fitted: Outline) -> Outline:
        """Return the outline of the texts of another split, encoded by the tokens of the training data."""
        how, raw = fitted.inputs[0].text, outline.raw
        assert how is not None
        assert isinstance(raw, Texts)
        return _encoded_outline(options, outline, raw, how)

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the tokens of all texts, int32, or of the chosen ones."""
        assert outline.samples is not None
        if indices is None:
            return outline.samples
        lengths = tuple(None if steps is None else steps[indices] for steps in outline.samples.lengths)
        return Samples(tuple(array[indices] for array in outline.samples.arrays), lengths=lengths)


def _encoded_outline(options: DataOptions, outline: Outline, raw: Texts, how: TextPreparation) -> Outline:
    """Return the outline with the tokens of all samples."""
    if raw.is_next:
        inputs, targets, lengths, notes = _moved(how, raw, options.block_length)
        steps, spread = sequence(inputs.shape[1], how.vocabulary), _spread(lengths)
        target = TargetInfo("next", steps.opened() if spread else steps, "classes", token_names(how), spread)
        outline = replace(outline, targets=(targets,), wanted=(target,))
    else:
        inputs, lengths = padded(_encoded(how, raw.texts))
        spread, notes = _spread(lengths), _notes(how, inputs, lengths)
    type = tokens(inputs.shape[1])
    return replace(
        outline,
        inputs=(InputInfo("text", type.opened() if spread else type, lengths=spread, text=how),),
        notes=(*outline.notes, *notes),
        samples=Samples((inputs,), lengths=(lengths,) if spread else ()),
    )


def _fitted(options: DataOptions, raw: Texts, training: Array) -> TextPreparation:
    """Return the tokens, trained on the training samples."""
    most = 0 if raw.is_next else options.longest_text
    if options.tokens == "piece":
        return fit_pieces((raw.texts[number] for number in training.tolist()), options.vocabulary_limit, most)
    counts: Counter[str] = Counter()
    if raw.stream is not None and raw.starts is not None:
        is_seen = np.zeros(len(raw.stream), bool)
        for start in raw.starts[training].tolist():
            is_seen[start : start + options.block_length + 1] = True
        each = np.bincount(raw.stream[is_seen], minlength=len(raw.words))
        counts.update({word: count for word, count in zip(raw.words, each.tolist(), strict=True) if count})
    else:
        for index, number in enumerate(training.tolist()):
            counts.update(words_in(raw.texts[number], lower_case=options.lower_case))
            report(index, len(training), "texts")
    return fit_words(counts, options.vocabulary_limit, lower_case=options.lower_case, most=most)


def _encoded(how: TextPreparation, texts: Sequence[str]) -> list[Array]:
    """Return the tokens of each text. Raises `UserError` where they do not fit into memory."""
    encodings, size = [], 0
    for count, encoding in enumerate(encode(how, texts)):
        encodings.append(encoding)
        size += encoding.nbytes
        if count % 1024 == 0:
            refuse_too_large(size, f"{len(texts):,} texts", "Use fewer or shorter texts (data.longest_text).")
            report(count, len(texts), "texts")
    longest = max((len(encoding) for encoding in encodings), default=1)
    refuse_too_large(8 * longest * len(encodings), f"{len(texts):,} texts", "Choose a shorter longest text.")
    return encodings


def _spread(lengths: Array | None) -> tuple[int, int] | None:
    """Return the shortest and longest length where they differ."""
    if lengths is None or (lengths == lengths[0]).all():
        return None
    return int(lengths.min()), int(lengths.max())


def _moved(how: TextPreparation, raw: Texts, length: int) -> tuple[Array, Array, Array | None, list[str]]:
    """Return inputs, the same moved by one token as targets, the lengths of samples where they differ, and notes."""
    kind = np.int16 if how.vocabulary <= np.iinfo(np.int16).max else np.int32
    if raw.stream is not None and raw.starts is not None:
        stream = raw.stream
        if how.tokens == "word":
            places = {word: place for place, word in enumerate(how.words, 1)}
            stream = np.array([places.get(word, 0) for word in raw.words], np.int32)[stream]
        size = len(raw.starts) * length * (4 + np.dtype(kind).itemsize)
        refuse_too_large(size, f"{len(raw.starts):,} blocks", "Choose a longer stride, or use less text.")
        windows = np.lib.stride_tricks.sliding_window_view(stream, length + 1)[raw.starts]
        return np.ascontiguousarray(windows[:, :-1]), windows[:, 1:].astype(kind), None, []
    encodings = _encoded(how, raw.texts)
    cut = sum(max(0, len(ids) - length - 1) for ids in encodings)
    total = max(1, sum(map(len, encodings)))
    blocks, lengths = padded([ids[: length + 1] if len(ids) > 1 else np.resize(ids, 2) for ids in encodings])
    inputs, targets = np.ascontiguousarray(blocks[:, :-1]), blocks[:, 1:].astype(kind)
    lengths = lengths - 1
    is_padding = np.arange(targets.shape[1]) >= lengths[:, np.newaxis]
    inputs[is_padding], targets[is_padding] = 0, IGNORED
    notes = (
        [f"{format_percent(cut / total)} of the tokens lie beyond the end of a block and are not used."] if cut else []
    )
    return inputs, targets, lengths, notes


def _notes(how: TextPreparation, tokens: Array, lengths: Array) -> list[str]:
    """Return notes on texts that may be cut, and on words that are unknown."""
    notes = []
    if how.most and (count := int((lengths == how.most).sum())):
        notes.append(f"{plural(count, 'text')} of {len(lengths):,} reach {how.most:,} tokens, and are cut there.")
    if how.tokens == "word":
        is_real = np.arange(tokens.shape[1]) < lengths[:, np.newaxis]
        if share := float((tokens[is_real] == 0).mean()):
            notes.append(f"{format_percent(share, 1)} of the words are not in the vocabulary.")
    return notes


def _vocabulary_note(how: TextPreparation) -> str:
    noun = {"byte": "bytes", "word": "words and signs, of the training texts", "piece": "pieces of words"}[how.tokens]
    return f"The vocabulary has {how.vocabulary:,} tokens ({noun}): an embedding needs one of at least as many."


def _blocks(options: DataOptions, text: str, how: TextPreparation | None, path: Path) -> Texts:
    """Return a text as a stream of tokens and the first token of each block. Raises `UserError` for too short texts."""
    words: tuple[str, ...] = ()
    if how is not None:
        (stream,) = encode(how, [text])
    else:
        sequence = words_in(text, lower_case=options.lower_case)
        ordered = sorted(set(sequence))
        places = {word: place for place, word in enumerate(ordered)}
        stream, words = np.fromiter((places[word] for word in sequence), np.int32, len(sequence)), tuple(ordered)
    length, stride = options.block_length, options.block_stride or options.block_length
    if len(stream) < length + 1 + stride:
        raise UserError(
            f"{path} has {len(stream):,} tokens. Expected at least {length + 1 + stride:,}: two blocks of {length:,}, "
            "and the token that follows. Choose shorter blocks (data.block_length), or use more text."
        )
    starts = np.arange(0, len(stream) - length, stride)
    return Texts((text[:SNIPPET],), is_next=True, stream=stream, words=words, starts=starts, how=how)


def _stretches(text: str, size: int) -> Iterator[str]:
    """Yield a text in stretches of about so many characters, each cut behind white space where there is some."""
    start = 0
    while start < len(text):
        end = start + size
        if end < len(text):
            cut = next((at for at in range(end, start + size // 2, -1) if text[at - 1].isspace()), end)
            end = cut
        if len(text) - end < size // 8:  # too short for a sample of its own
            end = len(text)
        yield text[start:end]
        start = end


def _flat_files(folder: Path) -> list[Path]:
    """Return the text files that lie in a folder itself, sorted."""
    try:
        return sorted(file for file in folder.iterdir() if is_text(file.name) and not is_hidden(str(file)))
    except OSError as error:
        raise unreadable(folder, error) from None


def _read_all(files: Sequence[Path], options: DataOptions) -> list[str]:
    """Return the texts in files. Raises `UserError` for those that cannot be read or decoded."""
    try:
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise unreadable(Path(error.filename or files[0]), error) from None
    subject = f"The {plural(len(files), 'text')} of {files[0].parent}"
    refuse_too_large(BYTES_PER_CHARACTER * size, subject, "Use fewer or shorter texts.")
    texts = []
    for count, file in enumerate(files):
        texts.append(read_text(file, options.text_encoding))
        report(count, len(files), "files")
    return texts


def read_text(file: Path, encoding: str = "auto") -> str:
    """Return the text of a file. Raises `UserError`."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise unreadable(file, error) from None
    if encoding == "auto":
        encoding = encoding_of(content) or "utf-8"
    try:
        return content.decode(codec_of(encoding)).replace("\r\n", "\n").replace("\0", "")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{file}, line {line:,}: the byte 0x{content[error.start]:02x} is not {encoding}. Choose the encoding "
            "of the texts (data.text_encoding), such as windows-1252, or store them as UTF-8."
        ) from None


def texts_in(how: TextPreparation, file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file with the number of their line: the cells of the column that the network was trained on
    where the file is a table, else its lines; blank ones are left out. Raises `UserError`."""
    if how.column and labelled_files.is_table(file):
        table = CsvTable(file, (), least_columns=1, counts_lines=False)
        if how.column not in table.names:
            hint, names = did_you_mean(how.column, table.names), listed(list(table.names), 20)
            raise UserError(
                f"{file} has no column {quoted(how.column)}, which the network takes its texts from.{hint} "
                f"Its columns are: {names}."
            )
        place = table.names.index(how.column)
        texts: Iterator[tuple[int, str]] = ((line, row[place]) for line, row in table.rows())
    else:
        texts = iter(enumerate(read_text(file).splitlines(), 1))
    yield from ((line, text) for line, text in texts if text.strip())


def refuse_if_large(file: Path) -> None:
    """Raise `UserError` for a tokenizer.json that is larger than tokenizers are."""
    try:
        size = file.stat().st_size
    except OSError as error:
        raise unreadable(file, error) from None
    if size > MOST_TOKENIZER_BYTES:
        raise UserError(f"{file} has {size:,} bytes; a tokenizer.json has at most {MOST_TOKENIZER_BYTES:,}.")


def _snippet(text: str) -> str:
    """Return the beginning of a text on one line."""
    short = " ".join(text[: 2 * SNIPPET].split())
    return f"{short[:SNIPPET]}..." if len(short) > SNIPPET else short
