"""Colours, noise and erasing, beside the same by hand."""

import colorsys
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.augment_colours import Colours, Erasing, Noise
from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.training import TrainingOptions

NUMBERS = torch.arange(8)
SPAN = (0.0, 255.0)


def images(channels: int = 3, size: int = 6) -> torch.Tensor:
    return torch.rand(len(NUMBERS), channels, size, size, generator=torch.Generator().manual_seed(0)) * 255


def changed(given: torch.Tensor, span: tuple[float, float] = SPAN, **options: Any) -> tuple[torch.Tensor, CounterRng]:
    draws = CounterRng(1, 1, NUMBERS)
    before = given.clone()
    found = Colours(TrainingOptions(**options), span)(given, draws)
    assert torch.equal(given, before), "what was given stays"
    return found, draws


def test_brightness_multiplies_what_is_above_black() -> None:
    given = images(1) - 100
    found, draws = changed(given, (-100.0, 155.0), jitter_brightness=0.4)
    factor = 0.6 + 0.8 * draws.unit("brightness").view(-1, 1, 1, 1)
    assert torch.allclose(found, ((given + 100) * factor - 100).clamp(-100, 155), atol=1e-3)


def test_a_factor_is_never_below_nothing() -> None:
    found, draws = changed(images(1), jitter_brightness=3.0)
    factor = 4 * draws.unit("brightness").view(-1, 1, 1, 1)
    assert torch.allclose(found, (images(1) * factor).clamp(0, 255), atol=1e-3)


@pytest.mark.parametrize("channels", [1, 3])
def test_contrast_is_about_the_mean_grey(channels: int) -> None:
    given = images(channels)
    found, draws = changed(given, jitter_contrast=0.5)
    shares = torch.tensor([0.299, 0.587, 0.114] if channels == 3 else [1.0]).view(1, -1, 1, 1)
    mean = (given * shares).sum(1).mean((1, 2)).view(-1, 1, 1, 1)
    factor = 0.5 + draws.unit("contrast").view(-1, 1, 1, 1)
    assert torch.allclose(found, (mean + factor * (given - mean)).clamp(0, 255), atol=1e-3)


def test_saturation_is_about_the_grey_of_each_pixel() -> None:
    given = images()
    found, draws = changed(given, jitter_saturation=0.5)
    grey = (given * torch.tensor([0.299, 0.587, 0.114]).view(1, -1, 1, 1)).sum(1, keepdim=True)
    factor = 0.5 + draws.unit("saturation").view(-1, 1, 1, 1)
    assert torch.allclose(found, (grey + factor * (given - grey)).clamp(0, 255), atol=1e-3)


def test_the_hue_is_turned_as_pythons_own_conversion_has_it() -> None:
    given = images()
    given[0, :, 0, 0], given[1, :, 0, 0], given[2, :, 0, 0] = 0.0, 255.0, torch.tensor([9.0, 9.0, 3.0])
    found, draws = changed(given, jitter_hue=0.5)
    by = draws.between("hue", -0.5, 0.5)
    for sample in range(len(given)):
        for row, column in np.ndindex(6, 6):
            hue, saturation, value = colorsys.rgb_to_hsv(*(given[sample, :, row, column] / 255).tolist())
            wanted = colorsys.hsv_to_rgb((hue + float(by[sample])) % 1.0, saturation, value)
            assert found[sample, :, row, column].tolist() == pytest.approx([255 * x for x in wanted], abs=0.02)


def test_grey_images_have_no_saturation_and_no_hue() -> None:
    assert torch.equal(changed(images(1), jitter_saturation=0.5, jitter_hue=0.2)[0], images(1))


def test_noise_has_its_deviation_and_is_another_for_each_sample() -> None:
    given = torch.zeros(64, 3, 20, 20)
    noise = Noise(5.0, seed=2)
    found = noise(given, CounterRng(1, 1, torch.arange(64)))
    assert float(found.mean()) == pytest.approx(0.0, abs=0.15)
    assert float(found.std()) == pytest.approx(5.0, rel=0.03)
    assert float((found.abs() < 5.0).float().mean()) == pytest.approx(0.683, abs=0.02)
    flat = found.flatten(1)
    assert len({row[:5].sum().item() for row in flat}) == 64
    assert float(torch.corrcoef(flat).fill_diagonal_(0).abs().max()) < 0.2
    again = Noise(5.0, seed=2)(given[:2], CounterRng(1, 1, torch.tensor([40, 3])))
    assert torch.equal(again, found[[40, 3]])
    torch.set_default_dtype(torch.float64)  # as the precision fp64 does
    try:
        exact = Noise(5.0, seed=2)(given.double(), CounterRng(1, 1, torch.arange(64)))
    finally:
        torch.set_default_dtype(torch.float32)
    assert exact.dtype == torch.float64
    assert torch.equal(exact.float(), found), "the same noise in any precision"


def test_a_rectangle_of_its_size_is_erased_somewhere() -> None:
    numbers = torch.arange(400)
    options = TrainingOptions(erasing_probability=0.5, erasing_area=(0.1, 0.2))
    given = torch.ones(400, 2, 30, 40)
    draws = CounterRng(1, 1, numbers)
    ground = torch.tensor([3.0, 4.0]).view(1, -1, 1, 1)
    found = Erasing(options)(given, draws, ground)
    gone = found[:, 0] == 3.0
    assert torch.equal(gone, found[:, 1] == 4.0)
    assert torch.equal(gone.flatten(1).any(1), draws.unit("erasing") < 0.5)
    areas, tops = [], set()
    for each in gone[gone.flatten(1).any(1)]:
        rows, columns = (each.any(axis).nonzero().flatten() for axis in (1, 0))
        height, width = len(rows), len(columns)
        assert int(each.sum()) == height * width, "it is a whole rectangle"
        assert int(rows[-1] - rows[0]) + 1 == height
        assert 0.27 < height / width < 3.7, "0.3 to 3.3, and a rounded pixel"
        areas.append(height * width / 1200)
        tops.add(int(rows[0]))
    assert 0.09 < min(areas) < 0.12
    assert 0.18 < max(areas) < 0.215
    assert len(tops) > 15
