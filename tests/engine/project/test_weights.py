import hashlib
import json
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.weights import WEIGHTS, WeightsOptions, chosen, file_in, weights_path


def test_chosen_weights_are_kept_with_their_checksum_relative_to_the_project(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    file = tmp_path / "nets" / "base.safetensors"
    file.write_bytes(b"weights")
    options = chosen(file, tmp_path)
    assert options.write() == {"file": "nets/base.safetensors", "sha256": hashlib.sha256(b"weights").hexdigest()}
    assert weights_path(options, tmp_path) == file
    assert chosen(file, tmp_path / "elsewhere").file == str(file)


def make_run(run: Path, kept: str, *names: str) -> Path:
    for name in names:
        (run / name).mkdir(parents=True)
        (run / name / WEIGHTS).write_bytes(name.encode())
    (run / "run.json").write_text(json.dumps({"kept": kept}))
    return run


def test_a_run_gives_the_weights_that_count_as_its_result(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "last", "best", "last")
    assert file_in(run) == run / "last" / WEIGHTS
    assert file_in(run / "best") == run / "best" / WEIGHTS
    (run / "run.json").write_text("{}")  # it trains, or broke off
    assert file_in(run) == run / "best" / WEIGHTS


def test_weights_that_are_not_there_are_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be read: No such file.*--set weights.file=") as refused:
        file_in(tmp_path / "none.safetensors")
    assert refused.value.code == "not_found"
    with pytest.raises(UserError, match=r"holds no weights\. Choose the folder of a run"):
        file_in(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    make_run(run, "")
    with pytest.raises(UserError, match="has no weights yet"):
        file_in(run)


@pytest.mark.parametrize("checksum", ["abc", "G" * 64, "A" * 64])
def test_a_checksum_that_is_none_is_an_error(checksum: str) -> None:
    assert [error.path for error in WeightsOptions(file="a", sha256=checksum).problems()] == ["sha256"]


def test_options_are_set_by_their_path() -> None:
    project = Project()
    for text in ("weights.file=runs/first", "weights.map=fc.weight=head.weight; fc.bias=", "weights.freeze_up_to=conv"):
        project = set_option(project, text)
    assert project.weights.write() == {
        "file": "runs/first",
        "map": {"fc.weight": "head.weight", "fc.bias": ""},
        "freeze_up_to": "conv",
    }
    alone = set_option(Project(), "weights.map=a=b")
    assert [error.path for error in alone.option_problems()] == ["weights.map"]
