"""A metric of the user's own: a mean or one number per sample, the same in any parts; the best network can go by it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from netwright.engine.core.errors import RunError
from netwright.engine.core.types import features, sequence
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import alone
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.evaluation import MetricAccumulator, metrics_for, named
from netwright.engine.training.losses import OutputAdapters
from netwright.engine.training.user_hooks import UserMetric
from netwright.engine.user_code import registry, trust

FACTS = DatasetInfo((InputInfo("x", features(3)),), {"training": 20}, classes_of("a", "b", "c"))


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


def own(folder: Path, body: str) -> UserMetric:
    """The metric that is written so."""
    (folder / "own.py").write_text(f"def metric(outputs, targets): {body}\n")
    registry.look(["own.py"], folder)
    trust.grant(folder)
    return UserMetric("code:own.py:metric", higher_is_better=True)


@pytest.mark.parametrize("shape", [(20, 5), (20,)])
def test_it_gets_outputs_as_the_loss_gets_them(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """The single logit of two classes, too, which other metrics take as two, of sequences and of samples."""
    own(tmp_path, "return float(list(outputs.shape) == [20, *SHAPE, 1])")
    text = (tmp_path / "own.py").read_text()
    (tmp_path / "own.py").write_text(f"SHAPE = {list(shape[1:])}\n{text}")
    registry.forget()
    registry.look(["own.py"], tmp_path)
    trust.grant(tmp_path)
    type = sequence(5, 1) if len(shape) == 2 else features(1)
    wanted = alone(TargetInfo("y", type, "classes", ("a", "b")))
    targets: Tensors = (torch.zeros(shape, dtype=torch.long),)
    options = TrainingOptions(metrics=("custom",), metric_function="own.py")
    (metric,) = metrics_for(options, FACTS, targets, wanted)
    assert isinstance(metric, UserMetric)
    outputs, targets = OutputAdapters(wanted)((torch.zeros(*shape, 1),), targets)
    assert outputs[0].shape[-1] == 2
    assert metric.sums(outputs, targets, torch.tensor([20])).tolist() == [[20.0, 20.0]]


@pytest.mark.parametrize(
    "body",
    [
        "return (outputs.argmax(1) == targets).float()",
        "return (outputs.argmax(1) == targets).float().mean()",
        "return float((outputs.argmax(1) == targets).float().mean())",
    ],
)
def test_it_is_the_mean_over_samples_whatever_the_parts(tmp_path: Path, body: str) -> None:
    metric = own(tmp_path, body)
    torch.manual_seed(0)
    outputs, targets = (torch.randn(20, 3),), (torch.randint(0, 3, (20,)),)
    right = (outputs[0].argmax(1) == targets[0]).double()
    counts = torch.tensor([7, 1, 0, 12])
    sums = metric.sums(outputs, targets, counts)
    expected = torch.stack([part.sum() for part in right.split(counts.tolist())])
    torch.testing.assert_close(sums, torch.stack([expected, counts.double()], dim=1))
    accumulator = MetricAccumulator([metric], SingleProcess(), torch.device("cpu"))
    for at in (slice(0, 13), slice(13, 13), slice(13, 20)):
        accumulator.update(torch.zeros(()), (outputs[0][at],), (targets[0][at],))
    assert accumulator.compute()[1] == {"custom": pytest.approx(right.mean().item())}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "return outputs",
            "own.py: metric returned a tensor of (5, 3) for 5 samples. Return one number, the mean over",
        ),
        ("return None", "own.py: metric returned a NoneType for 5 samples."),
        ("return 1 / 0", "went wrong: own.py, line 1: ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(RunError) as refused:
        own(tmp_path, body).sums((torch.ones(5, 3),), (torch.zeros(5, dtype=torch.long),), torch.tensor([5]))
    assert words in str(refused.value)


def test_the_options_choose_it_and_the_objective_can_go_by_it(tmp_path: Path) -> None:
    own(tmp_path, "return targets * 0.0")
    options = TrainingOptions(
        metrics=("accuracy", "custom"),
        metric_function="own.py",
        metric_higher_is_better=False,
        objective_metric="custom",
        target_metric="custom",
        target_value=0.1,
    )
    metrics = metrics_for(options, FACTS, (torch.zeros(20, dtype=torch.long),))
    chosen = named(options.objective_metric, metrics)
    assert [metric.name for metric in metrics] == ["accuracy", "custom"]
    assert (chosen.name, chosen.higher_is_better) == ("custom", False)
    missing = Project(training=TrainingOptions(metrics=("custom",)))
    (problem,) = (p for p in check(missing).problems if p.field == "training.metric_function")
    assert problem.message == "choose the Python file with your metric."
