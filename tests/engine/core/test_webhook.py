"""The user's webhook: what is sent to a server of this test, what is refused, and that nothing tells its address."""

import json
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core import webhook
from netwright.engine.core.errors import EXIT_INPUT, EXIT_RUN_FAILED, UserError
from netwright.engine.launch import notification
from netwright.engine.runs.folder import RunFolder

SECRET = "T0ken9Zq"


class Server(HTTPServer):
    """Takes messages on a port of this machine, with one answer after the other."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [204]
        self.got: list[Any] = []
        self.url = f"http://127.0.0.1:{self.server_port}/hooks/{SECRET}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Content-Type"], json.loads(body)))
        answers = self.server.answers
        self.send_response(answers.pop(0) if len(answers) > 1 else answers[0])
        self.send_header("Location", "https://example.org/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook.send, "__kwdefaults__", {"timeout_s": 10.0, "pause_s": 0.0})


def test_nobody_is_told_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert webhook.read() == ""
    assert main(["notify"]) == 0
    assert main(["notify", "--test"]) == EXIT_INPUT
    assert notification.main(["queue", "1", "1"]) == 0
    said = capsys.readouterr()
    assert "No webhook is set" in said.out
    assert "Set one with --webhook URL" in said.err


def test_the_command_stores_an_address_and_shows_its_host_alone(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["notify", "--webhook", server.url, "--test", "--json"]) == 0
    if sys.platform != "win32":
        assert stat.S_IMODE(webhook.settings_file().stat().st_mode) == 0o600
    said = capsys.readouterr()
    assert json.loads(said.out)["webhook_host"] == "127.0.0.1"
    server.answers = [500]
    assert main(["notify", "--test"]) == EXIT_RUN_FAILED
    assert main(["notify", "--off"]) == 0
    assert not webhook.settings_file().exists()
    said = capsys.readouterr()
    assert "127.0.0.1 was not told, in two attempts: it answered 500" in said.err
    assert SECRET not in said.out + said.err
    (path, kind, told), *rest = server.got
    assert (path, kind, told["kind"], told["state"]) == (f"/hooks/{SECRET}", "application/json", "test", "finished")
    assert len(rest) == 2, "tried again once"


@pytest.mark.parametrize("answers", [[503, 200], [302, 204]])
def test_a_second_attempt_may_succeed(answers: list[int], server: Server) -> None:
    server.answers = answers
    assert webhook.send(server.url, {"kind": "test"}) == ""
    assert len(server.got) == 2


def test_what_cannot_be_reached_is_said_without_the_address(server: Server) -> None:
    server.answers = [301]
    assert webhook.send(server.url, {}) == "The webhook on 127.0.0.1 was not told, in two attempts: it answered 301."
    free = f"http://127.0.0.1:1/{SECRET}"
    assert webhook.send(free, {}) == "The webhook on 127.0.0.1 was not told, in two attempts: Connection refused."


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (f"http://example.org/{SECRET}", "not encrypted"),
        (f"ftp://example.org/{SECRET}", "not encrypted"),
        (SECRET, "no address"),
        (f"https://[{SECRET}", "no address"),
        (f"https://example.org:99999/{SECRET}", "no address"),
        (f"https://example.org/ {SECRET}", "no address"),
        (f"https:///{SECRET}", "no address"),
    ],
)
def test_addresses_that_are_refused(url: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        webhook.store(url)
    assert SECRET not in str(refused.value)
    assert webhook.read() == ""


@pytest.mark.parametrize("content", ["", "{", '{"webhook": 5}', "[]"])
def test_a_damaged_setting_is_told(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = webhook.settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    assert main(["notify"]) == EXIT_INPUT
    assert "notifications.json is damaged, and nobody is told" in capsys.readouterr().err
    assert notification.main(["queue", "1", "1"]) == EXIT_INPUT
    assert "warning: The webhook was not told" in capsys.readouterr().out
    assert file.read_text() == content
    assert main(["notify", "--webhook", f"https://example.org/{SECRET}"]) == 0
    assert webhook.read() == f"https://example.org/{SECRET}"


def test_the_end_of_a_run_is_told(server: Server, tmp_path, capfd: pytest.CaptureFixture[str]) -> None:
    run = RunFolder(tmp_path)
    run.info.write_text(json.dumps({"name": "digits", "state": "finished", "created": 1.0}))
    scores = {"validation": {"loss": 0.25, "accuracy": 0.9}, "seconds": 3.5, "epochs": 2, "reason": "done"}
    run.result.write_text(json.dumps({"state": "finished", **scores}))
    webhook.store(server.url)
    notification.announce(run.log, "run", str(tmp_path))
    from netwright.engine.core import process

    assert [child.wait() for child in process._detached] == [0]
    process._detached.clear()
    ((_, _, told),) = server.got
    assert told["metrics"] == {"validation.loss": 0.25, "validation.accuracy": 0.9}
    assert (told["kind"], told["project"], told["state"], told["seconds"]) == ("run", "digits", "finished", 3.5)
    assert "validation.accuracy 0.9" in told["text"]
    assert str(tmp_path.parent) not in json.dumps(told), "no paths of this machine"
    server.answers = [500]
    assert notification.main(["run", str(tmp_path)]) == EXIT_INPUT
    assert "warning: The webhook on 127.0.0.1" in capfd.readouterr().out


def test_the_end_of_an_experiment_and_of_a_queue_are_told(server: Server, tmp_path) -> None:
    from netwright.engine.runs.experiments import ExperimentFolder
    from netwright.engine.runs.trial_log import TrialLog

    folder = ExperimentFolder(tmp_path)
    folder.info.write_text(json.dumps({"name": "digits", "state": "finished", "objectives": ["validation.loss"]}))
    log = TrialLog(folder.trials)
    log.append(1, values={"training.momentum": 0.5})
    log.append(1, run="1", state="finished", scores={"validation.loss": 0.5})
    log.append(1, state="finished")
    log.close()
    webhook.store(server.url)
    assert notification.main(["experiment", str(tmp_path)]) == notification.main(["queue", "3", "2"]) == 0
    one, other = (told for _, _, told in server.got)
    assert (one["name"], one["trials"], one["best_trial"], one["metrics"]) == ("digits", 1, 1, {"validation.loss": 0.5})
    assert (other["state"], other["reason"]) == ("failed", "2 of 3 runs finished")
