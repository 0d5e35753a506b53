"""Every metric against scikit-learn: shares of workers, pieces and steps add up to the figure of the whole."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from sklearn import metrics as oracle

from netwright.engine.core.metrics import f_score, precision
from netwright.engine.data.loading.batches import shard_range
from netwright.engine.project.dataset_info import DatasetInfo, classes_of, numbers_of
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.classwise_metrics import Auc, ClassMetric
from netwright.engine.training.evaluation import MetricAccumulator, confusion_for, metrics_for
from netwright.engine.training.metrics import (
    R2,
    Accuracy,
    LabelAccuracy,
    Mae,
    Mape,
    Metric,
    Rmse,
    TopK,
    centre_of,
    on_curve,
    sum_metrics,
)
from tests.engine.training.process_groups import ThreadGroup, on_threads

CLASSES = 4
SAMPLES = 61
CPU = torch.device("cpu")


def class_facts(count: int = CLASSES) -> DatasetInfo:
    return DatasetInfo((), {"training": SAMPLES}, classes_of(*map(str, range(count))))


@pytest.fixture(scope="module")
def classes() -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and targets of a network that is right more often than not; classes differ in how often they occur."""
    random = torch.Generator().manual_seed(3)
    target = torch.randint(0, CLASSES, (SAMPLES,), generator=random).clamp(max=2) + (torch.arange(SAMPLES) % 7 == 0)
    output = torch.randn(SAMPLES, CLASSES, generator=random) + 1.5 * torch.eye(CLASSES)[target]
    return output, target


@pytest.fixture(scope="module")
def numbers() -> tuple[torch.Tensor, torch.Tensor]:
    """Two responses of different size, one of them far from zero."""
    random = torch.Generator().manual_seed(4)
    target = torch.randn(SAMPLES, 2, generator=random) * torch.tensor([1.0, 3.0]) + torch.tensor([0.5, 1e4])
    return target + torch.randn(SAMPLES, 2, generator=random), target


def judged(metrics: Iterable[Metric], output: torch.Tensor, target: torch.Tensor, workers: int = 1) -> dict[str, float]:
    """What the workers find together, each with pieces of its share; all find the same."""
    chosen = tuple(metrics)

    def work(group: ThreadGroup) -> dict[str, float]:
        accumulator = MetricAccumulator(chosen, group, CPU)
        begin, end = shard_range(0, len(output), group.rank, group.size)
        for start in range(begin, end, 9):
            piece = slice(start, min(start + 9, end))
            accumulator.update(torch.tensor(0.0), (output[piece],), (target[piece],))
        return accumulator.compute()[1]

    first, *others = on_threads(workers, work)
    assert all(other == first for other in others)
    return first


def same(expected: dict[str, float]) -> Any:
    """These to the last digits."""
    return {name: pytest.approx(value, rel=1e-11) for name, value in expected.items()}


