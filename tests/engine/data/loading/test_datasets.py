"""Windows gathered on the device: the batches of the same windows as arrays, from rows that are there once."""

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.batches import ResidentDataset
from netwright.engine.data.loading.datasets import WindowedDataset, are_windows, windowed
from netwright.engine.data.sources.prefetch import LazyArray
from netwright.engine.data.sources.windows import Windows

CPU = torch.device("cpu")
RANDOM = np.random.default_rng(0)


def windows(*, count: int = 60, steps: int = 5) -> Windows:
    """Every second window of 100 rows."""
    rows = RANDOM.standard_normal((2 * count + steps, 3)).astype(np.float32)
    return Windows(rows, 2 * np.arange(count), steps, "s.csv")


def as_array(given: Windows, chosen: np.ndarray) -> np.ndarray:
    out = np.empty((len(chosen), *given.shape[1:]), np.float32)
    given.read(chosen, out)
    return out


@pytest.mark.parametrize("chosen", [np.arange(60), np.arange(20, 40), np.array([50, 3, 17])])
def test_batches_equal_those_of_the_windows_as_arrays(chosen: np.ndarray) -> None:
    given, targets = windows(), RANDOM.standard_normal((60, 2)).astype(np.float32)[chosen]
    lazy = windowed([LazyArray(given, chosen)], [targets], CPU)
    plain = ResidentDataset.of([as_array(given, chosen)], ["real"], [targets], CPU)
    assert isinstance(lazy, WindowedDataset)
    assert (len(lazy), lazy.sample_bytes) == (len(plain), plain.sample_bytes)
    for places in (slice(0, 2), torch.tensor([2, 0, 1]), slice(None)):
        one, other = lazy.at(places), plain.at(places)
        assert torch.equal(one[0][0], other[0][0])
        assert torch.equal(one[1][0], other[1][0])
    low, high = lazy.span(0)
    assert (low, high) == pytest.approx(plain.span(0))
    halves = lazy.converted(lambda x: x.half()).at(slice(0, 2))[0][0]
    assert torch.equal(halves, plain.at(slice(0, 2))[0][0].half())


def test_a_split_holds_its_own_rows_once() -> None:
    given = windows(count=1000, steps=50)
    lazy = windowed([LazyArray(given, np.arange(100, 200))], [np.zeros((100, 1), np.float32)], CPU)
    assert lazy.inputs[0].shape == (2 * 99 + 50, 3)


def test_windows_of_their_own_length_are_not_gathered_so() -> None:
    given = windows()
    padded = Windows(given.rows, given.starts, given.steps, given.where, np.full(60, 3))
    assert are_windows([LazyArray(given, np.arange(3))])
    assert not are_windows([LazyArray(padded, np.arange(3))])
    assert not are_windows([np.zeros((3, 5, 3))])
    assert (as_array(padded, np.arange(60))[:, 3:] == 0).all()
