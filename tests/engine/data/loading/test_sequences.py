"""Sequences of different lengths in one batch: padded and cut on either side, split, masked or seen by layers."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.core.types import sequence
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.data.loading.datasets import make_dataset
from netwright.engine.data.loading.loaded import Split
from netwright.engine.data.loading.sequences import Padding, split_sequences
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.dataset_info import IGNORED, DatasetInfo, InputInfo, TargetInfo
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import loss_for
from tests.builders import chain, layer

LENGTHS = np.array([4, 2, 3])
STEPS = np.where(np.arange(4) < LENGTHS[:, None], np.arange(1, 5) + 10 * np.arange(3)[:, None], 0)
CPU = torch.device("cpu")


def batch(*, cut: bool = False, **options: object) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Sequences, the class of each step, and lengths, of the one batch that there is."""
    x, y = STEPS[:, :, None].astype(np.float32), np.where(STEPS > 0, STEPS, IGNORED).astype(np.int8)
    padding = Padding.of(TrainingOptions(**options))
    part = ResidentDataset.of([x], ["real"], [y], CPU, [LENGTHS], padding, [0])
    (found,) = BatchLoader(part, SampleOrder(3, 3, "never", 0), SingleProcess(), cut=cut).of_epoch(1)
    return found.inputs[0][:, :, 0].long().tolist(), found.targets[0].tolist(), [x.tolist() for x in found.inputs[1:]]


def test_seen_padding_stands_where_it_is_asked_for() -> None:
    said: dict[str, Any] = {"sequence_padding": "seen", "sequence_padding_value": 7}
    x, y, lengths = batch(**said)
    assert x == [[1, 2, 3, 4], [11, 12, 7, 7], [21, 22, 23, 7]]
    x, y, lengths = batch(**said, sequence_padding_direction="left")
    assert x == [[1, 2, 3, 4], [7, 7, 11, 12], [7, 21, 22, 23]]
    assert y == [[1, 2, 3, 4], [IGNORED, IGNORED, 11, 12], [IGNORED, 21, 22, 23]]
    assert lengths == []


def test_a_batch_is_cut_on_the_side_that_is_padded() -> None:
    """MATLAB: the direction of padding is that of truncation."""
    x, y, lengths = batch(cut=True)
    assert (x, lengths) == ([[1, 2], [11, 12], [21, 22]], [[2, 2, 2]])
    x, y, lengths = batch(cut=True, sequence_padding_direction="left")
    assert (x, y, lengths) == ([[3, 4], [11, 12], [22, 23]], [[3, 4], [11, 12], [22, 23]], [[2, 2, 2]])


def test_masked_padding_has_no_side() -> None:
    right, left = batch(), batch(sequence_padding_direction="left")
    assert (right[0], right[2]) == (left[0], left[2]) == (STEPS.tolist(), [LENGTHS.tolist()])


@pytest.mark.parametrize(
    ("is_left", "expected"),
    [
        (False, [[1, 2, 3], [4, 0, 0], [11, 12, 0], [21, 22, 23]]),
        (True, [[1, 0, 0], [2, 3, 4], [11, 12, 0], [21, 22, 23]]),
    ],
)
def test_pieces_hold_every_step_once(is_left: bool, expected: list[list[int]]) -> None:
    lengths, (pieces,), (classes,) = split_sequences(
        LENGTHS, 3, is_left=is_left, sequences=[(STEPS, 0)], others=[np.array([5, 6, 7])]
    )
    assert pieces.tolist() == expected
    assert lengths.tolist() == [sum(step > 0 for step in piece) for piece in expected]
    assert classes.tolist() == [5, 5, 6, 7]


def part_for(options: TrainingOptions) -> tuple[ResidentDataset, nn.Module, Wanted]:
    """Twelve sequences with a class for every step, and a network for them."""
    random = np.random.default_rng(1)
    lengths = random.integers(1, 9, 12)
    x, y = random.normal(size=(12, 8, 2)).astype(np.float32), random.integers(0, 3, (12, 8)).astype(np.int8)
    y[np.arange(8) >= lengths[:, None]] = IGNORED
    network = chain(
        layer("sequence_input", channels=2), layer("gru", hidden_units=5), layer("fully_connected", outputs=3)
    )
    given = InputInfo("x", sequence(8, 2).opened(), lengths=(1, 8))
    target = TargetInfo("y", sequence(8, 3).opened(), "classes", ("a", "b", "c"), (1, 8))
    analysis = analyse(network)
    is_masked = options.sequence_padding == "masked"
    wanted = Wanted("y", target, sequence(8, 3).opened(), has_lengths=is_masked)
    facts = DatasetInfo((given,), {"training": 12}, (target,))
    data = Split((x,), (y,), (lengths,))
    part = make_dataset(data, network, analysis, facts, options, (wanted,), CPU, is_training=True)
    torch.manual_seed(1)
    return part, build(network, analysis, lengths=is_masked), wanted


@pytest.mark.parametrize("direction", ["right", "left"])
def test_the_loss_of_a_padded_batch_is_that_of_each_sequence_alone(direction: str) -> None:
    options = TrainingOptions(sequence_padding_direction=direction)
    part, network, wanted = part_for(options)
    loss = loss_for(options, (wanted,), part.targets)

    def of(chosen: slice) -> float:
        inputs, targets = part.at(chosen)
        return float(loss(network(*inputs), targets).detach())

    assert of(slice(12)) == pytest.approx(sum(of(slice(n, n + 1)) for n in range(12)), rel=1e-5)


def test_layers_see_padding_where_they_are_to_and_losses_do_not_count_it() -> None:
    options = TrainingOptions(sequence_padding="seen", sequence_padding_direction="left", sequence_padding_value=0.5)
    part, network, wanted = part_for(options)
    assert part.lengths[0] is not None
    longest = int(part.lengths[0].max())
    inputs, targets = part.at(slice(12))
    expected = []
    for x, y, length in zip(part.inputs[0], part.targets[0], part.lengths[0].tolist(), strict=True):
        padded = torch.cat([torch.full((longest - length, 2), 0.5), x[:length]])
        output = network(padded[None])[0, longest - length :]
        expected.append(nn.functional.cross_entropy(output, y[:length].long()))
    found = loss_for(options, (wanted,), part.targets)((network(*inputs),), targets)
    torch.testing.assert_close(found, torch.stack(expected).sum())


def test_pieces_of_sequences_train_and_whole_ones_are_judged() -> None:
    part, _, _ = part_for(TrainingOptions(sequence_length="split", sequence_split_length=3))
    assert part.lengths[0] is not None
    assert int(part.lengths[0].max()) == 3
    assert len(part) == len(part.lengths[0]) > 12
    counted = (part.targets[0] != IGNORED).sum(1)
    assert counted.tolist() == part.lengths[0].tolist()
