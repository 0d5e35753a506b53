"""Stages of a validation, with an `ssh` and a Python of the profile that are scripts of the test."""

import os
import sys
from pathlib import Path

import pytest

from netwright.engine.cluster import validation
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import Attempt, Stage, StageResult, all_reduce, validate
from netwright.engine.core.errors import RunError
from netwright.engine.core.version import VERSION

SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
exec sh -c "$3"
"""
# Asked for its versions with -c, else called with the program, the folder and what to try.
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo '{versions}'; exit 0; fi
[ "$RANK" = "{dies}" ] && {{ echo "Traceback"; echo "ModuleNotFoundError: No module named x"; exit 1; }}
echo '{{"host": "n'$RANK'", "cores": 2, "gpus": 1, "is_right": true, "numbers": 9, "bytes_per_s": 4e9, "flops": 9e9}}' \
    > "$2/answer.tmp$RANK"
mv "$2/answer.tmp$RANK" "$2/answer-$RANK.json"
"""


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterProfile:
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}", prepend=":")
    (tmp_path / "ssh").write_text(SSH, encoding="utf-8")
    (tmp_path / "ssh").chmod(0o700)
    monkeypatch.setattr(validation, "POLL_S", 0.0)
    answers(tmp_path)
    return ClusterProfile(
        name="lab", kind="ssh", address="node1", storage=f"{tmp_path}/jobs", python=f"{tmp_path}/python"
    )


def answers(folder: Path, *, netwright: str = VERSION, dies: str = "-") -> None:
    """Write the Python of the profile."""
    versions = f'{{"python": "3.12.1", "netwright": "{netwright}", "torch": "2.13.0", "ray": ""}}'
    text = PYTHON.format(versions=versions, dies=dies)
    (folder / "python").write_text(text, encoding="utf-8")
    (folder / "python").chmod(0o700)


def states(results: list[StageResult]) -> list[str]:
    return [result.state for result in results]


def test_a_cluster_that_works_passes_all_stages_and_nothing_is_left(profile: ClusterProfile, tmp_path: Path) -> None:
    results = list(validate(profile))
    assert states(results) == ["passed"] * 7, results
    details = {result.stage: result.detail for result in results}
    assert details["versions"] == f"Python 3.12.1, Netwright {VERSION}, torch 2.13.0"
    assert details["workers"] == "2 workers on n0 and n1"
    assert details["speed"].startswith("sums 4,000 MB/s; each worker multiplies matrices with 9 to 9 GFLOP/s")
    assert list((tmp_path / "jobs").iterdir()) == []


def test_what_a_killed_validation_has_left_is_deleted_by_a_later_one(profile: ClusterProfile, tmp_path: Path) -> None:
    for name in (".validate-1", ".validate-2", "2026-11-22"):
        (tmp_path / "jobs" / name).mkdir(parents=True)
    for name in (".validate-1", "2026-11-22"):
        os.utime(tmp_path / "jobs" / name, (0, 0))
    results = list(validate(profile, {name: validation.STAGES[name] for name in ("reach", "task")}))
    assert states(results) == ["passed", "passed"]
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == [".validate-2", "2026-11-22"]


def test_what_fails_says_the_way_out_and_what_depends_on_it_is_left_out(
    profile: ClusterProfile, tmp_path: Path
) -> None:
    answers(tmp_path, netwright="0.0.1")
    results = list(validate(profile))
    assert states(results) == ["passed", "failed", "passed", "skipped", "skipped", "passed", "skipped"]
    assert "has Netwright 0.0.1, and here it is" in results[1].detail
    assert results[3].detail == "not tried, since this has not passed: Compare versions"


def test_a_worker_that_dies_is_told_with_its_last_words(profile: ClusterProfile, tmp_path: Path) -> None:
    answers(tmp_path, dies="1")
    results = list(validate(profile))
    assert results[3].detail == ("1 of 2 workers have answered. The job said: ModuleNotFoundError: No module named x.")
    assert list((tmp_path / "jobs").iterdir()) == []


def test_workers_without_a_gpu_of_their_own_are_told(profile: ClusterProfile) -> None:
    failed = [result for result in validate(profile.replace(gpus_per_worker=2)) if result.state == "failed"]
    assert [result.detail for result in failed] == ["2 workers have fewer than 2 GPUs."]
    assert "gpus_per_worker=0" in failed[0].hint


def test_a_wrong_sum_is_noticed(profile: ClusterProfile) -> None:
    answers = [{"is_right": True, "numbers": 9}, {"is_right": False, "numbers": 9}]
    with pytest.raises(RunError, match="got another sum"):
        all_reduce(Attempt(profile, (), {"workers": answers}))


def test_a_ray_that_does_not_answer_is_not_waited_for() -> None:
    results = list(validate(ClusterProfile(name="lab", address="127.0.0.1:1")))
    assert states(results) == ["failed", *["skipped"] * 6]
    assert results[0].detail.startswith("The head of the Ray cluster at 127.0.0.1:1 does not answer: ")


def test_stages_run_in_order_and_only_what_passed_counts(profile: ClusterProfile) -> None:
    def fail(attempt: Attempt) -> str:
        raise RunError("It broke.", hint="Mend it.")

    stages = {"a": Stage("A", lambda attempt: "good"), "b": Stage("B", fail, ("a",)), "c": Stage("C", fail, ("b",))}
    a, b, c = validate(profile, stages)
    assert (a.state, b.state, c.state) == ("passed", "failed", "skipped")
    assert (b.detail, b.hint) == ("It broke.", "Mend it.")
