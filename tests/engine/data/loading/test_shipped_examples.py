"""The shipped examples: as the script makes them, without problems, tidy and small."""

import wave
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.data.loading.load import facts, load
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.project.check import check
from netwright.engine.project.file import dumps
from netwright.engine.project.file import load as load_project
from netwright.engine.project.project import Project
from scripts import make_example_data, make_examples
from scripts.make_digits import write_npz
from scripts.make_example_sounds import KINDS, make_sound
from scripts.make_example_texts import make_recipes

EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
NAMES = tuple(make_examples.PROJECTS)
DATA = make_example_data.DATA


def example(name: str) -> Project:
    opened = load_project(EXAMPLES / f"{name}.netwright")
    assert opened.notices == ()
    return opened.project


def test_these_are_all():
    assert {path.stem for path in EXAMPLES.glob("*.netwright")} == set(NAMES)
    assert len(NAMES) >= 10


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
    entries = sorted(DATA.iterdir())
    assert sum(file.stat().st_size for file in DATA.rglob("*") if file.is_file()) < 1_800_000
    text = (DATA / "ATTRIBUTION.md").read_text()
    assert [entry.name for entry in entries if f"## {entry.name}" not in text] == ["ATTRIBUTION.md"]
    assert "CC BY 4.0" in text
    assert text.count("Generated") == len(entries) - 3  # the page itself, and the digits twice


def test_tables_and_texts_are_what_the_script_writes(tmp_path):
    for name, make_table in make_example_data.TABLES.items():
        make_example_data.write_table(tmp_path / "table.csv", make_table())
        assert (tmp_path / "table.csv").read_bytes() == (DATA / f"{name}.csv").read_bytes(), name
    assert "\n".join([*make_recipes(), ""]) == (DATA / "recipes.txt").read_text()


def test_arrays_are_what_the_script_makes():
    for name in ("codes", "waves"):
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as stored:
            for key, array in make_example_data.ARRAYS[name]().items():
                assert np.array_equal(stored[key], array), f"{name} {key}"


def test_the_first_sound_is_what_the_script_makes():
    with wave.open(str(DATA / "sounds" / KINDS[0] / "00.wav")) as file:
        stored = np.frombuffer(file.readframes(file.getnframes()), np.uint8)
    assert np.array_equal(stored, make_sound(KINDS[0], np.random.default_rng(10)))


def test_arrays_are_written_with_the_same_bytes_each_time(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_npz(tmp_path / name, make_example_data.make_waves(12))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
