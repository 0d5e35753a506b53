"""What the network answers for some validation samples is kept, validation after validation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from netwright.engine.core.types import features, image, sequence
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import (
    IGNORED,
    DatasetInfo,
    Forecast,
    InputInfo,
    TargetInfo,
    classes_of,
    numbers_of,
)
from netwright.engine.project.preparation import TextPreparation
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.watched_answers import WatchedStep, read_watched
from netwright.engine.training.answer_recorder import COUNT, MOST_STEPS, AnswerRecorder, sample_losses

SAMPLES, FIRST = 40, 10
"""Samples of the source; those from the first one on are for validation."""


def data_of(targets: np.ndarray[Any, Any], info: tuple[TargetInfo, ...], inputs: Any = None, **more: Any) -> LoadedData:
    array = np.arange(SAMPLES * 2, dtype=np.float32).reshape(SAMPLES, 2) if inputs is None else inputs
    kind = more.pop("type", features(2))
    facts = DatasetInfo((InputInfo("x", kind, text=more.pop("text", None)),), {}, info, **more)
    numbers = {"training": np.arange(FIRST), "validation": np.arange(FIRST, SAMPLES), "test": np.arange(0)}
    return LoadedData(facts, (array,), (None,), (targets,), numbers)


def validate(recorder: AnswerRecorder, outputs: torch.Tensor, targets: torch.Tensor, iteration: int) -> None:
    """A validation in batches of four."""
    targets = targets if targets.is_floating_point() else targets.long()  # as metrics take them
    recorder.begin(0, len(outputs))
    for first in range(0, len(outputs), 4):
        recorder.take(first, (outputs[first : first + 4],), (targets[first : first + 4],))
    recorder.end(iteration, iteration // 10)


def recorded(
    folder: Path, data: LoadedData, outputs: torch.Tensor, **options: Any
) -> tuple[AnswerRecorder, list[WatchedStep]]:
    wanted = alone(*data.facts.targets)
    recorder = AnswerRecorder(folder, data, wanted, TrainingOptions(**options))
    validate(recorder, outputs, torch.from_numpy(data.targets[0][FIRST:]), 10)
    return recorder, read_watched(folder)


def test_evenly_spaced_samples_are_watched_with_label_and_confidence(tmp_path: Path) -> None:
    targets = (np.arange(SAMPLES) % 3).astype(np.int64)
    outputs = functional.one_hot(torch.from_numpy(targets[FIRST:]), 3) * 4.0
    outputs[0] = torch.tensor([4.0, 0.0, 0.0])  # true: b
    _, (step,) = recorded(tmp_path, data_of(targets, classes_of("a", "b", "c")), outputs)
    rows = step.answer["rows"]
    assert (step.iteration, step.epoch, len(rows)) == (10, 1, COUNT)
    assert [row["index"] for row in rows] == np.linspace(FIRST, SAMPLES - 1, COUNT).round().tolist()
    share = float(torch.tensor([4.0, 0.0, 0.0]).softmax(0)[0])
    assert rows[0] == {
        "index": 10,
        "label": "b",
        "prediction": "a",
        "confidence": pytest.approx(share),
        "loss": pytest.approx(4 - np.log(share)),
    }
    assert all(row["label"] == row["prediction"] for row in rows[1:])


def test_the_worst_are_those_of_all_batches(tmp_path: Path) -> None:
    targets = np.zeros((SAMPLES, 1), np.float32)
    outputs = torch.arange(SAMPLES - FIRST).float().reshape(-1, 1)
    _, (step,) = recorded(tmp_path, data_of(targets, numbers_of()), outputs, watch_answers="worst")
    assert [row["index"] for row in step.answer["rows"]] == list(range(SAMPLES - 1, SAMPLES - 1 - COUNT, -1))
    assert step.answer["rows"][0]["loss"] == SAMPLES - 1 - FIRST


def test_chosen_samples_are_counted_from_one_and_others_are_left_out(tmp_path: Path) -> None:
    data, outputs = data_of(np.zeros((SAMPLES, 1), np.float32), numbers_of()), torch.zeros(SAMPLES - FIRST, 1)
    chosen = {"watch_answers": "chosen", "watched_samples": "40, 11 3"}
    _, (step,) = recorded(tmp_path, data, outputs, **chosen)
    assert [row["index"] for row in step.answer["rows"]] == [10, 39]  # the third is for training


def test_only_the_own_shard_of_a_worker_is_watched(tmp_path: Path) -> None:
    data = data_of(np.zeros((SAMPLES, 1), np.float32), numbers_of())
    recorder = AnswerRecorder(tmp_path, data, alone(*data.facts.targets), TrainingOptions())
    recorder.begin(0, 3)
    recorder.take(0, (torch.zeros(3, 1),), (torch.zeros(3, 1),))
    recorder.end(1, 0)
    (step,) = read_watched(tmp_path)
    assert [row["index"] for row in step.answer["rows"]] == [10, 11, 12]


def test_a_long_run_keeps_every_second_validation_then_every_fourth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.engine.training.answer_recorder.FREE_S", 1e9)  # the machine may be busy
    maps = np.zeros((SAMPLES, 4, 4), np.int8)
    pixels = (TargetInfo("y", image(2, 4, 4), "classes", ("a", "b")),)
    images = np.zeros((SAMPLES, 1, 4, 4), np.float32)
    data = data_of(maps, pixels, images, type=image(1, 4, 4))
    outputs, targets = torch.zeros(SAMPLES - FIRST, 2, 4, 4), torch.from_numpy(maps[FIRST:])
    recorder = AnswerRecorder(tmp_path, data, alone(*pixels), TrainingOptions(watch_answers="worst"))
    for number in range(1, 130):
        if recorder.is_due(is_last=number == 129):
            outputs[number % 30] += torch.randn(2, 4, 4) + 3 * number  # others are the worst each time
            validate(recorder, outputs, targets, number)
        assert len(read_watched(tmp_path)) <= MOST_STEPS
    steps = read_watched(tmp_path)
    iterations = [step.iteration for step in steps]
    assert iterations[0] == 1
    assert iterations[-1] == 129
    assert len(steps) > MOST_STEPS // 3
    folders = {path.name for path in (tmp_path / "answers").iterdir() if path.is_dir()}
    shown = {f"sample-{row['index']}" for step in steps for row in step.answer["rows"]}
    assert folders == {str(number) for number in iterations} | shown
    pictures = [picture for step in steps for picture in step.answer["pictures"]]
    assert all(Path(picture[name]).is_file() for picture in pictures for name in ("file", "mask", "said", "wrong"))


def test_answers_of_pixels_tell_where_they_are_wrong(tmp_path: Path) -> None:
    maps = np.zeros((SAMPLES, 2, 2), np.int8)
    maps[:, 0] = 1
    pixels = (TargetInfo("y", image(2, 2, 2), "classes", ("a", "b")),)
    data = data_of(maps, pixels, np.zeros((SAMPLES, 1, 2, 2), np.float32), type=image(1, 2, 2))
    outputs = torch.zeros(SAMPLES - FIRST, 2, 2, 2)
    outputs[:, 0] = 1.0  # a everywhere: half of it right
    _, (step,) = recorded(tmp_path, data, outputs)
    assert step.answer["pictures"][0]["iou"] == {"a": 0.5, "b": 0.0}
    assert step.answer["pictures"][0]["label"] == "IoU 0.25"


def test_forecasts_stand_beside_what_came(tmp_path: Path) -> None:
    targets = np.tile(np.array([1.0, 10.0, 2.0, 20.0], np.float32), (SAMPLES, 1))
    window = np.zeros((SAMPLES, 5, 2), np.float32)
    data = data_of(targets, numbers_of(4), window, type=sequence(5, 2), forecast=Forecast(("u", "v"), 5, 2))
    _, (step,) = recorded(tmp_path, data, torch.from_numpy(targets[FIRST:]) + 0.5)
    series = step.answer["series"][0]
    assert series["said"] == {"u": [1.5, 2.5], "v": [10.5, 20.5]}
    assert list(series["ahead"].values()) == [[1.0, 2.0], [10.0, 20.0]]


def test_a_network_that_predicts_letters_shows_what_it_reads(tmp_path: Path) -> None:
    tokens = np.tile(np.frombuffer(b"net\0", np.uint8).astype(np.int64), (SAMPLES, 1))
    targets = tokens.copy()
    targets[:, 3] = IGNORED
    text = TextPreparation(tokens="byte", vocabulary=256)
    letters = (TargetInfo("y", sequence(4, 256), "classes", tuple(map(str, range(256)))),)
    data = data_of(targets, letters, tokens, type=sequence(4, 256), text=text)
    outputs = functional.one_hot(torch.tensor(list(b"nut.")), 256).float().repeat(SAMPLES - FIRST, 1, 1)
    _, (step,) = recorded(tmp_path, data, outputs)
    assert [step.answer["rows"][0][name] for name in ("label", "prediction")] == ["net", "nut"]


def test_transcripts_are_read_without_blanks_and_repeats(tmp_path: Path) -> None:
    targets = np.tile(np.array([0, 1, IGNORED], np.int64), (SAMPLES, 1))
    spoken = (TargetInfo("y", sequence(5, 3), "transcripts", ("a", "b")),)
    data = data_of(targets, spoken, np.zeros((SAMPLES, 5, 2), np.float32), type=sequence(5, 2))
    steps = functional.one_hot(torch.tensor([1, 1, 0, 2, 0]), 3).float()  # the first channel is the blank
    _, (step,) = recorded(tmp_path, data, steps.repeat(SAMPLES - FIRST, 1, 1), ctc_blank="first")
    assert [step.answer["rows"][0][name] for name in ("label", "prediction")] == ["ab", "ab"]


def test_a_resumed_run_goes_on_behind_its_checkpoint(tmp_path: Path) -> None:
    data, outputs = data_of(np.zeros((SAMPLES, 1), np.float32), numbers_of()), torch.zeros(SAMPLES - FIRST, 1)
    recorder, _ = recorded(tmp_path, data, outputs)
    validate(recorder, outputs, torch.zeros(SAMPLES - FIRST, 1), 20)
    again = AnswerRecorder(tmp_path, data, alone(*data.facts.targets), TrainingOptions())
    again.resume(10)
    validate(again, outputs + 1, torch.zeros(SAMPLES - FIRST, 1), 30)
    assert [step.iteration for step in read_watched(tmp_path)] == [10, 30]


def test_a_slow_disk_takes_few_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two percent of the time, and the last validation in any case."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    data = data_of(np.zeros((SAMPLES, 1), np.float32), numbers_of())
    recorder = AnswerRecorder(tmp_path, data, alone(*data.facts.targets), TrainingOptions())
    write, done = AnswerRecorder._write, []

    def slow(self: AnswerRecorder, iteration: int, epoch: int) -> None:
        now[0] += 1.0
        done.append(iteration)
        write(self, iteration, epoch)

    monkeypatch.setattr(AnswerRecorder, "_write", slow)
    for number in range(20):
        now[0] += 5.0
        if recorder.is_due(is_last=number == 19):
            validate(recorder, torch.zeros(SAMPLES - FIRST, 1), torch.zeros(SAMPLES - FIRST, 1), number)
    assert done[0] == 0
    assert done[-1] == 19
    assert len(done) <= 5


@pytest.mark.parametrize("task", ["classes", "labels", "numbers"])
def test_losses_of_samples_leave_out_what_does_not_count(task: str) -> None:
    torch.manual_seed(0)
    output = torch.randn(3, 4, 5)  # steps, channels
    if task == "classes":
        target = torch.randint(0, 5, (3, 4))
        target[1, 2:] = IGNORED
        info = TargetInfo("y", sequence(4, 5), "classes", tuple("abcde"))
        expected = [functional.cross_entropy(output[i][target[i] >= 0], target[i][target[i] >= 0]) for i in range(3)]
    else:
        target = torch.randint(0, 2, (3, 4, 5)).float()
        target[1, 2:] = torch.nan
        info = TargetInfo("y", sequence(4, 5), task, tuple("abcde") if task == "labels" else ())  # type: ignore[arg-type]
        parts = [(output[i][~target[i].isnan()], target[i][~target[i].isnan()]) for i in range(3)]
        expected = [
            functional.binary_cross_entropy_with_logits(x, y) if task == "labels" else functional.mse_loss(x, y).sqrt()
            for x, y in parts
        ]
    assert torch.allclose(sample_losses(output, target, alone(info)[0]), torch.stack(expected))
