"""The catalog of data sources, and a source that a test declares: everything follows from its declaration."""

from collections.abc import Hashable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from netwright.designer.forms.form import Form
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import Int
from netwright.engine.core.records import Record
from netwright.engine.core.types import features
from netwright.engine.data.loading import load, open_data
from netwright.engine.data.sources.source import Array, Outline, Samples, Source
from netwright.engine.project import project as projects
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import InputInfo, numbers_of
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.schema import schema
from netwright.engine.project.sources import source_catalog
from netwright.engine.project.sources.guess import guesses
from netwright.engine.project.sources.source_catalog import SOURCES, SourceOptions, source_choice
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType


class ToyOptions(Record):
    """The options of the source that this test declares."""

    count = Int(4, low=2, high=100, group="Source", help="Number of samples")


class Toy(SourceType):
    """Text files with one number per line."""

    key, label, note = "toy", "Toy file", "A file of numbers"
    wanted = "the toy file"
    options = ToyOptions
    uses = ("path",)
    suffixes, files = (".toy",), "Toys"
    reader = f"{__name__}:ToyReader"

    def guess(self, peek: Peek) -> Guess | None:
        if peek.suffix != ".toy":
            return None
        return Guess(self.key, 0.9, "The file ends in .toy", {"count": len(peek.head.split())})


class ToyReader(Source):
    """Reads what `Toy` declares."""

    def stamp(self, path: Path) -> Hashable:
        return path.stat().st_mtime_ns

    def outline(self, options: DataOptions, path: Path) -> Outline:
        values = np.loadtxt(path, dtype=np.float32)[:, np.newaxis]
        samples = Samples((values[: options.count],))  # type: ignore[attr-defined]
        return Outline(
            (InputInfo("x", features(1)),),
            samples.arrays,
            numbers_of(),
            samples=samples,
            resident_because="it is small",
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, chosen: Array | None = None) -> Samples:
        assert outline.samples is not None
        return outline.samples if chosen is None else Samples((outline.samples.arrays[0][chosen],))


@pytest.fixture
def toy_data(monkeypatch: pytest.MonkeyPatch) -> type[DataOptions]:
    """The section `data` with the toy source, as it is once its declaration is in the list."""
    monkeypatch.setitem(source_catalog.SOURCES, Toy.key, Toy())

    class ToyData(DataOptions, ToyOptions):
        source = source_choice()

    monkeypatch.setitem(projects.SECTIONS, "data", ToyData)
    return ToyData


def test_every_source_declares_what_the_window_and_the_documents_show() -> None:
    for source in SOURCES.values():
        assert source.label, source.key
        assert source.note, source.key
        assert source.inputs, source.key
        assert source.targets, source.key
        assert source.takes == "nothing" or source.wanted, source.key
        assert source.takes in ("nothing", "folder") or source.pattern, source.key
        assert source.can_stream == bool(source.streamed), source.key


def test_every_reader_can_be_imported(tmp_path: Path) -> None:
    for source in SOURCES.values():
        assert open_data.reader_of(source, DataOptions(source=source.key), tmp_path)


def test_the_section_has_the_options_of_every_source_and_no_others_under_source() -> None:
    declared = {name for source in SOURCES.values() for name in source.option_names}
    assert declared <= set(DataOptions.fields)
    for source in SOURCES.values():
        assert issubclass(SourceOptions, source.options), source.key
    assert set(SourceOptions.fields) - {"source"} <= declared


def test_an_option_is_shown_where_the_source_declares_it() -> None:
    shown = {key: {name for name in DataOptions.fields if DataOptions(source=key).is_visible(name)} for key in SOURCES}
    assert "image_size" in shown["images"]
    assert "image_size" not in shown["table"] | shown["arrays"] | shown["digits"]
    assert "ignored_value" in shown["arrays"]
    assert "ignored_value" not in shown["images"]
    assert DataOptions(source="images", masks="masks").is_visible("ignored_value")
    assert {key for key in SOURCES if "loading" in shown[key]} == {key for key in SOURCES if SOURCES[key].can_stream}
    assert shown["digits"] == {"source", "validation_share", "test_share", "split_seed", "split"} & shown["digits"]
    assert {name for name in DataOptions.fields if DataOptions().is_visible(name)} == {"source"}


def test_splits_that_follow_from_time_have_shares_only() -> None:
    series = DataOptions(source="series")
    assert not series.is_visible("split_seed")
    assert series.is_visible("validation_share")
    assert DataOptions(source="sequences").is_visible("split_seed")


def test_labels_within_a_sentence_keep_the_capitals_of_names() -> None:
    nouns = {source.noun for source in SOURCES.values()}
    assert {"Python data set", "folder of images", "table"} <= nouns


def test_time_series_are_divided_in_time_whatever_the_split_says() -> None:
    series = DataOptions(source="series", path="x.csv", split="k-fold", validation_path="y.csv")
    assert (series.division, DataOptions(source="table").division, DataOptions().division) == ("in-time", "random", "")
    hidden = ("split", "split_column", "folds", "fold", "split_gap", "split_seed")
    assert [name for name in hidden if series.is_visible(name)] == []
    assert series.is_visible("test_share")
    assert not series.is_visible("validation_share"), "the file of its own holds it"
    assert series.dividing_column == ""


def test_the_options_of_a_group_stand_together() -> None:
    groups = [group for group, _ in groupby(field.group for field in DataOptions.fields.values())]
    assert groups == ["Source", "Split", "Loading"]


def test_values_survive_a_look_at_another_source() -> None:
    options = DataOptions(source="images", path="pets", image_size=32).replace(source="table")
    assert options.image_size == 32
    assert options.replace(source="images") == DataOptions(source="images", path="pets", image_size=32)


def test_a_declared_source_appears_everywhere(toy_data: type[DataOptions], tmp_path: Path, qtbot) -> None:
    path = tmp_path / "numbers.toy"
    path.write_text("1\n2\n3\n4\n5\n6\n")
    described = schema()["properties"]["data"]["properties"]
    assert "toy" in described["source"]["enum"]
    assert described["count"]["maximum"] == 100

    (guess,) = guesses(path)
    assert guess == Guess("toy", 0.9, "The file ends in .toy", {"count": 6})

    project = replace(Project(), data=toy_data(source=guess.source, path=str(path), **guess.options))
    project = set_option(project, "data.count=5")
    assert loads(dumps(project)).project.data == project.data
    with pytest.raises(UserError, match="choose the toy file"):
        load.facts(project.data.replace(path=""), tmp_path)
    options = project.data.replace(validation_share=0.2, test_share=0.2)
    assert load.load(options, tmp_path).facts.samples == {"training": 3, "validation": 1, "test": 1}

    form = Form(options)
    qtbot.addWidget(form)
    assert form.rows["count"].is_relevant
    assert not form.rows["image_size"].is_relevant
    form.set_record(options.replace(source="images"))
    assert not form.rows["count"].is_relevant


def test_no_two_groups_of_options_declare_the_same_field() -> None:
    """One of them would hide the other."""
    declared = [name for base in SourceOptions.__bases__ if issubclass(base, Record) for name in base.fields]
    assert sorted(declared) == sorted(set(declared))
