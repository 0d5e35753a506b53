"""The script beside an exported language model writes what `generate` writes, in a process without Netwright."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.engine.analysis.generation import generate
from netwright.engine.analysis.operations.generate import GenerateRequest
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.exchange.operations.export import ExportRequest
from netwright.engine.exchange.writing_script import writing_script
from netwright.engine.project.project import Project
from tests.architecture.test_imports import sends_events
from tests.builders import chain, layer
from tests.runs import train

LINES = [f"{'Red' if n % 2 else 'blue'} bird{'s' * (n % 3)} \u00e9 (sings) {n % 7} times." for n in range(60)]
STEPS = 24
KINDS = {"byte": "Red b", "word": "blue birds (", "piece": "blue bird", "index": "4 5"}
"""Kinds of tokens, each with a prompt."""
ELSEWHERE = "import runpy, sys; sys.modules['netwright'] = None; runpy.run_path(sys.argv.pop(1), run_name='__main__')"


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that predicts the next token, after a few steps."""
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    vocabulary = {"byte": 256, "word": 18, "piece": 270, "index": 9}[kind]
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=vocabulary, dimension=16),
        layer("position_embedding", positions=STEPS),
        layer("self_attention", heads=2, mask="causal"),
        layer("fully_connected", outputs=vocabulary),
        *([layer("softmax")] if kind != "byte" else []),
    )
    project = Project(network)
    if kind == "index":
        rows = (np.arange(STEPS + 1) + np.arange(60)[:, None]) % vocabulary
        np.savez(folder / "rows.npz", x=rows[:, :-1], y=rows[:, 1:])
        options: dict[str, Any] = {"source": "arrays", "path": str(folder / "rows.npz")}
    else:
        (folder / "birds.txt").write_text("\n".join(LINES), encoding="utf-8")
        options = {"source": "text", "path": str(folder / "birds.txt"), "tokens": kind, "text_samples": "lines"}
        options |= {"block_length": STEPS, **({} if kind == "byte" else {"vocabulary_limit": vocabulary})}
    training = project.training.replace(max_epochs=12, solver="adam", initial_learn_rate=0.02, mini_batch_size=8)
    environment = project.environment.replace(target="cpu", threads=1)
    done = train(
        replace(project, data=project.data.replace(**options), training=training, environment=environment),
        folder / "run",
    )
    assert done.result["state"] == "finished", done.result
    return folder / "run"


def prompt_of(run: Path) -> str:
    return next(prompt for kind, prompt in KINDS.items() if run.parent.name.startswith(kind))


def written(run: Path, **options: Any) -> str:
    request = GenerateRequest(model=run, prompt=prompt_of(run), temperature=0.0, **options)
    return prompt_of(run) + "".join(piece["text"] for piece in generate(request).pieces) + "\n"


def script_of(run: Path, file: str, **options: Any) -> Path:
    output = run.parent / file
    done = nw.export(run, output, with_generation=True, force=True, **options)
    script = output.with_name(f"generate_{output.stem}.py")
    assert any(script.name in note for note in done.notes)
    return script


def printed(script: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", ELSEWHERE, str(script), *arguments],
        cwd=script.parent.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("file", ["a b.onnx", "net.py"])
def test_the_greedy_text_is_that_of_generate(run: Path, file: str) -> None:
    script, prompt = script_of(run, file), prompt_of(run)
    assert not sends_events(script.read_text(encoding="utf-8"))
    greedy = ("--temperature", "0", "--length")
    whole = written(run, length=2 * STEPS)  # over the end of the window
    assert printed(script, prompt, *greedy, str(2 * STEPS)) == whole
    assert len(whole) > len(prompt) + STEPS
    follows = whole[len(prompt) :]
    stop = follows.split()[2] if prompt == KINDS["index"] else follows[5:8]
    expected = written(run, length=2 * STEPS, stop=(stop,))
    assert printed(script, prompt, *greedy, str(2 * STEPS), "--stop", stop) == expected != whole
    drawn = [printed(script, prompt, "--seed", seed, "--top-k", "4", "--temperature", "9") for seed in ("1", "1", "2")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert printed(script, prompt, "--top-p", "1e-9", *greedy[2:], "9") == written(run, length=9)


@pytest.mark.parametrize("run", ["word"], indirect=True)
@pytest.mark.parametrize("options", [{"steps": 16}, {"batch": 2}, {"probabilities": "outside"}])
def test_a_file_of_fixed_sizes_or_with_scores_writes_on(run: Path, options: dict[str, Any]) -> None:
    script = script_of(run, f"{next(iter(options))}.onnx", options=options)
    expected = written(run, length=30)
    assert printed(script, prompt_of(run), "--temperature", "0", "--length", "30") == expected


def test_other_networks_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = chain(
        layer("image_input", channels=1, size=(8, 8)), layer("fully_connected", outputs=10), layer("softmax")
    )
    project = Project(network)
    train(
        replace(
            project,
            data=project.data.replace(source="digits"),
            training=project.training.replace(max_epochs=1),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        tmp_path / "run",
    )
    file = tmp_path / "digits.onnx"
    assert main(["export", str(tmp_path / "run"), "--with-generation", "-o", str(file)]) == 2
    assert "The network cannot write on: it takes" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize("run", ["word"], indirect=True)
def test_other_formats_and_files_that_are_there_are_refused(run: Path) -> None:
    with pytest.raises(UserError, match="Choose the format onnx or pytorch"):
        writing_script(ExportRequest(source=run, output=run.parent / "net.pt2"))
    (run.parent / "generate_there.py").write_text("mine")
    with pytest.raises(UserError, match=r"generate_there\.py"):
        writing_script(ExportRequest(source=run, output=run.parent / "there.onnx"))
