"""Import libraries of extras."""

import sys
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra


def test_import_extra_returns_the_module() -> None:
    assert import_extra("json.decoder", "none", "Files").JSONDecoder is not None


def test_a_missing_library_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(UserError) as refused:
        import_extra("no_such_library.reader", "hdf5", "HDF5 files", "Or use CSV.")
    assert str(refused.value) == (
        "HDF5 files need no_such_library, which is not installed. "
        'Install it: pip install "netwright[hdf5]". Or use CSV.'
    )


def test_a_broken_library_is_named_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_reader.py").write_text("raise RuntimeError('operator nms does not exist\\nmore')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError) as refused:
        import_extra("broken_reader", "audio", "WAV files")
    assert "broken_reader, which cannot be loaded here: RuntimeError: operator nms does not exist." in str(
        refused.value
    )
    assert "broken_reader" not in sys.modules
