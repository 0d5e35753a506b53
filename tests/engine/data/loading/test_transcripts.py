"""Transcripts that need more steps than leave the network."""

from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.sequences import needed, refuse_long_transcripts
from netwright.engine.network.analysis import analyse
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import IGNORED
from tests.builders import chain, layer


def test_equal_neighbours_need_a_blank_between_them() -> None:
    assert needed(np.array([[1, 1, 0], [1, 0, IGNORED], [2, IGNORED, IGNORED]])).tolist() == [4, 2, 1]


def test_the_first_transcript_without_room_is_named(tmp_path: Path) -> None:
    y = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 1]] * 4)
    lengths = np.array([9, 6, 9] * 4)
    np.savez(tmp_path / "d.npz", x=np.zeros((12, 9, 2)), x_lengths=lengths, y=y, y_lengths=np.full(12, 3))
    data = load(DataOptions(source="arrays", path="d.npz"), tmp_path)
    for stride, message in ((1, ""), (2, "of sample 1 needs 4 steps .* of its 6 steps 3 leave the network")):
        network = chain(
            layer("sequence_input", channels=2),
            layer("conv1d", filters=3, kernel=(2,), stride=(stride,), padding=0),
        )
        if message:
            with pytest.raises(UserError, match=message):
                refuse_long_transcripts(network, analyse(network), data)
        else:
            refuse_long_transcripts(network, analyse(network), data)
