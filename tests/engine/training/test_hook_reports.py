"""What hooks report by name becomes curves and pictures, and what cannot is refused in words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from netwright.engine.runs.reported_pictures import FOLDER, MOST_NAMES, MOST_STEPS, read_pictures
from netwright.engine.training.hook_reports import MOST_CURVES, HookReports
from netwright.engine.training.picture_recorder import planes_of, span_of


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HookReports:
    monkeypatch.setattr("netwright.engine.training.picture_recorder.FREE_S", 1e9)
    reports = HookReports(tmp_path, lambda *point: points.append(point), is_first=True)
    points: list[tuple[int, str, float]] = []
    reports.points = points  # type: ignore[attr-defined]
    return reports


def test_numbers_of_every_kind_are_points(reports: Any) -> None:
    for step, value in enumerate([1, 2.5, np.float32(3), np.array([4]), torch.tensor(5.0, requires_grad=True)]):
        reports.value(step, "distance", value)
    assert reports.points == [(max(1, n), "distance", v) for n, v in enumerate([1.0, 2.5, 3.0, 4.0, 5.0])]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("loss", 1, "'loss' is a curve of every run"),
        ("accuracy", 1, "is a curve of every run"),
        ("a", [1], "'a' is a list. Report one number."),
        ("a", torch.zeros(2), "'a' is a Tensor of shape \\(2,\\)"),
        ("a", True, "'a' is a bool"),
        ("a\nb", 1, "is no name: use 1 to 64 characters"),
        ("", 1, "is no name"),
        ("x" * 65, 1, "is no name"),
        (3, 1, "A int is no name"),
    ],
)
def test_what_is_no_point_is_refused(name: Any, value: Any, words: str, reports: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        reports.value(1, name, value)
    assert not reports.points


def test_there_are_not_too_many_names(reports: Any) -> None:
    for number in range(MOST_CURVES):
        reports.value(1, f"curve {number}", 0)
    with pytest.raises(ValueError, match="at most 50 names of reported values"):
        reports.value(1, "one more", 0)
    for number in range(MOST_NAMES):
        reports.picture(1, 1, f"picture {number}", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at most 16 names of reported pictures"):
        reports.picture(1, 1, "one more", np.zeros((2, 2)))


def test_pictures_are_kept_and_thinned_in_a_folder_of_the_user_alone(tmp_path: Path, reports: Any) -> None:
    for step in range(1, 100):
        reports.picture(step, 1, "filters", torch.full((3, 4, 4), step / 100))
    (pictures,) = read_pictures(tmp_path).values()
    assert len(pictures) <= MOST_STEPS
    assert pictures[0].iteration == 1
    assert pictures[-1].iteration > 90
    folder = tmp_path / FOLDER
    assert {Path(picture.file) for picture in pictures} == {path for path in folder.iterdir() if path.suffix == ".png"}
    assert folder.stat().st_mode & 0o77 == 0
    assert Image.open(pictures[0].file).getpixel((0, 0)) == (3, 3, 3)


def test_a_resumed_run_goes_on_behind_its_checkpoint(tmp_path: Path, reports: Any) -> None:
    for step in (1, 2, 3):
        reports.picture(step, 1, "filters", np.zeros((2, 2)))
    again = HookReports(tmp_path, lambda *_: None, is_first=True)
    again.picture(3, 1, "others", np.zeros((2, 2)))
    named = {name: [picture.iteration for picture in those] for name, those in read_pictures(tmp_path).items()}
    assert named == {"filters": [1, 2], "others": [3]}


def test_other_workers_keep_nothing(tmp_path: Path) -> None:
    reports = HookReports(tmp_path, lambda *_: pytest.fail("sent"), is_first=False)
    reports.value(1, "distance", 1)
    reports.picture(1, 1, "filters", np.zeros((2, 2)))
    assert not (tmp_path / FOLDER).exists()


def test_forms_of_pictures() -> None:
    assert planes_of("p", np.zeros((5, 7))).shape == (1, 5, 7)
    assert planes_of("p", np.zeros((5, 7, 3), np.uint8)).shape == (3, 5, 7)
    assert planes_of("p", torch.zeros(4, 5, 7, dtype=torch.bfloat16)).shape == (3, 5, 7)
    assert max(planes_of("p", np.zeros((5000, 3000))).shape) <= 1024
    assert span_of(np.array([0.0, 0.5])) == (0.0, 1.0)
    assert span_of(np.array([0, 200])) == (0.0, 255.0)
    assert span_of(np.array([-1.0, 3.0])) == (-1.0, 3.0)
    for wrong in (np.zeros(3), np.zeros((2, 5, 7)), np.zeros((0, 3)), np.zeros((1, 2, 3, 4))):
        with pytest.raises(ValueError, match=r"Report a picture as \(H, W\)"):
            planes_of("p", wrong)
    with pytest.raises(TypeError, match="is a str"):
        planes_of("p", "picture")
