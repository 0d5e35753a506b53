"""The shipped examples: as the script makes them, without problems, tidy and small."""

from itertools import combinations
from pathlib import Path

import pytest

from netwright.engine.data.loading.load import facts, load
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.project.check import check
from netwright.engine.project.file import dumps
from netwright.engine.project.file import load as load_project
from netwright.engine.project.project import Project
from scripts import make_examples
from scripts.make_digits import write_npz

EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
NAMES = ("digits", "heating", "power", "shapes", "waves")


def example(name: str) -> Project:
    opened = load_project(EXAMPLES / f"{name}.netwright")
    assert opened.notices == ()
    return opened.project


def test_these_are_all():
    assert sorted(path.stem for path in EXAMPLES.glob("*.netwright")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_the_script_writes(name):
    assert (EXAMPLES / f"{name}.netwright").read_text() == dumps(make_examples.PROJECTS[name]())


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_no_problem_and_its_data_can_be_loaded(name):
    project = example(name)
    known = facts(project.data, EXAMPLES)
    assert check(project, known).problems == ()
    assert load(project.data, EXAMPLES).facts.samples == known.samples


@pytest.mark.parametrize("name", NAMES)
def test_layers_stand_apart(name):
    project = example(name)
    for a, b in combinations(project.network.layers, 2):
        (ax, ay), (bx, by) = project.layout.at(a), project.layout.at(b)
        assert abs(ax - bx) >= NODE_WIDTH or abs(ay - by) > NODE_HEIGHT


def test_the_data_is_small_and_says_where_it_comes_from():
    files = sorted(make_examples.DATA.iterdir())
    assert sum(file.stat().st_size for file in files) < 300_000
    text = (make_examples.DATA / "ATTRIBUTION.md").read_text()
    assert [file.name for file in files if f"## {file.name}" not in text] == ["ATTRIBUTION.md"]
    assert "CC BY 4.0" in text
    assert text.count("Generated, not measured") == 4


def test_arrays_are_written_with_the_same_bytes_each_time(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_npz(tmp_path / name, make_examples.make_waves(12))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
