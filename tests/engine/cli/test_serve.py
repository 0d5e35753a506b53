"""`serve` with child processes of its own: what they are asked, and what happens where one hangs, dies or takes too
much memory.

The server is a fork of the test process, with requests that the tests make up beside its own.
"""

import json
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from netwright.engine.cli import serve_job
from netwright.engine.cli.limits import Limits
from netwright.engine.cli.serve import Server
from netwright.engine.cli.serve_job import Job
from netwright.engine.core import progress
from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import fork
from netwright.engine.core.process import MessageWriter
from netwright.engine.operations.operation import operation
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.folder import RunFolder
from tests import warm
from tests.builders import classifier
from tests.handlers import handle
from tests.trials import sample_trials
from tests.trials import written as experiment_of

PATIENCE_S = 60.0


class Client:
    """The other end of a server."""

    def __init__(self, limits: Limits) -> None:
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()

        def work() -> int:
            return Server(theirs, MessageWriter(answers), limits, warms_up=False).run()

        self.pid = fork(work, keep=(theirs, answers))
        os.close(theirs)
        os.close(answers)
        self._lines = b""
        assert self.hear() == {"ready": True}

    def ask(self, number: int, do: str, /, **values: Any) -> None:
        os.write(self._out, (json.dumps({"id": number, "do": do, "with": values}) + "\n").encode())

    def hear(self) -> dict[str, Any]:
        while b"\n" not in self._lines:
            assert select.select([self._in], [], [], PATIENCE_S)[0], "the server does not answer"
            chunk = os.read(self._in, 2**16)
            assert chunk, "the server has ended"
            self._lines += chunk
        line, _, self._lines = self._lines.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> int:
        os.close(self._out)
        _, status = os.waitpid(self.pid, 0)
        os.close(self._in)
        return os.waitstatus_to_exitcode(status)


def who(values: dict[str, Any]) -> dict[str, Any]:
    return {"pid": os.getpid()}


def stop(values: dict[str, Any]) -> dict[str, Any]:
    """Hang, as in a disk that does not answer."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def crash(values: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def eat(values: dict[str, Any]) -> dict[str, Any]:
    return {"size": len(bytearray(values["bytes"]))}


def hold(values: dict[str, Any]) -> dict[str, Any]:
    """Say that it has begun, and work until somebody writes into the pipe of its name."""
    progress.report(1, 0, "files")
    (Path(values["folder"]) / values["name"]).read_bytes()
    return {}


def count(values: dict[str, Any]) -> dict[str, Any]:
    progress.report(3, 10, "files")
    raise UserError("There is no tenth.")


Make = Callable[..., Client]


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    made: list[Client] = []
    monkeypatch.setattr(progress, "TOLD_S", 0.0)
    for name, handler in {
        "facts": who,
        "preview": stop,
        "crash": crash,
        "eat": eat,
        "count": count,
        "hold": hold,
    }.items():
        handle(monkeypatch, name, handler)

    def make(**limits: Any) -> Client:
        made.append(Client(Limits(**limits)))
        return made[-1]

    yield make
    for client in made:
        assert client.close() == 0


def table(**values: Any) -> dict[str, Any]:
    return {"data": {"source": "table", "path": "big.csv", **values}, "base": "/data"}


def test_data_that_was_read_stays_in_one_process(serving: Make) -> None:
    client = serving()
    pids = []
    for number, values in enumerate((table(), table(split_seed=3), table(response="y"), table())):
        client.ask(number, "facts", **values)
        pids.append(client.hear()["result"]["pid"])
    assert pids[0] == pids[1] == pids[3], "the split does not change what is read"
    assert pids[2] != pids[0]
    assert client.pid not in pids


def test_a_reader_that_hangs_holds_up_nobody_and_can_be_cancelled(serving: Make) -> None:
    client = serving()
    client.ask(1, "preview", **table(), folder="/pictures")
    client.ask(2, "facts", **table())  # waits for it
    client.ask(3, "facts", **table(path="other.csv"))
    assert client.hear()["id"] == 3
    client.ask(4, "alive", project_id="none")
    assert client.hear()["result"]["runs"] == []
    client.ask(5, "cancel", id=1)
    cancelled, answered, done = sorted((client.hear() for _ in range(3)), key=lambda message: message["id"])
    assert cancelled == {"id": 1, "error": {"message": "Cancelled.", "defect": False, "cancelled": True}}
    assert "pid" in answered["result"], "a new process answers what waited for it"
    assert done == {"id": 5, "result": {"cancelled": True}}
    client.ask(6, "cancel", id=1)
    assert client.hear()["result"] == {"cancelled": False}


def written(path: Path) -> Path:
    """Write a small network as ONNX."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 3]) for name in ("x", "z")]
    weight = numpy_helper.from_array(np.eye(3, dtype=np.float32), "w")
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_an_import_tells_its_progress_and_can_be_cancelled(serving: Make, tmp_path: Path) -> None:
    path, to = written(tmp_path / "net.onnx"), tmp_path / "net.netwright"
    client = serving()
    client.ask(1, "import", file=str(path), output=str(to))
    messages = [client.hear()]
    while "progress" in messages[-1]:
        messages.append(client.hear())
    assert {message["progress"]["unit"] for message in messages[:-1]} == {"operators", "comparisons"}
    assert messages[-1]["result"]["agrees"]
    assert to.is_file()

    client.ask(2, "import", file=str(written(tmp_path / "two.onnx")), output=str(tmp_path / "two.netwright"))
    client.ask(3, "cancel", id=2)
    answers: dict[int, dict[str, Any]] = {}
    while len(answers) < 2:
        message = client.hear()
        if "progress" not in message:
            answers[message["id"]] = message
    assert answers[2]["error"]["cancelled"]
    assert answers[3]["result"] == {"cancelled": True}
    assert not (tmp_path / "two.netwright").exists()


