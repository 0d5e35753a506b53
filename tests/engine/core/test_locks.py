"""Locks are held by one at a time, until they are closed."""

import os
import sys
from pathlib import Path

import pytest

from netwright.engine.core.locks import LockHeldError, is_locked, restore_lock, take_lock


def test_one_at_a_time_holds_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    lock = take_lock(path)
    assert not os.get_inheritable(lock)
    assert is_locked(path)
    with pytest.raises(LockHeldError):
        take_lock(path, patience_s=0.05)
    os.close(lock)
    assert not is_locked(path)
    os.close(take_lock(path, create=False))


def test_a_file_that_cannot_be_opened_has_no_lock(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        take_lock(tmp_path / "absent", create=False)
    with pytest.raises(OSError, match=r"Is a directory|denied"):
        take_lock(tmp_path)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        assert not is_locked(tmp_path / "pipe")


@pytest.mark.skipif(sys.platform == "win32", reason="the file of a lock cannot be deleted")
def test_a_lock_whose_file_was_deleted_or_replaced_is_restored(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = take_lock(path)
    assert not restore_lock(path, lock)
    path.unlink()
    assert restore_lock(path, lock)
    assert is_locked(path)
    assert not restore_lock(path, lock)
    path.unlink()
    other = take_lock(path)
    with pytest.raises(LockHeldError):
        restore_lock(path, lock)
    os.close(other)
    assert restore_lock(path, lock)
    assert not os.get_inheritable(lock)
    os.close(lock)
    assert not is_locked(path)
