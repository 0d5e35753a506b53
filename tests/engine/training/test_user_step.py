"""A training step of the user's own: it decides the loss, the engine does the rest, and says what it cannot use."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from netwright.engine.core.errors import RunError
from netwright.engine.user_code import registry, trust
from tests.small_training import Small

DOCS = Path(__file__).parents[3] / "docs" / "hooks.md"
EXAMPLES = re.findall(r"```python\n(# (\w+\.py).*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


def trained(folder: Path, text: str = "", **options: Any) -> Small:
    """After the training with a step that is written so."""
    (folder / "own.py").write_text("import torch\n" + text)
    small = Small(folder, **{**({"step_function": "own.py"} if text else {}), **options})
    small.run()
    return small


PLAIN = "def training_step(network, inputs, targets, loss): return loss(network(*inputs), targets)\n"


def test_the_plain_step_written_out_is_the_plain_step(tmp_path: Path) -> None:
    without, own = trained(tmp_path).network, trained(tmp_path, PLAIN).network
    assert torch.equal(without.weight, own.weight)


def test_what_it_returns_is_what_is_minimised(tmp_path: Path) -> None:
    """Against a loop of plain torch: a penalty on weights, one step after the other."""
    text = """
def penalised(network, inputs, targets, loss):
    return loss(network(*inputs), targets) + 0.3 * network.weight.square().sum()
"""
    options = {"solver": "sgdm", "momentum": 0.0, "l2_regularization": 0.0}
    own = trained(tmp_path, text, **options, step_function="own.py:penalised")
    start = Small(tmp_path)
    weight, bias = (p.detach().clone().requires_grad_() for p in start.network.parameters())
    for step in range(6):
        at = slice(3 * (step % 3), 3 * (step % 3) + 3)
        outputs = functional.linear(start.part.inputs[0][at], weight, bias)
        loss = functional.cross_entropy(outputs, start.part.targets[0][at]) + 0.3 * weight.square().sum()
        slopes = torch.autograd.grad(loss, (weight, bias))
        with torch.no_grad():
            for parameter, slope in zip((weight, bias), slopes, strict=True):
                parameter -= 0.1 / (step + 1) * slope
    state = own.network.state_dict()
    torch.testing.assert_close(state["weight"], weight.detach(), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(state["bias"], bias.detach(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "return network(*inputs)",
            "own.py: training_step returned a tensor of 9 numbers. Return the loss, one number",
        ),
        ("return 0.5", "own.py: training_step returned a float."),
        ("return torch.zeros(())", "returned a loss without a gradient. Compute it from what network"),
        (
            "both = network(torch.cat([inputs[0], inputs[0]])); return both.sum()",
            "called the network, but never for the 3 samples of its batch. Return the loss and the outputs",
        ),
        ("return loss(network(*inputs), targets[:, 1])", "went wrong: own.py, line 2: IndexError: too many indices"),
        ("raise SystemExit", "own.py, line 2: SystemExit It ended the program."),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(RunError) as refused:
        trained(tmp_path, f"def training_step(network, inputs, targets, loss): {body}\n")
    assert words in str(refused.value)


def test_outputs_that_are_returned_are_those_of_the_metric(tmp_path: Path) -> None:
    """The right class wins in all of them: the accuracy is one."""
    text = """
def training_step(network, inputs, targets, loss):
    return network(*inputs).square().sum(), torch.nn.functional.one_hot(targets, 3).float()
"""
    (tmp_path / "own.py").write_text("import torch" + text)
    assert Small(tmp_path, step_function="own.py").run().metrics == {"accuracy": 1.0}


@pytest.mark.parametrize(("text", "file"), EXAMPLES, ids=[file for _, file in EXAMPLES])
def test_the_examples_of_the_docs_run(tmp_path: Path, text: str, file: str) -> None:
    (tmp_path / file).write_text(text)
    options = re.findall(r"--set training\.(\w+)=(\S+)", text.partition("\n")[0])
    assert options
    given: dict[str, Any] = dict(options)
    outcome = Small(tmp_path, **given).run()
    assert outcome.state == "finished"
    assert outcome.iterations == 6
