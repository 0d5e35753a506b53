"""ONNX Runtime sends nothing to its maker and stores no id, in whatever way we load it."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn

from netwright.engine.exchange.export import export
from tests.faults.system_calls import Watched
from tests.runs import ROOT

MINUTE_S = 60.0
"""Events are sent from some ten seconds on."""
OWN_SWITCHES = ("ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")
SERVICES = (
    *("CI", "TF_BUILD", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "TRAVIS", "JENKINS_URL", "CODEBUILD_BUILD_ID"),
    *("BUILDKITE", "TEAMCITY_VERSION", "APPVEYOR", "BITBUCKET_BUILD_NUMBER", "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"),
)
"""Variables of services that run tests, with any of which ONNX Runtime sends nothing by itself (1.31)."""
COMMANDS = """
import json, sys, threading
from netwright.engine.cli.main import main
failed = [words for words in json.loads(sys.argv[1]) if main(words)]
print("failed:", failed, flush=True)
threading.Event().wait(float(sys.argv[2]))
"""
FILES = """
import json, runpy, sys, threading
for file in json.loads(sys.argv[1]):
    runpy.run_path(file, run_name="__main__")
print("failed: []", flush=True)
threading.Event().wait(float(sys.argv[2]))
"""
API = """
import json, sys, threading
from netwright.engine import api
(file,) = json.loads(sys.argv[1])
print("failed:", [one for one in api.predict(file, sys.argv[3]) if one.error], flush=True)
threading.Event().wait(float(sys.argv[2]))
"""
SERVE = """
import json, subprocess, sys, threading
requests = json.loads(sys.argv[1])
command = [sys.executable, "-m", "netwright.engine", "serve"]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
    for number, request in enumerate(requests):
        print(json.dumps({"id": number, **request}), file=server.stdin, flush=True)
    answers = {}
    while len(answers) < len(requests):
        answer = json.loads(server.stdout.readline())
        if "result" in answer or "error" in answer:
            answers[answer["id"]] = answer.get("error")
    print("failed:", list(filter(None, answers.values())), flush=True)
    threading.Event().wait(float(sys.argv[2]))
    server.stdin.close()
"""
# Each of some programs in a fork of one process, which has torch and its exporter, but not ONNX Runtime.
FORKS = """
import json, os, sys
import netwright.engine.cli.main
import onnxscript, torch._dynamo, torch.onnx._internal.exporter._core
assert "onnxruntime" not in sys.modules
for code, about in json.loads(sys.argv[1]):
    if not (pid := os.fork()):
        sys.argv[1] = json.dumps(about)
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        break
    assert os.waitpid(pid, 0)[1] == 0, about
"""
FOREIGN = """
import sys, threading
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1])
threading.Event().wait()
"""


def open_environment(home: Path) -> dict[str, str]:
    """Return our variables without what keeps ONNX Runtime quiet by itself, and with a home and a temporary folder."""
    for folder in (home, home / "tmp"):
        folder.mkdir()
    away = (*OWN_SWITCHES, *SERVICES, "XDG_CACHE_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in away}
    return {**kept, "HOME": str(home), "TMPDIR": str(home / "tmp"), "PYTHONPATH": str(ROOT)}


def left(home: Path) -> list[str]:
    """Return what ONNX Runtime has stored in a home or the temporary folder."""
    return [str(file) for file in home.rglob("*") if file.name in (".ses", "deviceid") or "Microsoft" in file.parts]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A foreign network with an operator that is kept as it is."""
    nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Hardmax", ["h"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3]) for name in "xy"]
    graph = helper.make_graph(nodes, "net", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "a.onnx")
    return tmp_path / "a.onnx"


