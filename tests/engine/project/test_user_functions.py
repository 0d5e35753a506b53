"""The user's functions that a training runs: which files they are, and what their text says is wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project import user_code
from netwright.engine.project.check import check, describe
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.user_code import registry, trust


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


def said(folder: Path, text: str, **options: str) -> list[str]:
    """The problems that the options have with a file `own.py`."""
    (folder / "own.py").write_text(text)
    project = Project(training=TrainingOptions(**options))
    user_code.look(project, folder)
    return [f"{p.severity}: {describe(p)}" for p in check(project).problems if "own.py" in p.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def on_step(run): ...\ndef helper(a, b): ...\n", ""),
        (
            "def helper(run): ...",
            "error: training.hooks_file: The file own.py has none of the functions on_start, on_step",
        ),
        ("def on_stp(run): ...", "on_end. Did you mean 'on_step'?"),
        (
            "\ndef on_step(): ...",
            "error: training.hooks_file: The function on_step (own.py, line 2) takes 0 arguments; it is called with 1",
        ),
        (
            "def on_step(run, *, k): ...",
            "The function on_step (own.py, line 1) needs 'k'; it is called with 1: run. Give it a default.",
        ),
        (
            "def on_end(run): ...\ndef on_epoch(run): ...",
            "warning: training.hooks_file: The function on_epoch (own.py, line 2) is never called: there is no",
        ),
        (
            "def on_end(run): ...\ndef state_dict(): ...",
            "The file own.py has state_dict and needs load_state_dict too.",
        ),
        (
            "def on_end(run): ...\ndef state_dict(run): ...\ndef load_state_dict(state): ...",
            "The function state_dict (own.py, line 2) takes 1 argument; it is called with none.",
        ),
        ("def on_step(:", "The file own.py, line 1: this is not valid Python"),
    ],
)
def test_a_file_of_hooks(tmp_path: Path, text: str, words: str) -> None:
    found = said(tmp_path, text, hooks_file="own.py")
    assert len(found) == bool(words)
    assert all(words in message for message in found), found


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("def training_step(network, inputs, targets, loss): ...", "own.py", ""),
        ("def mixup(network, inputs, targets, loss, alpha=0.2): ...", "own.py:mixup", ""),
        ("from functools import partial\nmixup = partial(print)", "own.py:mixup", ""),
        (
            "def mixup(network, inputs, targets, loss): ...",
            "own.py:mixpu",
            "error: training.step_function: The file own.py has no function 'mixpu'. Did you mean 'mixup'? "
            "Define mixpu(network, inputs, targets, loss), or name another.",
        ),
        (
            "def training_step(network, batch): ...",
            "own.py",
            "The function training_step (own.py, line 1) takes 2 arguments; it is called with 4: network, ",
        ),
    ],
)
def test_a_training_step(tmp_path: Path, text: str, named: str, words: str) -> None:
    found = said(tmp_path, text, step_function=named)
    assert len(found) == bool(words)
    assert all(words in message for message in found), found


def test_a_file_that_is_not_there_is_a_problem_once_it_was_looked_for(tmp_path: Path) -> None:
    project = Project(training=TrainingOptions(hooks_file="gone.py"))
    assert list(user_code.problems(project.training)) == []
    user_code.look(project, tmp_path)
    (problem,) = user_code.problems(project.training)
    assert problem.message == 'There is no file "gone.py" in the project\'s folder. Choose a Python file.'
    with pytest.raises(UserError, match="There is no file"):  # before it is a question of trust
        user_code.refuse_untrusted(project)
    (peeked,) = user_code.problems(TrainingOptions(step_function="steps.py:f"), user_code.look_in(tmp_path))
    assert '"steps.py"' in peeked.message


def test_files_of_a_training_are_code_like_that_of_layers(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def on_end(run): ...\ndef training_step(network, inputs, targets, loss): ...\n")
    project = Project(training=TrainingOptions(hooks_file="own.py", step_function="own.py:training_step"))
    user_code.look(project, tmp_path)
    assert user_code.code_files(project) == user_code.untrusted(project) == ("own.py",)
    assert user_code.folders(project) == (tmp_path,)
    with pytest.raises(UserError, match=r"code of its own \(own\.py\).*--trust"):
        user_code.ready(project, tmp_path)
    user_code.grant(project)
    user_code.ready(project, tmp_path)
    assert list(user_code.contents(project)) == ["own.py"]
    assert not user_code.has_code(project.network)  # an export does not need it


def test_a_project_that_moves_still_finds_them(tmp_path: Path) -> None:
    options = TrainingOptions(hooks_file="own.py", step_function="own.py:mixup")
    there = user_code.moved_project(Project(training=options), tmp_path / "a", tmp_path / "b")
    assert there.training.hooks_file == "../a/own.py"
    assert there.training.step_function == "../a/own.py:mixup"
    assert user_code.moved_project(Project(training=options), tmp_path, tmp_path).training == options


def test_a_training_step_needs_weights_that_are_whole() -> None:
    project = Project(training=TrainingOptions(step_function="own.py"))
    sharded = project.with_section("environment", project.environment.replace(strategy="fully-sharded"))
    (problem,) = (p for p in check(sharded).problems if p.field == "environment.strategy")
    assert problem.message.startswith("fully-sharded does not go with a training step of your own")
