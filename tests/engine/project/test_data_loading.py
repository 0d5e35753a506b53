"""Whether data is held or streamed: by its size, by what is asked for, and by what can be."""

from dataclasses import replace

import pytest

from netwright.engine.core.types import image, sequence
from netwright.engine.project.check import check
from netwright.engine.project.data_loading import Loading, held_bytes, loading
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.sources.source_catalog import SOURCES
from tests.builders import chain, layer

SAMPLES = {"training": 80, "validation": 10, "test": 10}
FACTS = DatasetInfo((InputInfo("image", image(3, 10, 10)),), SAMPLES, classes_of("a", "b"))
HELD = 100 * 300 * 5


def project(loading: str = "auto", source: str = "images", **training: object) -> Project:
    made = Project(chain(layer("image_input", channels=3, size=10), layer("fully_connected", outputs=2)))
    data = made.data.replace(source=source, path="here", loading=loading)
    return replace(made, data=data, training=made.training.replace(**training))


def decided(project: Project, facts: DatasetInfo, **given: int) -> Loading:
    return loading(project.data, project.training, facts, **given)


def test_the_size_follows_from_what_is_known() -> None:
    assert held_bytes(SOURCES["images"], FACTS) == HELD
    assert held_bytes(SOURCES["arrays"], FACTS) == 100 * 300 * 8
    steps = replace(FACTS, inputs=(InputInfo("x", sequence(7, 2).opened(), lengths=(1, 7)),))
    assert held_bytes(SOURCES["arrays"], steps) == 100 * 14 * 8
    maps = replace(FACTS, targets=(TargetInfo("y", image(4, 10, 10), "classes", tuple("abcd")),))
    assert held_bytes(SOURCES["images"], maps) == HELD + 100 * 100 * 2


@pytest.mark.parametrize(("free", "workers", "device", "is_streamed"), [
    (2 * HELD, 1, 0, False),
    (2 * HELD - 1, 1, 0, True),
    (2 * HELD, 2, 0, True),
    (4 * HELD, 2, 0, False),
    (9 * HELD, 1, 2 * HELD - 1, True),
    (9 * HELD, 1, 2 * HELD, False),
])  # fmt: skip
def test_what_takes_more_than_half_of_the_free_memory_is_streamed(
    free: int, workers: int, device: int, *, is_streamed: bool
) -> None:
    found = decided(project(), FACTS, free_bytes=free, workers=workers, device_bytes=device)
    assert found.is_streamed is is_streamed
    assert found.sentence().startswith("Streamed while training" if is_streamed else "Held in memory")
    assert Loading.read(found.write()) == found


def test_what_is_asked_for_is_done() -> None:
    assert decided(project("stream"), FACTS, free_bytes=99 * HELD).is_streamed
    assert not decided(project("memory"), FACTS, free_bytes=HELD).is_streamed


def test_what_cannot_be_streamed_is_held_and_says_why() -> None:
    whole = replace(FACTS, resident_because="it is compressed")
    found = decided(project(), whole, free_bytes=HELD)
    assert not found.is_streamed
    assert found.sentence().endswith("It cannot be streamed: it is compressed.")
    assert "cannot" not in decided(project(), whole, free_bytes=99 * HELD).sentence()


@pytest.mark.parametrize(("facts", "options", "why"), [
    (replace(FACTS, resident_because="it is compressed"), {}, "it is compressed"),
    (FACTS, {"solver": "lbfgs"}, "the solver lbfgs takes all samples at once"),
    (replace(FACTS, inputs=(InputInfo("x", sequence(7, 2)),)), {"sequence_length": "split"}, "cut into pieces"),
])  # fmt: skip
def test_streaming_that_cannot_be_is_refused_in_words(facts: DatasetInfo, options: dict, why: str) -> None:
    def said(loading: str) -> list[str]:
        return [p.message for p in check(project(loading, **options), facts).errors if p.field == "data.loading"]

    assert [why in message for message in said("stream")] == [True]
    assert not said("auto")
    assert not said("memory")


def test_a_run_from_before_there_was_a_choice_holds_its_data() -> None:
    assert not Loading.read(None).is_streamed