def programs(model: Path, folder: Path) -> Mapping[str, tuple[str, Sequence[object]]]:
    """Return programs that load ONNX Runtime, as Python code and what each is about: our commands, the window's
    requests, the API, and the code that an export writes."""
    from netwright.engine.cli.main import main

    program, project, table = folder / "b.pt2", folder / "a.netwright", folder / "a.csv"
    example = (torch.randn(2, 3),)
    torch.export.save(torch.export.export(nn.Linear(3, 2).eval(), example), program)
    table.write_text("x1,x2,x3\n1,2,3\n", encoding="utf-8")
    assert main(["import", str(model), "-o", str(project)]) == 0
    assert main(["export", str(project), "--format", "pytorch", "-o", str(folder / "net.py")]) == 0
    (folder / "code.py").write_text(export(project, "onnx", folder / "net.onnx").code, encoding="utf-8")
    imports = [["import", model, "-o", folder / "c.netwright"], ["import", program, "-o", folder / "d.netwright"]]
    exports = [
        ["export", project, "--format", "onnx", "--precision", precision, "-o", folder / f"{precision}.onnx"]
        for precision in ("float32", "float16", "int8-dynamic")
    ]
    requests = [
        {"do": "predictor", "with": {"path": str(model)}},
        {"do": "import", "with": {"file": str(model), "output": str(folder / "e.netwright")}},
    ]
    return {
        "predict": (COMMANDS, [["predict", model, table]]),
        "import": (COMMANDS, imports),
        "export": (COMMANDS, exports),
        "files": (FILES, [folder / "net.py", folder / "code.py"]),
        "api": (API, [model]),
        "serve": (SERVE, requests),
    }


def watched(stack: ExitStack, code: str, about: Sequence[object], seconds: float, home: Path) -> Watched:
    words = ["-c", code, json.dumps(about, default=str), str(seconds), str(home.parent / "a.csv")]
    return stack.enter_context(Watched(words, open_environment(home), home.parent))


def test_addresses_that_a_program_and_its_children_name_are_noted(tmp_path: Path) -> None:
    code = """
import os, socket
pid = os.fork()
try:
    socket.create_connection(("192.0.2.1", 9))
except PermissionError:
    print("refused", flush=True)
if not pid:
    os._exit(0)
os.waitpid(pid, 0)
one, other = socket.socketpair()
one.sendmsg([b"x"])
code = "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('2001:db8::1', 53))"
os.execvp("python3", ["python3", "-c", code])
"""
    with Watched(["-c", code], os.environ, tmp_path) as program:
        printed, _ = program.process.communicate()
    assert printed.count("refused") == 2
    assert "PermissionError" in printed
    assert program.addresses == ["192.0.2.1:9", "192.0.2.1:9", "2001:db8::1:53"]


def test_what_loads_onnx_runtime_begins_no_telemetry(model: Path, tmp_path: Path) -> None:
    home, all_programs = tmp_path / "home", list(programs(model, tmp_path).values())
    with ExitStack() as stack:
        program = watched(stack, FORKS, all_programs, 0, home)
        printed = program.end(250)
    assert printed.count("failed: []") == len(all_programs), printed
    assert (program.addresses, left(home)) == ([], [])


@pytest.mark.faults
@pytest.mark.timeout(900)
def test_what_loads_onnx_runtime_sends_nothing_within_a_minute(model: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        running = [
            (name, tmp_path / f"home-{name}", watched(stack, code, about, MINUTE_S, tmp_path / f"home-{name}"))
            for name, (code, about) in programs(model, tmp_path).items()
        ]
        for name, home, program in running:
            assert "failed: []" in program.end(300), name
            assert (program.addresses, left(home)) == ([], []), name


@pytest.mark.faults
def test_a_program_of_others_that_sends_events_is_seen(model: Path, tmp_path: Path) -> None:
    """The same without our switch: a watch that sees nothing would look the same."""
    environment = open_environment(tmp_path / "home")
    with Watched(["-c", FOREIGN, str(model)], environment, tmp_path) as program:
        assert program.has_tried.wait(2 * MINUTE_S)
        assert left(tmp_path / "home")


def test_the_switch_is_set_whatever_the_environment_says(model: Path, tmp_path: Path) -> None:
    code = "import sys; from netwright.engine.lowering.modules.onnx_runtime import open_session as o; o(sys.argv[1])"
    environment = {**open_environment(tmp_path / "home"), "ORT_DISABLE_TELEMETRY": "0"}
    with Watched(["-c", code, str(model)], environment, tmp_path) as program:
        program.end()
    assert left(tmp_path / "home") == []