def test_what_waits_can_be_cancelled_without_the_process(serving: Make) -> None:
    client = serving()
    client.ask(1, "preview", **table(), folder="/pictures")
    client.ask(2, "facts", **table())
    client.ask(3, "cancel", id=1, only_waiting=True)
    assert client.hear() == {"id": 3, "result": {"cancelled": False}}
    client.ask(4, "cancel", id=2, only_waiting=True)
    assert client.hear()["error"]["cancelled"]
    assert client.hear() == {"id": 4, "result": {"cancelled": True}}


def test_a_crash_is_an_error_and_not_the_end(serving: Make) -> None:
    client = serving()
    client.ask(1, "crash", **table())
    message = client.hear()["error"]["message"]
    assert message.startswith("The process for reading big.csv was ended by signal 11 (SIGSEGV) before it answered.")
    client.ask(2, "facts", **table())
    assert "pid" in client.hear()["result"]


@pytest.mark.skipif("not os.path.exists('/proc/self/status')", reason="the system does not count what is asked for")
def test_memory_is_limited_and_the_limit_is_named(serving: Make) -> None:
    client = serving(memory_bytes=2**26)
    client.ask(1, "eat", bytes=2**20)
    assert client.hear()["result"] == {"size": 2**20}
    client.ask(2, "eat", bytes=2**30, **table())
    message = client.hear()["error"]["message"]
    assert message.startswith("Reading big.csv took over 64 MiB of memory and was stopped;")


def test_silence_is_limited(serving: Make) -> None:
    client = serving(silence_s=0.3)
    client.ask(1, "preview", **table(), folder="/pictures")
    message = client.hear()["error"]["message"]
    assert message.startswith("Reading big.csv was stopped: nothing came from there for 0.3 s. Check that the disk")


