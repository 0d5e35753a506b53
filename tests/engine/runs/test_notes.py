"""Notes and tags of a run, in its own folder."""

import json
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.notes import FILE, Notes, read_notes, tags_in, write_notes


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return create(tmp_path / "run", "{}", RunInfo())


def test_a_note_and_tags_are_kept_apart_from_each_other(run: RunFolder) -> None:
    assert read_notes(run) == Notes()
    write_notes(run, note=" good \n")
    write_notes(run, tags=("Paper", "again", "Paper", " again "))
    assert read_notes(run) == Notes("good", ("again", "Paper"))
    assert (run.path / FILE).stat().st_mode & 0o777 == 0o600
    write_notes(run, note="")
    assert read_notes(run) == Notes("", ("again", "Paper"))
    write_notes(run, tags=())
    assert not (run.path / FILE).exists()


@pytest.mark.parametrize("tag", ["", " ", "a,b", "a\nb", "x" * 41, "\ud800"])
def test_what_is_no_tag_is_refused(run: RunFolder, tag: str) -> None:
    with pytest.raises(UserError, match=r"is no tag: expected 1 to 40 characters on one line, without commas\."):
        write_notes(run, tags=(tag,))


def test_limits(run: RunFolder) -> None:
    with pytest.raises(UserError, match="The note has 4,001 characters; the limit is 4,000"):
        write_notes(run, note="x" * 4001)
    with pytest.raises(UserError, match="A run has at most 20 tags, received 21"):
        write_notes(run, tags=tuple(map(str, range(21))))
    assert read_notes(run) == Notes()


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("{", Notes()),
        ("[]", Notes()),
        ('{"note": 3, "tags": "paper"}', Notes()),
        ('{"note": "good", "tags": ["b", 3, "a", "x,y", null]}', Notes("good", ("a", "b"))),
        (json.dumps({"note": "x" * 2**21}), Notes()),
    ],
)
def test_a_damaged_file_counts_as_what_can_be_read_of_it(run: RunFolder, text: str, notes: Notes) -> None:
    (run.path / FILE).write_text(text)
    assert read_notes(run) == notes


def test_tags_in_a_line() -> None:
    assert tags_in(" paper, try again,,") == ("paper", "try again")


def test_a_run_is_given_a_name_and_its_number_back(run: RunFolder) -> None:
    write_notes(run, note="good", run_name=" with dropout ")
    assert read_notes(run) == Notes("good", (), "with dropout")
    for bad in ("x" * 81, "two\nlines"):
        with pytest.raises(UserError, match="is no name of a run: expected up to 80 characters on one line"):
            write_notes(run, run_name=bad)
    write_notes(run, note="better")
    assert read_notes(run).run_name == "with dropout"
    write_notes(run, run_name="")
    assert read_notes(run) == Notes("better")
