"""Errors: the codes that tell them apart, their way out, and how they pass between processes."""

import errno
from pathlib import Path

import pytest

from netwright.engine.core.errors import (
    FieldError,
    FieldErrors,
    RunError,
    UnavailableError,
    UserError,
    read_error,
)
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.project import file as project_file
from netwright.engine.runs import folder as run_folder
from netwright.engine.runs.folder import open_run


@pytest.mark.parametrize(("number", "code"), [
    (errno.ENOENT, "not_found"),
    (errno.ENOTDIR, "not_found"),
    (errno.EACCES, "no_permission"),
    (errno.EPERM, "no_permission"),
    (errno.ENOSPC, "no_space"),
    (errno.EHOSTUNREACH, "unreachable"),
    (errno.ENETUNREACH, "unreachable"),
    (errno.ESTALE, "unreachable"),
    (errno.ETIMEDOUT, "unreachable"),
    (errno.ECONNREFUSED, "unreachable"),
    (errno.EIO, "not_accessible"),
])  # fmt: skip
def test_a_typo_a_permission_and_a_network_error_have_codes_of_their_own(
    number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "the system says so")

    monkeypatch.setattr(project_file, "_read_bytes", refuse)
    with pytest.raises(UserError) as of_project:
        project_file.load(tmp_path / "a.netwright")
    monkeypatch.setattr(run_folder.RunFolder, "info", property(refuse))
    with pytest.raises(UserError) as of_run:
        open_run(tmp_path)
    assert (of_project.value.code, of_run.value.code) == (code, code)


def test_the_hint_is_what_was_said_to_be_one() -> None:
    plain = UserError("There is no file a.b. Its folder is gone.")
    assert (str(plain), plain.hint) == ("There is no file a.b. Its folder is gone.", "")
    with_hint = UserError("There is no file.", hint=" Name another one.", code="not_found")
    assert (str(with_hint), with_hint.hint) == ("There is no file. Name another one.", "Name another one.")
    again = with_hint.reworded(f"a.netwright: {with_hint}")
    assert (str(again), again.hint, again.code) == (
        "a.netwright: There is no file. Name another one.",
        "Name another one.",
        "not_found",
    )
    field = FieldError("epochs", "there is no such field.", hint="Did you mean 'max_epochs'?").at("training.epochs")
    assert str(field) == "training.epochs: there is no such field. Did you mean 'max_epochs'?"
    assert FieldErrors([field, field, FieldError("a", "wrong")]).hint == "Did you mean 'max_epochs'?"


@pytest.mark.parametrize("error", [
    UserError("No.", code="not_found", hint="Yes."), UnavailableError("No GPU."), RunError("Failed.", hint="Again."),
])  # fmt: skip
def test_an_error_passes_between_processes(error: UserError) -> None:
    def fail() -> dict[str, object]:
        raise error

    with pytest.raises(type(error)) as refused:
        run_in_child_process(fail)
    for found in (refused.value, read_error(error.write())):
        assert type(found) is type(error)
        assert (str(found), found.code, found.hint) == (str(error), error.code, error.hint)