@pytest.mark.part("cluster")
def test_what_waits_for_other_machines_may_be_silent(
    serving: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle(monkeypatch, "jobs", lambda values: {"read": pipe.read_text()})
    client = serving(silence_s=0.3)
    client.ask(1, "jobs")
    client.ask(2, "preview", **table(), folder="/pictures")
    assert client.hear()["id"] == 2, "silent for a shorter time"
    pipe.write_text("there")
    assert client.hear() == {"id": 1, "result": {"read": "there"}}


def test_progress_comes_before_the_answer(serving: Make) -> None:
    client = serving()
    client.ask(1, "count")
    assert client.hear() == {"id": 1, "progress": {"done": 3, "total": 10, "unit": "files"}}
    error = client.hear()["error"]
    assert error.pop("lines") == ["There is no tenth."]
    assert error == {
        "message": "There is no tenth.", "defect": False, "code": "invalid_input", "hint": "", "exit_code": 2,
    }  # fmt: skip


def test_requests_that_are_none_are_refused(serving: Make) -> None:
    client = serving()
    client.ask(1, "fly")
    assert client.hear()["error"] == {"message": "There is no request 'fly'.", "defect": True}
    os.write(client._out, b"no json\n")
    assert client.hear()["error"]["defect"]


DEEP = "[" * 5000 + "]" * 5000
STRANGE = [
    "no json",
    "[]",
    "7",
    "null",
    '"facts"',
    "{}",
    '{"id": 1, "do": ["facts"]}',
    '{"id": 1, "do": {"facts": 1}, "with": {}}',
    '{"id": 1, "do": null, "with": null}',
    '{"id": [1], "do": "facts", "with": {}}',
    '{"id": {"a": 1}, "do": "cancel", "with": {"id": {"a": 1}}}',
    '{"id": 1, "do": "facts", "with": []}',
    '{"id": 1, "do": "facts", "with": {"data": "text", "base": "/"}}',
    '{"id": 1, "do": "facts", "with": {"data": [1], "base": "/"}}',
    '{"id": 1, "do": "facts", "with": {"data": {}, "base": 7}}',
    '{"id": 1, "do": "facts", "with": {"data": {}, "base": "/", "hosts": {"a": "b"}}}',
    '{"id": 1, "do": "train", "with": {"project": {}}}',
    '{"id": 1, "do": "alive", "with": {"project_path": 7}}',
    '{"id": 1, "do": "alive", "with": {"project_path": "a\\u0000b"}}',
    '{"id": 1, "do": "guess", "with": {"path": "\\ud800"}}',
    '{"id": 1, "do": "import", "with": {"file": "a.onnx", "output": "b", "time_limit": "soon"}}',
    '{"id": 1e400, "do": "alive"}',
    f'{{"id": 1, "do": "evaluate", "with": {{"path": {DEEP}}}}}',
    f'{{"id": 1, "do": "evaluate", "with": {{"path": "x", "more": {DEEP[4700:5300]}}}}}',
    f'{{"id": {"1" * 5000}, "do": "alive"}}',
    f'{{"id": {"1" * 100}, "do": "alive"}}',
    "\u1234".encode("utf-16").decode("latin-1"),
]


@pytest.mark.parametrize("line", STRANGE, ids=range(len(STRANGE)))
def test_a_line_of_another_shape_is_refused_and_not_the_end(serving: Make, line: str) -> None:
    client = serving()
    os.write(client._out, line.encode("latin-1") + b"\n")
    error = client.hear()["error"]
    assert error["defect"], error
    assert "Error" not in error["message"], "it is refused before anything is done"
    client.ask(2, "facts", **table())
    assert "pid" in client.hear()["result"]


def test_a_long_line_is_read_in_one_go(serving: Make) -> None:
    """Of 50 MB, whose end was looked for anew with each piece: it took more than a minute."""
    client = serving()
    line = json.dumps({"id": 1, "do": "facts", "with": {**table(), "padding": "x" * 50_000_000}}).encode()
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(os.write, client._out, line + b"\n")
        assert "pid" in client.hear()["result"]
        assert sent.result() == len(line) + 1


def test_no_more_processes_work_than_may_and_the_others_wait_in_order(
    serving: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None begins before another one has ended; what waits can be cancelled, and a training goes first."""
    handle(monkeypatch, "train", hold)
    for number in range(1, 10):
        os.mkfifo(tmp_path / str(number))
    client = serving(working=2)
    for number in range(1, 9):
        client.ask(number, "hold", name=str(number), folder=str(tmp_path))
    begun = [client.hear()["id"] for _ in range(2)]
    assert sorted(begun) == [1, 2]
    client.ask(9, "train", project="", name="9", folder=str(tmp_path))
    client.ask(10, "cancel", id=3)
    assert client.hear() == {"id": 3, "error": {"message": "Cancelled.", "defect": False, "cancelled": True}}
    assert client.hear() == {"id": 10, "result": {"cancelled": True}}
    assert len(psutil.Process(client.pid).children()) == 2
    for number in (9, *range(4, 9)):
        (tmp_path / str(begun.pop(0))).write_bytes(b"")
        assert "result" in client.hear()
        assert client.hear() == {"id": number, "progress": {"done": 1, "total": 0, "unit": "files"}}
        begun.append(number)
    for number in begun:
        (tmp_path / str(number)).write_bytes(b"")
        assert "result" in client.hear()


def test_facts_of_a_real_table_with_its_progress(
    serving: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_job, "operation", operation)
    (tmp_path / "small.csv").write_text("a,b,c\n" + "1,2,x\n3,4,y\n" * 50)
    client = serving()
    client.ask(1, "facts", data={"source": "table", "path": "small.csv"}, base=str(tmp_path))
    messages = [client.hear()]
    while "progress" in messages[-1]:
        messages.append(client.hear())
    assert messages[-1]["result"]["samples"]["training"] == 70
    assert messages[0]["progress"]["unit"] == "bytes"


def test_first_samples_come_while_the_data_is_read(
    serving: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle(monkeypatch, "facts", stop)
    (tmp_path / "long.csv").write_text("a,b,c\n" + "1,2,x\n3,4,y\n" * 500)
    client = serving()
    asked = {"data": {"source": "table", "path": "long.csv"}, "base": str(tmp_path)}
    client.ask(1, "facts", **asked)
    client.ask(2, "first_samples", **asked, folder=str(tmp_path / "out"))
    while "progress" in (message := client.hear()):
        pass
    assert message["id"] == 2
    assert message["result"]["text"] == "the first 200 rows"
    assert message["result"]["rows"][1] == [3.0, 4.0, "y"]


def test_a_job_is_about_its_data() -> None:
    values = table(validation_share=0.5, decoded_cache=7)
    facts, train = Job(do="facts", values=values), Job(do="train", values={"project": "", **table()})
    assert facts.key == train.key != ""
    assert facts.is_about_data
    assert facts.subject == "reading big.csv"
    assert Job(do="inventory").key == ""
    assert Job(do="inventory").subject == "the request 'inventory'"


TRAIN = "import sys; from tests.engine.cli.test_serve import train; train(*sys.argv[1:])"


def train(path: str, run_dir: str) -> None:
    """Let a server train a project on pictures, and print the state in which the run ends, with its log."""
    progress.TOLD_S = 0.0
    file = Path(path)
    client = Client(Limits())
    values = {"project": file.read_text(encoding="utf-8"), "project_path": path, "base": str(file.parent)}
    client.ask(1, "train", **values, data={"source": "images", "path": "pets"}, run_dir=run_dir)
    while "progress" in (message := client.hear()):
        assert message["progress"]["unit"] == "files"
    run = RunFolder(Path(message["result"]["run_dir"]))
    deadline = time.monotonic() + PATIENCE_S
    while run.is_alive() and time.monotonic() < deadline:
        client.ask(2, "alive", project_id="none")  # which lets the server collect the processes that have ended
        client.hear()
    print(run.state(), run.log.read_text(encoding="utf-8"))
    assert client.close() == 0


def test_a_run_whose_data_report_progress_is_started_and_trains(tmp_path: Path) -> None:
    """Once it reads pictures, a run must not report to the process that it was forked from.

    The server is forked from a process that has not computed: torch's threads do not survive a fork.
    """
    for name in ("cat", "dog"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for number in range(12):
            Image.new("L", (6, 6), 10 * number).save(tmp_path / "pets" / name / f"{number}.png")
    options = TrainingOptions(max_epochs=1, mini_batch_size=4)
    file = tmp_path / "pets.netwright"
    save(Project(classifier(2), data=DataOptions(source="images", path="pets"), training=options), file)
    done = warm.run([file, tmp_path / "run"], code=TRAIN, timeout=2 * PATIENCE_S)
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["finished"]), done


@pytest.mark.part("experiments")
def test_an_operation_is_answered_and_a_request_of_another_shape_refused(serving: Make, tmp_path: Path) -> None:
    """As the command does it: its result, its refusal, and the defect of a window that asks for something else."""
    folder = experiment_of(tmp_path, sample_trials())
    to = tmp_path / "trials.html"
    client = serving()
    client.ask(1, "experiment report", experiment=str(folder.path), output=str(to))
    result = client.hear()["result"]
    assert (result["path"], result["bytes"]) == (str(to), to.stat().st_size)
    client.ask(2, "experiment report", experiment=str(folder.path), output=str(tmp_path / "trials.txt"))
    error = client.hear()["error"]
    assert (error["defect"], error["message"]) == (
        False,
        f"{tmp_path / 'trials.txt'}: a report ends in .html or .htm, received '.txt'.",
    )
    client.ask(3, "experiment report", experiment=7)
    assert client.hear()["error"] == {
        "message": "The request experiment report: experiment: expected a path, received 7.",
        "defect": True,
    }
    client.ask(4, "experiment report", experiment=str(folder.path), hosts=["a"])
    assert "takes hosts with numbers of files" in client.hear()["error"]["message"]


def test_requests_about_one_network_go_to_one_process() -> None:
    evaluated = Job(do="evaluate", values={"model": "/runs/1"})
    assert evaluated.key == Job(do="samples", values={"path": "/runs/1", "folder": "/pictures"}).key
    assert evaluated.key != Job(do="evaluate", values={"model": "/runs/2"}).key
    assert not evaluated.is_about_data
    assert Job(do="export", values={"source": "/runs/1", "output": "a.onnx"}).key == ""
