"""The doctor: what it finds in projects with one fault each, that its cures help, and what it says about a machine."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.doctor.examine import examine
from netwright.engine.doctor.operations.doctor import Comparison, DoctorRequest, DoctorResult, Finding
from netwright.engine.project.check import check
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project

Write = Callable[..., Path]


def fitted(project: Project, base: Path) -> Project:
    """Return the project with the network that is proposed for its data."""
    from netwright.engine.data.loading.load import facts

    starter = check(project, facts(project.data, base)).starter
    assert starter is not None
    made: Project = starter.edit(project)
    return made


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a table, and a project for it with the proposed network; return the path of the project."""

    def make(columns: dict[str, object], response: str, *settings: str, plain: bool = False) -> Path:
        names = list(columns)
        rows = zip(*(list(columns[name]) for name in names), strict=True)  # type: ignore[call-overload]
        lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
        (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
        project = Project(data=DataOptions(source="table", path="table.csv", response=response))
        project = fitted(project, tmp_path)
        if plain:
            layer = project.network.inputs[0]
            kind = replace(layer, type=layer.type.replace(normalization="none"))
            project = replace(
                project, network=replace(project.network, layers={**project.network.layers, layer.id: kind})
            )
        path = tmp_path / "table.netwright"
        save(project, path)
        return path

    return make


def classes(count: int = 600, *, share: float = 0.5) -> dict[str, object]:
    """Return a table of two classes that a network can tell apart."""
    generator = np.random.default_rng(0)
    label = (generator.random(count) < share).astype(int)
    a, b = generator.normal(size=count) + 2 * label, generator.normal(size=count) - 2 * label
    return {"a": a.round(4), "b": b.round(4), "kind": np.where(label, "yes", "no")}


def kinds(result: DoctorResult) -> list[str]:
    return [finding.kind for finding in result.findings]


def one(result: DoctorResult, kind: str) -> Finding:
    return next(finding for finding in result.findings if finding.kind == kind)


def test_a_learn_rate_that_diverges_is_found_and_its_cure_helps(write: Write, tmp_path: Path) -> None:
    path = write(classes(), "kind")
    settings = ("training.solver=sgdm", "training.initial_learn_rate=500", "training.mini_batch_size=32")
    result = examine(DoctorRequest(project=path, settings=settings, compares=True, output=tmp_path / "cured.netwright"))
    assert {"learn-rate", "diverges"} & set(kinds(result)), result.findings
    finding = next(finding for finding in result.findings if finding.kind in ("learn-rate", "diverges"))
    assert finding.cure is not None
    assert finding.cure.settings[0].startswith("training.initial_learn_rate=")
    assert finding.comparison is not None
    assert finding.comparison.runs == 3
    rate = load(tmp_path / "cured.netwright").project.training.initial_learn_rate
    assert rate < 100
    again = examine(DoctorRequest(project=tmp_path / "cured.netwright"))
    assert not {"learn-rate", "diverges"} & set(kinds(again)), again.findings


def test_inputs_and_targets_that_are_not_normalised_are_cured_in_the_project(write: Write, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    area = generator.uniform(20, 200, 400).round(1)
    path = write({"area": area, "price": (3000 * area + 10000).round(0)}, "price", plain=True)
    to = tmp_path / "cured.netwright"
    settings = ("training.normalize_targets=false",)
    result = examine(DoctorRequest(project=path, settings=settings, quick=True, output=to))
    assert {"normalisation", "target-scale"} <= set(kinds(result)), result.findings
    cured = load(to).project
    assert cured.training.normalize_targets
    assert cured.network.inputs[0].type.normalization == "zscore"  # type: ignore[attr-defined]
    again = examine(DoctorRequest(project=to, quick=True))
    assert not {"normalisation", "target-scale"} & set(kinds(again))


def test_classes_splits_and_length_are_judged_without_training(write: Write) -> None:
    path = write(classes(240, share=0.05), "kind")
    settings = ("training.mini_batch_size=128", "training.max_epochs=2", "training.class_weighting=none")
    result = examine(DoctorRequest(project=path, settings=settings, quick=True))
    assert {"balance", "updates", "validation"} <= set(kinds(result)), result.findings
    assert "To say 'no' always is right in" in one(result, "balance").evidence
    effects = [finding.effect for finding in result.findings]
    assert effects == sorted(effects, reverse=True)
    none = examine(DoctorRequest(project=path, settings=("data.validation_share=0",), quick=True))
    assert "There is no validation" in one(none, "validation").title


def test_a_network_that_cannot_learn_one_batch_is_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    label = generator.integers(0, 2, 400)
    lines = ["a,kind", *(f"1.5,{'yes' if each else 'no'}" for each in label)]  # the input says nothing
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    data = DataOptions(source="table", path="table.csv", response="kind", left_out="")
    save(fitted(Project(data=data), tmp_path), tmp_path / "a.netwright")
    result = examine(DoctorRequest(project=tmp_path / "a.netwright"))
    assert "by-heart" in kinds(result), result.findings


def test_a_sound_project_has_no_warning_of_training(write: Write) -> None:
    path = write(classes(), "kind")
    settings = (
        *("training.solver=adam", "training.initial_learn_rate=0.005"),
        *("training.mini_batch_size=16", "training.max_epochs=20", "training.schedule=none"),
    )
    result = examine(DoctorRequest(project=path, settings=settings))
    ours = {
        "learn-rate",
        "diverges",
        "by-heart",
        "first-loss",
        "dead-layer",
        "vanishing-gradient",
        "updates",
        "balance",
    }
    assert not ours & set(kinds(result)), result.findings
    assert any("by heart in" in check for check in result.passed)


def test_data_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    save(Project(data=DataOptions(source="table", path="gone.csv", response="y")), tmp_path / "a.netwright")
    result = examine(DoctorRequest(project=tmp_path / "a.netwright"))
    assert result.findings[0].severity == "error"
    assert main(["doctor", str(tmp_path / "a.netwright")]) == 2


def test_a_comparison_says_whether_a_cure_helps() -> None:
    def conclusion(difference: float, *, higher: bool) -> str:
        return Comparison("accuracy", higher, 0.5, 0.5 + difference, difference, 0.1, 3, 100).conclusion

    assert conclusion(0.3, higher=True) == conclusion(-0.3, higher=False) == "helps"
    assert conclusion(-0.3, higher=True) == conclusion(0.3, higher=False) == "makes it worse"
    assert conclusion(0.05, higher=True) == "no clear difference"


def test_the_machine_is_looked_at_without_a_project(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("netwright.engine.doctor.machine.num_cores", lambda: 8)
    monkeypatch.setattr("netwright.engine.doctor.machine.EXTRAS", {"sky": ("the sky", "no_such_module")})
    assert main(["doctor", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    titles = [finding["title"] for finding in result["findings"]]
    assert "OMP_NUM_THREADS is 1: torch uses 1 of 8 cores" in titles
    assert "Not installed: the sky" in titles
    assert any(check.startswith("torch ") for check in result["passed"])
    assert main(["doctor"]) == 0
    assert " findings" in capsys.readouterr().out.splitlines()[-1]


def test_what_needs_a_project_is_refused_without_one() -> None:
    with pytest.raises(UserError, match="need a project"):
        DoctorRequest(compares=True).check()
    with pytest.raises(UserError, match="leaves out the trainings"):
        DoctorRequest(project=Path("a.netwright"), compares=True, quick=True).check()
