"""Names of files of names that anybody may have written."""

import os
from pathlib import Path

import pytest

from netwright.engine.core.file_names import LONGEST, FileNames


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("3", "3"),
        ("a cat-2.v1", "a cat-2.v1"),
        ("猫", "猫"),
        ("../../etc/passwd", "__.._etc_passwd"),
        ("", "_"),
        ("...", "_"),
        ("trailing. . ", "trailing"),
        ("con", "_con"),
        ("LPT1.x", "_LPT1.x"),
        ("a\nb\x00c:d*e?f\u202eg", "a_b_c_d_e_f_g"),
        ("\udcff", "_"),
    ],
)
def test_a_name_is_kept_as_far_as_file_systems_accept_it(name: str, expected: str, tmp_path: Path) -> None:
    given = FileNames().of(name)
    assert given == expected
    (tmp_path / f"{given}.png").write_bytes(b"")
    assert os.listdir(tmp_path) == [f"{expected}.png"]


def test_no_two_names_are_equal(tmp_path: Path) -> None:
    names = FileNames(["answers"])
    given = [names.of(name) for name in ("a", "A", "a", "á", "a_2", "a", "Answers", "x" * 500, "x" * 501, "猫" * 200)]
    assert given[:3] == ["a", "A_2", "a_3"]
    assert given[6] == "Answers_2"
    assert len({name.casefold() for name in given}) == len(given)
    assert max(map(len, given)) <= LONGEST + 2
    for name in given:
        (tmp_path / f"{name}.parquet").write_bytes(b"")
    assert len(os.listdir(tmp_path)) == len(given)