def of_options(facts: DatasetInfo, targets: torch.Tensor, **options: Any) -> tuple[Metric, ...]:
    return metrics_for(TrainingOptions(**options), facts, (targets,))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_metrics_of_classes_are_scikit_learns_on_any_number_of_workers(classes, average: str, workers: int) -> None:
    output, target = classes
    names = ("accuracy", "top-k", "f-score", "precision", "recall", "auc")
    chosen = of_options(class_facts(), target, metrics=names, metric_average=average, top_k=2, f_score_beta=2.0)
    found = judged(chosen, output, target, workers)
    taken, truth = output.argmax(1).numpy(), target.numpy()
    probabilities = output.double().softmax(1).numpy()
    expected = {
        "accuracy": oracle.accuracy_score(truth, taken),
        "top-k": oracle.top_k_accuracy_score(truth, probabilities, k=2),
        "f-score": oracle.fbeta_score(truth, taken, beta=2.0, average=average),
        "precision": oracle.precision_score(truth, taken, average=average),
        "recall": oracle.recall_score(truth, taken, average=average),
        "auc": oracle.roc_auc_score(truth, probabilities, multi_class="ovr", average=average),
    }
    assert list(found) == list(names)
    assert found == same(expected)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_metrics_of_numbers_are_scikit_learns_on_any_number_of_workers(numbers, workers: int) -> None:
    output, target = numbers
    facts = DatasetInfo((), {}, numbers_of(2))
    found = judged(of_options(facts, target, metrics=("rmse", "mae", "mape", "r2")), output, target, workers)
    truth, said = target.double().numpy(), output.double().numpy()
    assert found == same({
        "rmse": math.sqrt(oracle.mean_squared_error(truth, said)),
        "mae": oracle.mean_absolute_error(truth, said),
        "mape": oracle.mean_absolute_percentage_error(truth, said),
        "r2": oracle.r2_score(truth, said),
    })  # fmt: skip


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_metrics_of_labels_are_scikit_learns(average: str) -> None:
    random = torch.Generator().manual_seed(5)
    target = (torch.rand(SAMPLES, 3, generator=random) > 0.6).float()
    output = torch.randn(SAMPLES, 3, generator=random) + target
    counted = (
        ClassMetric("f-score", f_score(1.0), 3, average, is_labels=True),
        ClassMetric("precision", precision, 3, average, is_labels=True),
    )
    found = judged((LabelAccuracy(), *counted, Auc(3, average, is_labels=True)), output, target, 2)
    truth, taken = target.numpy(), (output > 0).numpy()
    assert found == same({
        "accuracy": (truth == taken).mean(),
        "f-score": oracle.f1_score(truth, taken, average=average),
        "precision": oracle.precision_score(truth, taken, average=average),
        "auc": oracle.roc_auc_score(truth, output.double().sigmoid().numpy(), average=average),
    })  # fmt: skip


def test_a_class_map_counts_pixels_and_leaves_out_what_is_marked() -> None:
    random = torch.Generator().manual_seed(6)
    target = torch.randint(0, 3, (5, 4, 4), generator=random)
    output = torch.randn(5, 3, 4, 4, generator=random) + torch.eye(3)[target].movedim(-1, 1)
    target[0, :2] = -100
    kept = target.flatten() != -100
    found = judged(of_options(class_facts(3), target, metrics=("accuracy", "f-score", "auc")), output, target, 2)
    rows, truth = output.movedim(1, -1).reshape(-1, 3)[kept], target.flatten()[kept].numpy()
    assert found == same({
        "accuracy": oracle.accuracy_score(truth, rows.argmax(1).numpy()),
        "f-score": oracle.f1_score(truth, rows.argmax(1).numpy(), average="macro"),
        "auc": oracle.roc_auc_score(truth, rows.double().softmax(1).numpy(), multi_class="ovr"),
    })  # fmt: skip


def test_a_sequence_of_numbers_counts_its_steps_and_no_padding() -> None:
    target = torch.tensor([[[1.0], [2.0], [4.0]], [[3.0], [math.nan], [math.nan]]])
    output = torch.tensor([[[1.0], [3.0], [2.0]], [[2.0], [9.0], [math.nan]]])
    truth, said = [1.0, 2.0, 4.0, 3.0], [1.0, 3.0, 2.0, 2.0]
    found = judged((Rmse(), Mae(), Mape(), R2(centre_of(target))), output, target)
    assert found == same({
        "rmse": math.sqrt(oracle.mean_squared_error(truth, said)),
        "mae": oracle.mean_absolute_error(truth, said),
        "mape": oracle.mean_absolute_percentage_error(truth, said),
        "r2": oracle.r2_score(truth, said),
    })  # fmt: skip


def test_steps_of_different_lengths_have_figures_of_their_own_that_add_up(classes) -> None:
    output, target = classes
    chosen = sum_metrics(of_options(class_facts(), target, metrics=("f-score", "accuracy")))
    counts = torch.tensor([20, 0, 1, 40])
    for metric in chosen:
        sums = metric.sums((output,), (target,), counts)
        assert sums.shape == (4, metric.width)
        for number, (start, end) in enumerate([(0, 20), (20, 20), (20, 21), (21, 61)]):
            alone = metric.sums((output[start:end],), (target[start:end],), torch.tensor([end - start]))
            assert torch.equal(sums[number], alone[0])
        assert metric.value(sums.sum(0).tolist()) == judged([metric], output, target)[metric.name]
        assert math.isnan(metric.value(sums[1].tolist())), "nothing was counted"


