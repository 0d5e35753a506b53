"""A loss function of the user's own: a mean or one number per sample, exact in any parts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from netwright.engine.core.errors import RunError
from netwright.engine.project.check import check
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.user_hooks import UserLoss
from netwright.engine.user_code import registry, trust
from tests.small_training import Small


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


def custom(folder: Path, body: str) -> UserLoss:
    """The loss that is written so."""
    text = f"import torch\nfrom torch.nn import functional\ndef loss(outputs, targets): {body}\n"
    (folder / "own.py").write_text(text)
    registry.look(["own.py"], folder)
    trust.grant(folder)
    return UserLoss("code:own.py:loss")


@pytest.mark.parametrize(
    "body",
    [
        "return functional.cross_entropy(outputs, targets)",
        "return functional.cross_entropy(outputs, targets, reduction='none')",
    ],
)
def test_a_mean_and_one_number_a_sample_are_the_same(tmp_path: Path, body: str) -> None:
    loss = custom(tmp_path, body)
    torch.manual_seed(0)
    outputs, targets = torch.randn(7, 3, requires_grad=True), torch.randint(0, 3, (7,))
    expected = torch.nn.functional.cross_entropy(outputs, targets, reduction="sum")
    whole = loss((outputs,), (targets,))
    torch.testing.assert_close(whole, expected)
    parts = [slice(0, 5), slice(5, 6), slice(6, 7), slice(7, 7)]
    torch.testing.assert_close(sum(loss((outputs[at],), (targets[at],)) for at in parts), expected)
    (slope,) = torch.autograd.grad(loss((outputs[:0],), (targets[:0],)), outputs)
    assert torch.equal(slope, torch.zeros_like(outputs))


def test_a_run_minimises_it(tmp_path: Path) -> None:
    custom(tmp_path, "return functional.cross_entropy(outputs, targets)")
    own = Small(tmp_path, loss="custom", loss_function="own.py")
    own.run()
    plain = Small(tmp_path)
    plain.run()
    torch.testing.assert_close(own.network.weight, plain.network.weight)


def test_several_outputs_and_targets_come_as_they_are(tmp_path: Path) -> None:
    loss = custom(tmp_path, "return sum((o - t).square().mean() for o, t in zip(outputs, targets))")
    pairs = (torch.ones(4, 2), torch.zeros(4, 3))
    assert loss(pairs, (torch.zeros(4, 2), torch.zeros(4, 3))) == 4.0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1.0", "own.py: loss returned a float for 5 samples. Return one number, the mean over the samples, or"),
        ("return outputs", "own.py: loss returned a tensor of (5, 3) for 5 samples."),
        ("return outputs @ targets", "went wrong: own.py, line 3: RuntimeError: "),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, body: str, words: str) -> None:
    loss = custom(tmp_path, body)
    with pytest.raises(RunError) as refused:
        loss((torch.ones(5, 3),), (torch.zeros(5, dtype=torch.long),))
    assert words in str(refused.value)


def test_a_custom_loss_needs_its_file() -> None:
    (problem,) = (p for p in check(Project(training=TrainingOptions(loss="custom"))).problems if "loss" in p.field)
    assert (problem.field, problem.message) == ("training.loss_function", "choose the Python file with your loss.")
