"""Fitted normalisation, against plain numpy in double precision."""

from collections.abc import Iterator

import numpy as np
import pytest

from netwright.engine.data.loading.normalization import fit
from netwright.engine.data.sources.source import Array
from netwright.engine.layers.inputs import NORMALIZATIONS

RANDOM = np.random.default_rng(0)
CASES = {
    "features": (RANDOM.normal(3, 2, (50, 4)), 1),
    "images": (RANDOM.uniform(0, 255, (20, 3, 5, 6)), 1),
    "sequences": (RANDOM.normal(-4, 9, (30, 7, 2)), 2),
}


def applied(kind: str, array: np.ndarray, axis: int) -> np.ndarray:
    """The normalised array with the channels last, as rows."""
    shift, scale = fit(kind, array.astype(np.float32), axis)
    assert shift.dtype == scale.dtype == np.float32
    return (np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]) - shift) * scale


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_kinds_do_what_they_say(kind, case):
    array, axis = CASES[case]
    rows = applied(kind, array, axis)
    if kind in ("zerocenter", "zscore"):
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-4)
    if kind == "zscore":
        np.testing.assert_allclose(rows.std(axis=0), 1, rtol=1e-5)
    if kind.startswith("rescale"):
        np.testing.assert_allclose(rows.min(axis=0), 0 if kind == "rescale-zero-one" else -1, atol=1e-5)
        np.testing.assert_allclose(rows.max(axis=0), 1, atol=1e-5)
    if kind == "none":
        np.testing.assert_array_equal(rows, np.moveaxis(array, axis, -1).reshape(rows.shape))


@pytest.mark.parametrize("kind", NORMALIZATIONS)
def test_a_constant_channel_keeps_its_scale(kind):
    array = np.stack([np.full(9, 0.1), np.arange(9.0)], axis=1).astype(np.float32)
    shift, scale = fit(kind, array, 1)
    assert scale[0] == 1.0
    assert np.isfinite(scale).all()
    assert shift[0] == (0.0 if kind == "none" else array[0, 0])


def test_large_offsets_lose_no_digits():
    array = (1e6 + RANDOM.integers(0, 2, (3_000, 1))).astype(np.float32)
    _, scale = fit("zscore", array, 1)
    assert scale[0] == pytest.approx(1 / array.astype(np.float64).std(), rel=1e-5)


def test_pieces_make_no_difference(monkeypatch):
    array, axis = CASES["images"]
    whole = fit("zscore", array, axis)
    monkeypatch.setattr("netwright.engine.data.loading.normalization.CHUNK_NUMBERS", 100)
    for a, b in zip(whole, fit("zscore", array, axis), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_times_since_1970_keep_their_digits():
    """In single precision the twelve values are one, and a constant has the scale 1."""
    times = 1e9 + np.arange(12.0).reshape(12, 1)
    shift, scale = fit("zscore", times, 1)
    assert (shift.dtype, scale.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose((times - shift) * scale, (times - times.mean()) / times.std(), rtol=1e-6)


@pytest.mark.parametrize("values", [np.arange(1990.0, 2020.0), np.linspace(0, 1, 30)])
def test_what_single_precision_holds_stays_there(values):
    assert fit("zscore", values.reshape(-1, 1), 1)[0].dtype == np.float32


class Chunked:
    """Samples that are read a few at a time."""

    def __init__(self, samples: Array) -> None:
        self.samples, self.shape = samples, samples.shape

    def chunks(self, step: int) -> Iterator[Array]:
        """Yield the samples, at most 7 at a time."""
        step = min(step, 7)
        yield from (self.samples[start : start + step] for start in range(0, len(self.samples), step))


@pytest.mark.parametrize("kind", [kind for kind in NORMALIZATIONS if kind != "none"])
@pytest.mark.parametrize("is_lazy", [False, True])
def test_per_element_and_for_all_numbers(kind: str, is_lazy: bool) -> None:
    images = np.random.default_rng(3).normal(size=(50, 2, 3, 4))
    images[:, 0, 0, 0] = 7.0
    given = Chunked(images) if is_lazy else images
    per_element = fit(kind, given, 1, "element")
    expected = fit(kind, images.reshape(50, 24), 1)
    for one, other in zip(per_element, expected, strict=True):
        assert one.shape == (24,)
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert per_element[1][0] == 1.0, "a constant element keeps its scale"
    shift, scale = fit(kind, given, 1, "all")
    expected = fit(kind, images.reshape(-1, 1), 1)
    np.testing.assert_allclose([*shift, *scale], [*expected[0], *expected[1]], rtol=1e-6)