def test_what_is_no_number_is_told_as_that_and_only_of_its_own_step() -> None:
    output, target = torch.tensor([[1.0], [math.nan], [math.inf], [2.0]]), torch.zeros(4, 1)
    for metric in (Rmse(), Mae(), Mape(), R2(torch.zeros(1))):
        first, second, _, fourth = metric.sums((output,), (target,), torch.ones(4, dtype=torch.long)).tolist()
        assert math.isnan(metric.value(second)) or metric.name == "r2"
        assert math.isfinite(metric.value(first))
        assert math.isfinite(metric.value(fourth))
    assert math.isnan(judged([Auc(2)], torch.tensor([[math.nan, 0.0], [1.0, 2.0]]), torch.tensor([0, 1]))["auc"])


def test_a_constant_response_is_met_or_not() -> None:
    target = torch.full((5, 1), 3.25)
    for output, expected in ((target, 1.0), (target + 1, 0.0)):
        assert judged([R2(centre_of(target))], output, target)["r2"] == expected
        assert judged([R2(torch.zeros(1, dtype=torch.double))], output, target)["r2"] == expected


def test_classes_that_do_not_occur_are_left_out_of_the_mean() -> None:
    output, target = torch.eye(5)[torch.tensor([0, 1, 1, 0])], torch.tensor([0, 1, 0, 0])
    facts = class_facts(5)
    found = judged(of_options(facts, target, metrics=("f-score", "recall", "auc")), output, target)
    assert found["f-score"] == pytest.approx(oracle.f1_score(target, output.argmax(1), average="macro"))
    assert found["recall"] == pytest.approx((2 / 3 + 1) / 2)
    assert found["auc"] == pytest.approx(oracle.roc_auc_score(target, output.softmax(1)[:, 1]))
    assert math.isnan(judged([Auc(5)], output, torch.zeros(4, dtype=torch.long))["auc"]), "one class alone"


def test_a_share_of_nothing_is_a_share_all_the_same() -> None:
    output, target = torch.eye(2), torch.tensor([0, 1])
    metrics = of_options(class_facts(2), target, metrics=("accuracy", "f-score", "auc"))
    assert judged(metrics, output, target, workers=3) == {"accuracy": 1.0, "f-score": 1.0, "auc": 1.0}


def test_the_table_says_which_class_was_taken_for_which(classes) -> None:
    output, target = classes

    def work(group: ThreadGroup) -> list[list[int]]:
        accumulator = MetricAccumulator((), group, CPU, confusion_for(class_facts()))
        begin, end = shard_range(0, SAMPLES, group.rank, group.size)
        accumulator.update(torch.tensor(0.0), (output[begin:end],), (target[begin:end],))
        return accumulator.compute()[2]

    expected = oracle.confusion_matrix(target, output.argmax(1)).tolist()
    assert on_threads(2, work) == [expected, expected]
    assert confusion_for(class_facts(500)) is None
    assert confusion_for(DatasetInfo((), {}, numbers_of())) is None


def test_the_task_decides_unless_the_options_do() -> None:
    assert TrainingOptions().metrics_for("classes") == ("accuracy",)
    assert TrainingOptions().metrics_for("numbers") == ("rmse",)
    assert TrainingOptions(metrics=("mae", "auto")).metrics_for("numbers") == ("mae", "rmse")
    assert TrainingOptions(metrics=("auto", "accuracy")).metrics_for("classes") == ("accuracy",)
    assert TrainingOptions().metrics_for("transcripts") == ()


def test_what_needs_all_samples_or_very_many_sums_is_not_computed_at_every_step() -> None:
    many: list[Metric] = [
        Accuracy(),
        TopK(3),
        ClassMetric("recall", precision, 100),
        ClassMetric("f-score", precision, 101),
        Auc(3),
    ]
    assert [metric.name for metric in on_curve(many)] == ["accuracy", "top-k", "recall"]
