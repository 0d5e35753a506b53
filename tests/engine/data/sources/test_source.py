"""What sources share: the memory that is free, and the place of the data."""

import resource
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from netwright.engine.core import platform
from netwright.engine.core.errors import UserError
from netwright.engine.data.sources import source
from netwright.engine.data.sources.source import free_memory, locate


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with 2**40 bytes, and the folder of its control groups."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**40))
    monkeypatch.setattr(source, "CGROUP", tmp_path)
    monkeypatch.setattr(platform, "CONTROL_GROUPS", tmp_path / "self")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return tmp_path


def second(folder: Path, limit: str, used: int, files: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon {used - files}\nfile {files}\n")


def test_the_limit_of_a_container_counts_and_what_it_holds_of_files_does_not(groups: Path) -> None:
    assert free_memory() == 2**40
    second(groups, "500", 300, files=100)
    assert free_memory() == 300
    second(groups, "max", 300)
    assert free_memory() == 2**40


def test_the_least_of_the_groups_around_a_process_counts(groups: Path) -> None:
    (groups / "self").write_text("3:cpu:/\n0::/user.slice/run-7.scope\n")
    second(groups / "user.slice", "900", 100)
    second(groups / "user.slice" / "run-7.scope", "1000", 50)
    assert free_memory() == 800
    second(groups / "user.slice" / "run-7.scope", "700", 50)
    assert free_memory() == 650


def test_groups_of_the_first_version_count(groups: Path) -> None:
    (groups / "self").write_text("4:memory:/job\n0::/\n")
    folder = groups / "memory" / "job"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text("500")
    (folder / "memory.usage_in_bytes").write_text("400")
    (folder / "memory.stat").write_text("cache 10\ntotal_cache 60\n")
    assert free_memory() == 160


def test_limits_of_the_shell_count(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = Path("/proc/self/status").read_text()
    used = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    limits = {resource.RLIMIT_DATA: used + 2**30}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits.get(kind, resource.RLIM_INFINITY),) * 2)
    assert 2**29 < free_memory() <= 2**30
    limits[resource.RLIMIT_AS] = 1
    assert free_memory() == 0


def test_a_path_of_another_system_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lies at C:/数据/a\.csv, a path of another system"):
        locate("C:/数据/a.csv", tmp_path)
