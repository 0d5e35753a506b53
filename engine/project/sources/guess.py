"""Guess which source reads a file or folder, and set its options."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import FilePath, Text, quoted
from netwright.engine.core.files import path_from
from netwright.engine.core.list_fields import Texts
from netwright.engine.project.sources.shards import PARQUET, TAR
from netwright.engine.project.sources.source_catalog import SOURCES, SourceOptions
from netwright.engine.project.sources.source_type import SPLIT_NAMES, Guess, Peek, split_of_name
from netwright.engine.project.sources.table import sentences
from netwright.engine.project.sources.urls import is_remote, without_secrets

PACKED = (".zip", ".7z", ".rar", ".tgz", ".gz", ".bz2", ".xz")
CLOSE = 0.25
"""Guesses whose confidence is this close to that of the best are named beside it."""
UNSURE = 0.5
"""Confidence of a guess for a folder without classes."""
T = TypeVar("T", bound=SourceOptions)


def guesses(path: Path) -> list[Guess]:
    """Return the sources that can read a file or folder, the likeliest first. Raises `UserError` where it cannot be
    looked at."""
    peek = Peek(path)
    try:
        path.stat()
        candidates = _divided(peek) or _of(peek) or _beside_test(peek)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path} cannot be read: {reason or error}.") from None
    return sorted(candidates, key=lambda guess: -guess.confidence)


def _of(peek: Peek) -> list[Guess]:
    """Return the guess of each source; folders named after splits are no classes, but a table or a folder of masks may
    say these."""
    candidates = [guess for source in SOURCES.values() if (guess := source.guess(peek)) is not None]
    folders = [inside for inside in peek.tree if inside and "/" not in inside]
    are_splits = len(folders) > 1 and all(name.lower() in SPLIT_NAMES for name in folders)
    return [guess for guess in candidates if not are_splits or any(map(_is_path, guess.options.values()))]


def _beside_test(peek: Peek) -> list[Guess]:
    """Return the guesses for the table train.csv in a folder, as competitions have it beside a test.csv without
    responses; where that has the same columns, it is the test data."""
    suffixes = SOURCES["table"].suffixes
    tables: dict[str, list[Path]] = {}
    for name in peek.tree.get("", ()):
        file = Path(name)
        if file.suffix.lower() in suffixes and (split := split_of_name(file.stem)):
            tables.setdefault(split, []).append(peek.path / name)
    if [len(files) for split, files in tables.items() if split == "training"] != [1]:
        return []
    training = Peek(tables.pop("training")[0])
    columns = training.table.dialect.names
    others = {split: (files[0], Peek(files[0]).table.dialect.names) for split, files in tables.items()}
    paths = {"path": str(training.path)}
    paths |= {f"{split}_path": str(file) for split, (file, names) in others.items() if names == columns}
    reason = f"{training.path.name} of the folder is the training data"
    for file, names in others.values():
        if len(absent := [name for name in columns if name not in names]) == 1:
            paths["response"] = absent[0]
            reason = f"{reason}. {sentence(file, absent[0])}"
            break
    again = "".join(f". {sentence}" for sentence in sentences(paths.get("response", "")))
    return [
        replace(guess, reason=f"{reason}. {guess.reason.replace(again, '')}", options={**guess.options, **paths})
        for guess in _of(training)
    ]


def sentence(file: Path, column: str) -> str:
    """Return why a column is the response, without a point."""
    return f"{file.name} has no column {quoted(column)}, which is the response"


def _divided(peek: Peek) -> list[Guess]:
    """Return the guesses for a folder of folders train, val and test: by what the first holds. A split without classes
    of its own, such as the test data of a competition, is not read."""
    folders = [inside for inside in peek.tree if inside and "/" not in inside]
    if (guess := SOURCES["images"].guess(peek)) and "labels" in guess.options:
        return []
    splits = {SPLIT_NAMES.get(name.lower(), ""): name for name in folders}
    if "training" not in splits or "" in splits or len(splits) < 2:
        return _in_named_folders(peek, folders)
    choices, pairs = [], []
    for source in SOURCES.values():
        guesses = {split: source.guess(Peek(peek.path / name)) for split, name in splits.items() if source.has_folders}
        training = guesses.get("training")
        if training is None:
            continue
        if any(map(_is_path, training.options.values())):
            pairs.append(replace(training, reason=f"{training.reason}. Other splits are not read"))
            continue
        classed = [splits[split] for split, guess in guesses.items() if guess is not None and _has_classes(guess)]
        others = [name for name in folders if name not in classed]
        reason = f"{training.reason}, in {splits['training']}"
        if others:
            options = {"path": str(peek.path / splits["training"])}
            reason += f"; {' and '.join(others)} has no such classes and is not read"
        else:
            options = {"split": "folders"}
            reason += f"; the folders {', '.join(classed)} are the splits"
        choices.append(Guess(source.key, training.confidence, reason, {**training.options, **options}))
    return choices or pairs


def _in_named_folders(peek: Peek, folders: Sequence[str]) -> list[Guess]:
    """Return the guesses for folders such as seg_train and seg_test, or seg_train/seg_train: the data of each split has
    a path of its own. Folders without classes are not read."""
    places = [(split_of_name(name), _innermost(peek, name)) for name in folders]
    for source in SOURCES.values():
        if not source.has_folders:
            continue
        guesses = [(split, inside, source.guess(Peek(peek.path / inside))) for split, inside in places]
        classed = {split: (inside, guess) for split, inside, guess in guesses if guess and _has_classes(guess)}
        if {"training"} < classed.keys() and "" not in classed:
            inside, guess = classed.pop("training")
            paths = {f"{split}_path": str(peek.path / other) for split, (other, _) in classed.items()}
            options = {**guess.options, **paths, "path": str(peek.path / inside)}
            return [Guess(source.key, guess.confidence, f"{guess.reason}, in {inside}", options)]
    return []


def _has_classes(guess: Guess) -> bool:
    """Return whether a folder has classes of its own, none that a table or another folder says."""
    return guess.confidence > UNSURE and not any(map(_is_path, guess.options.values()))


def _is_path(value: object) -> bool:
    return isinstance(value, str) and Path(value).is_absolute()


def _innermost(peek: Peek, inside: str) -> str:
    """Return a folder, or the one that is all it holds."""
    names = [name for name in peek.tree if name.startswith(f"{inside}/") and name.count("/") == 1]
    return names[0] if len(names) == 1 and not peek.tree[inside] else inside


def not_understood(path: Path) -> str:
    """Return a sentence for a file or folder that no source reads, with what they do read."""
    kinds = []
    for source in SOURCES.values():
        suffixes = f" ({', '.join(source.suffixes)})" if source.suffixes else ""
        if source.takes != "nothing":
            kinds.append(f"{source.label}{suffixes}")
    listed = "; ".join(kinds)
    reason = _without_data(path) if path.is_dir() else _unlike(path)
    return f"{path} is nothing that Netwright reads as data: {reason}. It reads: {listed}."


def _without_data(folder: Path) -> str:
    """Return the reason why no source reads a folder."""
    suffixes = SOURCES["arrays"].suffixes
    inside = [name for place, names in Peek(folder).tree.items() if place for name in names]
    if not any(name.lower().endswith(suffixes) for name in inside):
        return "the folder holds none of them"
    return (
        "files of arrays are not read from folders inside. Write each sequence there as a CSV table "
        "(writematrix(x, 'x.csv') in MATLAB, numpy.savetxt in Python), or all of them into one file of arrays"
    )


def _unlike(path: Path) -> str:
    """Return the reason why no source reads a file."""
    peek = Peek(path)
    if not peek.suffix:
        return "the file has no suffix"
    if not any(peek.head):
        return "the file is empty" if not path.stat().st_size else "the file begins with zero bytes only"
    end = f"the file ends in {quoted(path.suffix)}"
    if peek.suffix in PACKED:
        return f"{end}: unpack it, and choose the folder"
    ways = {source.takes for source in SOURCES.values() if peek.suffix in source.suffixes}
    if ways <= {"folder"}:
        return f"{end}, and such files are read from a folder" if ways else end
    if peek.suffix in SOURCES["text"].suffixes and not peek.text:
        return f"{end}, but it is no {'list of records' if peek.suffix == '.json' else 'text'}"
    return f"{end}, but its contents are of another kind"


def with_guess(options: T, guess: Guess, path: Path, short: Callable[[Path], str] = str) -> T:
    """Return the options with a guess about `path` applied. `short` shortens paths for the project. Names of columns
    and files that were set for other data are cleared; choices and numbers stay."""
    fields = options.fields
    names = SOURCES[guess.source].option_names
    cleared = {name: fields[name].default for name in names if isinstance(fields[name], Text | Texts)}
    settings = {"path": str(path), **guess.options}
    values = {
        name: short(Path(str(value))) if isinstance(fields[name], FilePath) and value else value
        for name, value in settings.items()
    }
    return options.replace(**{**cleared, **values, "source": guess.source})


def with_guessed_source(options: T, base: Path) -> tuple[T, str]:
    """Return the options with the source guessed where a path is set and no source, and a sentence that says so; else
    unchanged, with an empty text. What was set beside the path stays, such as the column of the response. Raises
    `UserError` where no source reads the path."""
    if options.source != "none" or not options.path:
        return options, ""
    if is_remote(options.path):
        return _with_source_by_name(options)
    path = base / Path(options.path).expanduser()
    candidates = guesses(path)
    if not candidates:
        raise UserError(f"data.path: {not_understood(path)} Set data.source to say which it is.")
    best, *others = candidates
    text = f"data.source is {best.source}, guessed from data.path: {best.reason}."
    if near := [SOURCES[guess.source].phrase for guess in others if best.confidence - guess.confidence < CLOSE]:
        text += f" It could also be {' or '.join(near)}."

    def short(file: Path) -> str:
        is_plain = file == path and os.path.normpath(options.path) == options.path
        return options.path if is_plain else path_from(file, base)

    changed = {name: value for name, value in options.changed().items() if name != "path"}
    return with_guess(options, best, path, short).replace(**changed), text


def names_shards(url: str) -> bool:
    """Return whether a URL names shards rather than a file or folder: a pattern, or tar and Parquet files."""
    place = without_secrets(url)
    return any(sign in place for sign in "*{") or Path(place).suffix.lower() in (TAR, PARQUET)


def _with_source_by_name(options: T) -> tuple[T, str]:
    """Return the options with the source that the name in a URL tells. Raises `UserError` where it tells none."""
    suffix = Path(without_secrets(options.path)).suffix.lower()
    by_name = next((key for key in ("table", "arrays") if suffix and suffix in SOURCES[key].suffixes), "")
    source = "shards" if names_shards(options.path) else by_name
    if not source:
        message = "data.path: the name in the URL does not tell the kind of the data."
        raise UserError(message, hint="Set data.source to say which it is, such as images.")
    return options.replace(source=source), f"data.source is {source}, guessed from the name in data.path."
