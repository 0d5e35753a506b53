"""Words for places that cannot be read. Tests may run as root, whom nothing is denied, so the errors are made here."""

import errno
import os
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources import source


def test_no_permission_says_so():
    error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    assert str(source.unreadable(Path("/x/a.csv"), error)) == (
        "/x/a.csv may not be read. Give yourself permission to read it, or choose other data."
    )


def test_other_failures_keep_the_words_of_the_system():
    error = OSError(errno.EIO, os.strerror(errno.EIO))
    assert str(source.unreadable(Path("/x/a.csv"), error)) == "/x/a.csv cannot be read: Input/output error."


def test_a_denied_folder_is_named(tmp_path, monkeypatch):
    def denied(path, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "lstat", denied)
    with pytest.raises(UserError, match="may not be read"):
        source.locate("a.csv", tmp_path)


def test_what_does_not_fit_into_memory_is_refused_before():
    with pytest.raises(UserError, match=r"The arrays need 1,024\.0 GiB of memory; .* GiB are free\. Use fewer\."):
        source.refuse_too_large(2**40, "The arrays", "Use fewer.")
    source.refuse_too_large(2**10, "The arrays", "Use fewer.")


def test_a_home_of_nobody_is_named(tmp_path):
    with pytest.raises(UserError, match="There is no home folder ~no-such-user for the data"):
        source.locate("~no-such-user/a.csv", tmp_path)
