"""Operations about a model in the background: an entry of the queue, its result, and its end on request."""

import json
from pathlib import Path

import pytest
from PIL import Image

import netwright as nw
from netwright.engine.cli.main import main
from netwright.engine.core import process
from netwright.engine.core.errors import EXIT_DONE
from netwright.engine.project.file import load
from netwright.engine.runs.queue import Entry, Queue
from tests import runs
from tests.json_schema import checked_output
from tests.runs import train
from tests.system.test_training import digits, mlp


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(digits(mlp(), max_epochs=1), tmp_path_factory.mktemp("answers") / "run").folder.path


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Queue()


def entry_at_end(queue: Queue, id: int) -> Entry:
    def is_over() -> bool:
        entry = queue.entry(id)
        return entry is not None and entry.is_over and all(one.poll() is not None for one in process._detached)

    runs.wait_for(is_over, "the answer is there")
    entry = queue.entry(id)
    assert entry is not None
    return entry


def left(capsys: pytest.CaptureFixture[str], *words: str) -> int:
    """Leave a command in the background and return its number."""
    assert main([*words, "--detach", "--json"]) == EXIT_DONE
    return int(checked_output(capsys.readouterr().out)["id"])


def test_a_score_is_computed_in_the_background(
    queue: Queue, run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    number = left(capsys, "evaluate", run.name, "--fresh")
    assert entry_at_end(queue, number).state == "finished"
    assert main(["queue", "show", str(number), "--json"]) == EXIT_DONE
    answer = checked_output(capsys.readouterr().out)
    assert answer["entry"]["operation"] == "evaluate"
    assert main(["evaluate", str(run), "--fresh", "--json"]) == EXIT_DONE
    direct = checked_output(capsys.readouterr().out)
    assert answer["result"] == {name: value for name, value in direct.items() if name in answer["result"]}
    assert main(["queue", "show", str(number)]) == EXIT_DONE
    shown = capsys.readouterr().out
    assert main(["evaluate", str(run)]) == EXIT_DONE
    assert shown == capsys.readouterr().out.replace(", known from before", "")
    assert main(["queue", "remove", str(number)]) == EXIT_DONE
    assert not [path for path in queue.folder.iterdir() if path.name.startswith(f"{number}.")]


def test_files_and_answers_are_those_of_the_command(
    queue: Queue, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    numbers = [
        left(capsys, "report", str(run), "-o", str(page)),
        left(capsys, "robustness", str(run), "--samples", "20"),
        left(capsys, "explain", str(run), "--method", "embedding"),
    ]
    for number in numbers:
        entry = entry_at_end(queue, number)
        assert entry.state == "finished", entry.reason
    assert page.is_file()
    assert main(["queue", "show", str(numbers[1]), "--json"]) == EXIT_DONE
    assert checked_output(capsys.readouterr().out)["result"]["curves"]


def test_predictions_and_pruned_networks_are_those_of_the_command(
    queue: Queue, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Image.new("L", (8, 8), 9).save("one.png")
    Path("no.png").write_text("text", encoding="utf-8")
    words = {
        "shown": ("predict", str(run), "one.png", "no.png"),
        "written": ("predict", str(run), "one.png", "-o", "a.csv"),
        "smaller": ("prune", str(run), "--structured", "-o", "small.netwright"),
    }
    numbers = {name: left(capsys, *each) for name, each in words.items()}
    answers = {}
    for name, number in numbers.items():
        assert entry_at_end(queue, number).state == "finished"
        assert main(["queue", "show", str(number), "--json"]) == EXIT_DONE
        answers[name] = checked_output(capsys.readouterr().out)["result"]
    main([*words["shown"], "--json"])
    direct = checked_output(capsys.readouterr().out)
    assert answers["shown"]["predictions"] == direct["predictions"]
    assert answers["shown"]["error"] == direct["error"], "one file could not be read"
    assert (answers["written"]["output"], answers["written"]["files"]) == (str(tmp_path / "a.csv"), 1)
    assert Path("a.csv").read_text(encoding="utf-8").startswith("sample,")
    assert load(Path("small.netwright")).project.weights.file
    assert answers["smaller"]["rows"][1]["parameters"] < answers["smaller"]["rows"][0]["parameters"]
    assert main(["queue", "show", str(numbers["shown"])]) == EXIT_DONE
    shown = capsys.readouterr()
    main(list(words["shown"]))
    here = capsys.readouterr()
    assert shown.out == here.out
    assert here.err.splitlines()[-1] in shown.err, "how many samples could not be used"
    assert main([*words["shown"], "--detach", "--csv"]) != EXIT_DONE
    assert "With --detach name a file: -o FILE.csv" in capsys.readouterr().err


def test_a_refusal_is_told_by_the_queue(queue: Queue, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = left(capsys, "explain", str(run), "--method", "attention")
    entry = entry_at_end(queue, number)
    assert (entry.state, entry.reason[:40]) == ("failed", "This network has no attention layer. Use")
    assert main(["queue", "show", str(number)]) == EXIT_DONE
    assert "failed: This network has no attention layer" in capsys.readouterr().out


def test_an_answer_is_stopped(queue: Queue, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number = left(capsys, "compress", str(run), "--size", "1KB", "--epochs", "1000")
    runs.wait_for(lambda: json.loads((queue.folder / f"{number}.json").read_text())["state"] == "running", "it works")
    assert main(["queue", "stop", str(number)]) == EXIT_DONE
    assert entry_at_end(queue, number).state == "stopped"
    assert main(["queue", "stop", str(number)]) != EXIT_DONE
    assert "is not at work: it is stopped" in capsys.readouterr().err


def test_scripts_leave_answers_in_the_background(queue: Queue, run: Path) -> None:
    entry = nw.queue_answer("evaluate", run, split="validation")
    assert entry_at_end(queue, entry.id).state == "finished"
    result = nw.queue_result(entry)
    assert result is not None
    assert result["metrics"] == pytest.approx(nw.evaluate(run, split="validation").metrics)
    with pytest.raises(nw.UserError, match="splitt"):
        nw.queue_answer("evaluate", run, splitt="validation")
    with pytest.raises(nw.UserError, match="'export' is not computed in the background"):
        nw.queue_answer("export", run)
    refused = nw.queue_answer("explain", run, method="attention")
    entry_at_end(queue, refused.id)
    with pytest.raises(nw.UserError, match="explain run: This network has no attention layer"):
        nw.queue_result(refused)
