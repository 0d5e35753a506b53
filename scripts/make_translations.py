"""Extract the texts of the window, and compile their translations.

    .venv/bin/python -m scripts.make_translations

lupdate, of Qt Linguist, finds the literals in `tr` and `noop` in the folders that are translated. The texts of the
engine and of the window's actions are declarations, of which it reads a list, as it does of the sentences that the
engine writes, which `scripts/message_templates.py` finds. New texts come into the .ts file as
unfinished, to be translated there, with Qt Linguist or by hand; those that are gone leave it. lrelease makes the .qm
file that the window loads. Tests compare both files with the code.
"""

import importlib
import json
import pkgutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import PySide6

from netwright.app.frame.actions import TABLE
from netwright.designer.language import CHINESE, LAYER, MESSAGE, METRIC
from netwright.engine import layers, network, project
from netwright.engine.analysis.explanations import METHODS
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import STAGES
from netwright.engine.core.fields import Choice, Field, Int, first_clause
from netwright.engine.core.files import ROOT, write_atomically
from netwright.engine.core.list_fields import Choices
from netwright.engine.core.records import Record
from netwright.engine.layers.base import FAMILIES, REGISTRY, LayerType
from netwright.engine.project import options, sources
from netwright.engine.project.dataset_info import SPLITS
from netwright.engine.project.import_kinds import KINDS
from netwright.engine.project.options.metric_options import METRICS
from netwright.engine.project.presets import BUILT_IN, NOTES
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.trials import READY
from netwright.engine.runs.requests import request_texts
from scripts.message_templates import message_templates

FOLDERS = ("designer", "app")
"""Folders whose texts are translated. A text there that is in no `tr` or `noop` fails a test."""
PACKAGES = (layers, network, project, options, sources)
"""Packages of the engine that declare texts."""
TRANSLATIONS = ROOT / "resources" / "translations"
TS = f"netwright_{CHINESE}.ts"
QM = f"netwright_{CHINESE}.qm"


def engine_texts() -> list[str]:
    """Return the texts that the engine declares, but for labels of layer types and metrics: summaries of layer types,
    the fields of its records, and names of families, kinds of data, requests, presets, methods, stages of a validation
    and experiments."""
    texts = [*FAMILIES, *(type.summary() for type in _layer_types()), *_data_texts(), *_card_texts()]
    texts += [*request_texts(), *BUILT_IN, *NOTES.values()]
    texts += [
        *READY.values(),
        *(method.title for method in METHODS.values()),
        *(stage.title for stage in STAGES.values()),
        *(kind.label for kind in KINDS),
    ]
    records: set[type[Record]] = {record for record in _subclasses(Record) if _is_ours(record)}
    for record in records | {ClusterProfile}:
        for field in record.fields.values():
            texts += _field_texts(field)
    return sorted({text for text in texts if any(letter.isalpha() for letter in text)})


def _data_texts() -> Iterator[str]:
    """Yield the words for splits, and for kinds of data and their files."""
    yield from (*SPLITS, *map(str.capitalize, SPLITS))
    for source in SOURCES.values():
        yield from (source.label, *([source.pattern] if source.takes in ("file", "both") else []))


def _card_texts() -> Iterator[str]:
    """Yield the titles, descriptions and origins of the examples and templates on the start page."""
    for section in json.loads((ROOT / "resources" / "templates" / "index.json").read_text(encoding="utf-8")).values():
        for card in section:
            yield from (card["title"], card["description"])
            if not any(map(str.isdigit, source := card.get("source", ""))):  # else a publication, with its year
                yield source


def action_texts() -> list[str]:
    """Return the texts of the actions of the window, which are declared in a table."""
    return [text for action in TABLE for text in action.texts]


def layer_labels() -> list[str]:
    """Return the labels of the layer types, which have a comment: some are labels of fields too."""
    return sorted(type.label for type in _layer_types())


def _layer_types() -> list[type[LayerType]]:
    for package in PACKAGES:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return [type for type in REGISTRY.values() if _is_ours(type)]


def _is_ours(declared: type) -> bool:
    """Whether a class is of the packages here: of others, it depends on what was imported."""
    return declared.__module__.rpartition(".")[0] in {package.__name__ for package in PACKAGES}


def _subclasses(record: type[Record]) -> Iterator[type[Record]]:
    for child in record.__subclasses__():
        yield child
        yield from _subclasses(child)


def _field_texts(field: Field[object]) -> Iterator[str]:
    """Yield the texts of a field as a form shows them: its help and the notes on its options, by themselves up to the
    first clause, too."""
    yield from (field.label, field.description, first_clause(field.description), field.unit, field.group)
    if isinstance(field, Int):
        yield field.zero
    if isinstance(field, Choice | Choices):
        yield from (word for option in field.options if (word := field.word(option)) != option)
        yield from (text for note in field.notes.values() for text in (note, first_clause(note)))


def generate(before: Path, folder: Path) -> None:
    """Write the .ts and the .qm file into a folder, with the translations of the .ts file `before`."""
    path = folder / TS
    if path != before and before.exists():
        path.write_bytes(before.read_bytes())
    with TemporaryDirectory() as temporary:
        listing = Path(temporary) / "engine_texts.py"
        lines = [f"tr({_literal(text)})\n" for text in sorted({*engine_texts(), *action_texts()})]
        lines += [f"tr({_literal(label)}, {_literal(LAYER)})\n" for label in layer_labels()]
        lines += [f"tr({_literal(metric.title)}, {_literal(METRIC)})\n" for metric in METRICS.values()]
        lines += [f"tr({_literal(template)}, {_literal(MESSAGE)})\n" for template in message_templates()]
        listing.write_text("".join(lines), encoding="utf-8")
        files = [str(file) for name in FOLDERS for file in sorted((ROOT / name).rglob("*.py"))]
        aliases = ("-tr-function-alias", "QT_TR_NOOP+=noop")
        merge = ("-disable-heuristic", "similartext", "-disable-heuristic", "sametext")
        _linguist(
            "lupdate", "-locations", "none", "-no-obsolete", *aliases, *merge, *files, str(listing), "-ts", str(path)
        )
    _linguist("lrelease", str(path), "-qm", str(folder / QM))


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _linguist(tool: str, *arguments: str) -> None:
    """Run a tool of Qt Linguist, which comes with PySide6. Raises `CalledProcessError`."""
    suffix = ".exe" if sys.platform == "win32" else ""
    subprocess.run([str(Path(PySide6.__file__).parent / f"{tool}{suffix}"), "-silent", *arguments], check=True)


def texts(path: Path, comment: str) -> list[str]:
    """Return the texts of a .ts file that have a comment."""
    messages = ElementTree.parse(path).getroot().iter("message")
    return [m.findtext("source", "") for m in messages if m.findtext("comment") == comment]


def unfinished(path: Path) -> list[str]:
    """Return the texts of a .ts file without a finished translation."""
    messages = ElementTree.parse(path).getroot().iter("message")
    return [m.findtext("source", "") for m in messages if "type" in m.find("translation").attrib]  # type: ignore[union-attr]


def main() -> None:
    """Write the files that have changed, and tell how many texts are to be translated."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        generate(TRANSLATIONS / TS, folder)
        for name in (TS, QM):
            path, content = TRANSLATIONS / name, (folder / name).read_bytes()
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, content)
                print(f"wrote {path.relative_to(ROOT)}")
    if texts := unfinished(TRANSLATIONS / TS):
        print(f"{len(texts)} texts are not translated yet: those with 'unfinished' in {TS}")


if __name__ == "__main__":
    main()
