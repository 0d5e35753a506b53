"""Runs on a cluster, with an `ssh` and a Slurm that are scripts of the test, and a job that waits until it may end."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.cluster import follower
from netwright.engine.cluster.hosts import Host, UnreachableHostError
from netwright.engine.cluster.job_control import delete, fetch, remote_of, resume, submit, sync
from netwright.engine.cluster.job_list import Job, jobs, note_run_here
from netwright.engine.cluster.profile_file import profiles_file, save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import write_checked_json
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Ended, Points
from netwright.engine.runs.folder import RunFolder, take_lock, write_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import read_all
from netwright.engine.runs.log_lines import line_of
from netwright.engine.runs.remote import FILE
from tests.builders import classifier

SSH = """#!/bin/sh
[ -e {folder}/down ] && {{ echo "no route to host" >&2; exit 255; }}
while [ "$1" != -- ]; do shift; done
echo "Welcome to $2"
exec sh -c "$3"
"""
# The job ends when the test opens the pipe. An engine would write the run folder meanwhile; here the test does.
ENGINE = """#!/bin/sh
read end < {folder}/pipe
[ "$end" = fail ] && echo '{{"error": {{"code": "invalid_data", "message": "No such column."}}}}'
exit 0
"""
SLURM = {
    "sbatch": 'echo "Submitted" >&2; echo "17;cluster"',
    "squeue": "cat {folder}/queue 2>/dev/null || {{ echo 'error: Invalid job id specified' >&2; exit 1; }}",
    "scancel": "rm {folder}/queue",
}


@dataclass
class Cluster:
    """A cluster of scripts: `folder` has them, the jobs and the project."""

    folder: Path

    @property
    def there(self) -> RunFolder:
        """The run on the cluster of the only job."""
        return RunFolder(next(iter((self.folder / "jobs").iterdir())) / "run")

    def profile(self, kind: str = "ssh") -> ClusterProfile:
        """A profile whose engine is the script."""
        address = "anna@node1" if kind == "ssh" else ""
        return ClusterProfile(
            name="lab", kind=kind, address=address, storage=f"{self.folder}/jobs", python=f"{self.folder}/engine"
        )

    def submit(self, kind: str = "ssh") -> RunFolder:
        """Submit a run of a small project."""
        path = self.folder / "net.netwright"
        project = Project(classifier(), data=DataOptions(source="table", path="a.csv"))
        save(project, path)
        (self.folder / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
        return submit(project, path, self.folder / "runs" / "first", self.profile(kind))

    def end(self, word: str = "") -> None:
        """Let the job end."""
        with open(self.folder / "pipe", "w", encoding="utf-8") as pipe:
            pipe.write(f"{word}\n")

    def write(self, state: str, *events: bytes) -> None:
        """Write what an engine on the cluster does."""
        self.there.control.mkdir(parents=True, exist_ok=True)
        write_checked_json(self.there.info, {"state": state, "host": "node1", "base": "/there", "coordinator": 7})
        with open(self.there.events, "ab") as log:
            log.write(b"".join(events))


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    os.mkfifo(tmp_path / "pipe")
    scripts = {"ssh": SSH, "engine": ENGINE} | {name: f"#!/bin/sh\n{text}\n" for name, text in SLURM.items()}
    for name, text in scripts.items():
        (tmp_path / name).write_text(text.format(folder=tmp_path), encoding="utf-8")
        (tmp_path / name).chmod(0o700)
    # Opened for both, so that neither side waits for the other one.
    descriptor = os.open(tmp_path / "pipe", os.O_RDWR)
    yield Cluster(tmp_path)
    os.write(descriptor, b"\n" * 8)  # jobs that a failed test has left
    os.close(descriptor)


def points(step: int, loss: float) -> bytes:
    return line_of(Points(n=step, split="training", first_step=step, steps_apart=1, values={"loss": [loss]}))


def until_over(folder: RunFolder) -> str:
    """Copy until the job is over. The process of a job that was let go ends by itself."""
    while (state := sync(folder).job_state) in ("waiting", "running"):
        pass
    return state


def losses(folder: RunFolder) -> list[float]:
    return [value for event in read_all(folder) if isinstance(event, Points) for value in event.values["loss"]]


def test_a_run_is_followed_without_a_gap_and_fetched_when_it_ends(cluster: Cluster) -> None:
    folder = cluster.submit()
    assert [job.folder.path for job in jobs()] == [folder.path]
    assert (cluster.there.path.parent / "project" / "a.csv").read_text(encoding="utf-8") == "x,y\n1,2\n"
    assert sync(folder).job_state == "running"
    assert folder.state() == "starting"

    cluster.write("running", points(1, 3.0), points(2, 2.0), points(3, 1.0)[:20])
    sync(folder)
    assert losses(folder) == [3.0, 2.0]
    assert folder.state() == "running", "without a process here"

    (cluster.folder / "down").touch()
    with pytest.raises(UnreachableHostError, match=r"anna@node1 cannot be reached: no route to host\. Try it: ssh"):
        sync(folder)
    (cluster.folder / "down").unlink()
    folder.request("stop")
    cluster.write("running", points(3, 1.0)[20:], points(4, 0.5))
    sync(folder)
    assert losses(folder) == [3.0, 2.0, 1.0, 0.5]
    assert [request["do"] for request in cluster.there.take_requests()] == ["stop"]
    assert list(folder.control.iterdir()) == []

    (cluster.there.path / "best").mkdir()
    (cluster.there.path / "best" / "weights.safetensors").write_bytes(b"weights")
    write_checked_json(cluster.there.result, {"state": "stopped", "run_dir": "/there"})
    cluster.write("stopped", line_of(Ended(n=5, state="stopped", reason="on request", result={})))
    assert sync(folder).job_state == "running", "its process has not ended: it may still write"
    assert folder.state() == "running"
    cluster.end()
    assert until_over(folder) == "ended"
    info = folder.read_info()
    assert (info.state, info.base, info.name) == ("stopped", str(cluster.folder), "net")
    assert folder.read_result() == {"state": "stopped", "run_dir": str(folder.path)}
    assert (folder.best / "weights.safetensors").read_bytes() == b"weights"
    assert folder.events.read_bytes() == cluster.there.events.read_bytes()


def test_a_log_that_was_replaced_is_copied_anew(cluster: Cluster) -> None:
    folder = cluster.submit()
    cluster.write("running", *(points(step, 1.0) for step in range(1, 9)))
    sync(folder)
    cluster.there.events.write_bytes(points(8, 1.0) + points(9, 0.5))
    sync(folder)
    assert losses(folder) == [1.0, 0.5]
    cluster.end()


def test_a_job_that_ends_before_its_run_begins_says_why(cluster: Cluster) -> None:
    folder = cluster.submit()
    cluster.end("fail")
    assert until_over(folder) == "ended"
    assert folder.state() == "failed"
    ended = read_all(folder)[-1]
    assert isinstance(ended, Ended)
    assert ended.reason == "No such column."


def test_a_job_that_dies_leaves_a_lost_run_that_goes_on(cluster: Cluster) -> None:
    folder = cluster.submit()
    cluster.write("running", points(1, 3.0))
    with pytest.raises(RunError, match="is at work on its cluster"):
        resume(folder)
    cluster.end()
    assert until_over(folder) == "gone"
    assert folder.state() == "lost"
    resume(folder)
    assert folder.state() == "starting"
    assert sync(folder).job_state == "running"
    cluster.write("running", points(2, 2.0))
    sync(folder)
    assert losses(folder) == [3.0, 2.0]
    cluster.end()


def test_a_job_that_waits_says_why_and_is_stopped_in_its_queue(cluster: Cluster) -> None:
    queue = cluster.folder / "queue"
    queue.write_text("PENDING|Resources\n", encoding="utf-8")
    folder = cluster.submit("slurm")
    remote = sync(folder)
    assert (remote.job, remote.job_state, remote.reason) == ("17", "waiting", "Resources")
    queue.write_text("RUNNING|None\n", encoding="utf-8")
    assert sync(folder).job_state == "running"
    folder.request("stop")
    assert sync(folder).job_state == "ended"
    assert folder.state() == "stopped"
    assert not queue.exists(), "scancel has ended it"


def test_a_follower_notes_a_lost_connection_and_goes_on(cluster: Cluster) -> None:
    folder = cluster.submit()
    (cluster.folder / "down").touch()
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) <= 3:
            assert "no connection since" in remote_of(folder).lost
            assert folder.why_silent() == remote_of(folder).lost
        if len(waits) == 3:
            (cluster.folder / "down").unlink()
            cluster.end("fail")

    lock = take_lock(folder)
    try:
        follower.follow_to_end(folder, lock, wait)
    finally:
        os.close(lock)
    assert waits[:3] == [6.0, 12.0, 24.0], "it asks less and less often"
    assert (folder.state(), remote_of(folder).lost) == ("failed", "")
    assert not follower.ensure_follower(folder)


def test_a_job_is_deleted_with_its_files_there(cluster: Cluster) -> None:
    folder = cluster.submit()
    cluster.write("running", points(1, 3.0))
    sync(folder)
    there = cluster.there.path.parent
    delete(folder)
    assert not there.exists()
    assert (folder.state(), losses(folder)) == ("stopped", [3.0])
    assert jobs() == []
    with pytest.raises(UserError, match="is one of this machine"):
        remote_of(folder)


@pytest.mark.parametrize("name", ["best", "checkpoints"])
def test_a_run_is_fetched_while_it_trains(cluster: Cluster, name: str) -> None:
    folder = cluster.submit()
    cluster.write("running", points(1, 3.0))
    (cluster.there.path / name).mkdir()
    (cluster.there.path / name / "a").write_bytes(b"1" * 100_000)
    fetch(folder, remote_of(folder), checkpoints=True)
    assert (folder.path / name / "a").stat().st_size == 100_000
    assert folder.state() == "running"
    assert [path.name for path in folder.path.glob(".*")] == []
    cluster.end()


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda folder: (folder / "ssh").write_text("#!/bin/sh\nexit 127\n"), "node1 has no python3"),
        (lambda folder: (folder / "ssh").write_text("#!/bin/sh\necho login only\n"), "has given no answer: login only"),
        (lambda folder: (folder / "jobs").write_text(""), "anna@node1: File exists"),
        (lambda folder: (folder / "ssh").write_text("#!/bin/sh\nsleep 60\n"), "has not answered within 0.2 s"),
    ],
)
def test_a_host_that_cannot_be_used_says_why(
    cluster: Cluster, break_it: Callable[[Path], object], message: str
) -> None:
    break_it(cluster.folder)
    with pytest.raises(RunError, match=message):
        Host("anna@node1").ask("prepare", 0.2 if "within" in message else 30.0, folder=f"{cluster.folder}/jobs/7")
    assert not (cluster.folder / "runs").exists()


def test_what_a_host_says_is_not_taken_for_paths_of_this_machine(cluster: Cluster) -> None:
    folder = cluster.submit()
    cluster.write("running", points(1, 3.0))
    (cluster.there.path / "best").symlink_to("/etc")
    with pytest.raises(RunError, match="has not arrived whole"):
        fetch(folder, remote_of(folder))
    assert not folder.best.exists()
    assert json.loads(folder.info.read_text(encoding="utf-8"))["name"] == "net"
    cluster.end()


def test_a_run_whose_coordinator_is_here_is_one_of_the_jobs(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(cluster.folder / "run")
    folder.control.mkdir(parents=True)
    write_info(folder, RunInfo(name="net", state="running", coordinator=os.getpid()))
    lab = EnvironmentOptions(target="parallel", cluster="lab")
    save_profile(ClusterProfile(name="lab", kind="ray", address="auto"))
    monkeypatch.setenv("NETWRIGHT_PROFILES", str(profiles_file()))
    note_run_here(folder, lab)
    assert jobs() == [], "in a job of a cluster, which has a list of its own machine"
    monkeypatch.delenv("NETWRIGHT_PROFILES")
    note_run_here(folder, lab)
    [job] = jobs()
    assert job == Job(folder, "lab", "ray", job.submitted)
    assert "this machine, which must stay on" in job.note
    assert main(["jobs"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[2:5] == ["lab", "this", "machine"]
    assert main(["fetch", str(folder.path)]) == 0
    assert "its files are here already" in capsys.readouterr().out
    assert main(["jobs", "--delete", str(folder.path)]) == 0, "no process has its lock: it is lost and only forgotten"
    assert jobs() == []
    assert folder.path.exists()


@pytest.mark.parametrize("host", ["anna@node1", ""])
@pytest.mark.parametrize("kind", ["ssh", "slurm"])
def test_the_folder_of_a_stranger_moves_nobody_to_a_host(
    cluster: Cluster, kind: str, host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its record names a host and a folder there, to delete or to run a script from: also on this machine."""
    theirs, folder = cluster.folder / "theirs", RunFolder(cluster.folder / "brought" / "run")
    theirs.mkdir()
    (theirs / "job.sh").write_text(f"touch {cluster.folder}/ran\n")
    folder.control.mkdir(parents=True)
    write_checked_json(folder.info, RunInfo(state="running").write())
    record = {"profile": "lab", "kind": kind, "host": host, "folder": str(theirs), "job": "7"}
    for state in ("running", "gone"):
        (folder.path / FILE).write_text(json.dumps({**record, "job_state": state}))
        with monkeypatch.context() as context:
            context.setattr(Host, "_process", None)  # nothing is started
            for words in (
                ["jobs", "--delete"],
                ["fetch"],
                ["resume"],
                *([["follow"], ["stop"]] if state == "running" else []),
            ):
                assert main([*words, str(folder.path)]) in (2, 3), words
                assert "is not in the list of your jobs" in capsys.readouterr().err or words == ["resume"]
    assert theirs.is_dir()
    assert not (cluster.folder / "ran").exists()
    assert main(["jobs", "--add", str(folder.path)]) == 0
    assert str(folder.path) in capsys.readouterr().out
    if not host:
        delete(folder)
        assert not theirs.exists(), "as the user wants it now"
