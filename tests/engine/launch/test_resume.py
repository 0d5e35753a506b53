"""A run goes on only as what it was."""

import os
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.launch.prepare import lock_of, prepare
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.project.file import dumps, load
from tests.system.test_training import digits, mlp


def test_another_project_in_its_folder_is_refused(tmp_path: Path) -> None:
    """Checkpoints do not fit it, or worse, they do. What it is asked to change is known."""
    folder = prepare(digits(mlp()), None, tmp_path / "run")
    os.close(lock_of(folder))
    prepare_resume(folder, ["training.max_epochs=7", "training.gradient_accumulation=2"])
    os.close(lock_of(folder))
    prepare_resume(folder)
    os.close(lock_of(folder))
    project = load(folder.project).project
    assert project.training.max_epochs == 7
    text = dumps(project).replace('"max_epochs": 7', '"max_epochs": 8')
    folder.project.write_text(text)
    with pytest.raises(UserError, match="its checksum is not the one in run"):
        prepare_resume(folder)
    assert not folder.is_alive()
    assert folder.project.read_text() == text, "it is left as it is"
