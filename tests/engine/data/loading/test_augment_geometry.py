"""Images that are moved, beside the same pixel by pixel in plain Python."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from netwright.engine.data.loading.augment_geometry import Geometry, moved_images, moved_maps, moved_numbers
from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.training import TrainingOptions

HEIGHT, WIDTH = 7, 10
NUMBERS = torch.arange(6)
RANGES: dict[str, dict[str, Any]] = {
    "rotation": {"rand_rotation": (-50, 80)},
    "scale": {"rand_scale": (0.5, 2)},
    "scale of the width": {"rand_x_scale": (0.5, 2)},
    "scale of the height": {"rand_y_scale": (0.5, 2)},
    "x shear": {"rand_x_shear": (-30, 40)},
    "y shear": {"rand_y_shear": (10, 40)},
    "x translation": {"rand_x_translation": (-3, 2)},
    "y translation": {"rand_y_translation": (-3, 2)},
    "all": {
        "rand_x_reflection": 0.5,
        "rand_y_reflection": 0.5,
        "rand_rotation": (-40, 40),
        "rand_x_scale": (0.8, 1.3),
        "rand_y_scale": (0.7, 1.1),
        "rand_x_shear": (-20, 20),
        "rand_y_shear": (-10, 20),
        "rand_x_translation": (-2, 2),
        "rand_y_translation": (-1, 1),
        "rand_crop_padding": 2,
    },
}


def images(channels: int = 2) -> torch.Tensor:
    return torch.rand(len(NUMBERS), channels, HEIGHT, WIDTH, generator=torch.Generator().manual_seed(0)) * 100


def forward(options: TrainingOptions, draws: CounterRng, sample: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and translation that take a point of the image, from its centre, to where it goes: step by step."""

    def drawn(name: str) -> float:
        return float(draws.between(name, *getattr(options, f"rand_{name}"))[sample])

    angle = math.radians(drawn("rotation"))
    rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    x_shear = np.array([[1, math.tan(math.radians(drawn("x_shear")))], [0, 1]])
    y_shear = np.array([[1, 0], [math.tan(math.radians(drawn("y_shear"))), 1]])
    both = drawn("scale")
    scale = np.diag([both * drawn("x_scale"), both * drawn("y_scale")])
    signs = [
        -1 if float(draws.unit(f"{a}_reflection")[sample]) < getattr(options, f"rand_{a}_reflection") else 1
        for a in "xy"
    ]
    moved = np.array([drawn("x_translation"), drawn("y_translation")])
    border = options.rand_crop_padding
    cut = np.array([math.floor(float(draws.unit(f"{a}_crop")[sample]) * (2 * border + 1)) - border for a in "xy"])
    return rotation @ y_shear @ x_shear @ scale @ np.diag(signs), moved - cut


def looked_up(image: np.ndarray, x: float, y: float, fill: float) -> float:
    """The four pixels around a place, weighted by how near they are."""
    left, top = math.floor(x), math.floor(y)
    total = 0.0
    for row in (top, top + 1):
        for column in (left, left + 1):
            inside = 0 <= row < image.shape[0] and 0 <= column < image.shape[1]
            value = float(image[row, column]) if inside else fill
            total += value * (1 - abs(x - column)) * (1 - abs(y - row))
    return total


def by_hand(options: TrainingOptions, draws: CounterRng, given: torch.Tensor, fill: tuple[float, ...]) -> np.ndarray:
    found = np.zeros(given.shape)
    centre = np.array([(WIDTH - 1) / 2, (HEIGHT - 1) / 2])
    for sample in range(len(given)):
        matrix, moved = forward(options, draws, sample)
        back = np.linalg.inv(matrix)
        for row in range(HEIGHT):
            for column in range(WIDTH):
                x, y = back @ (np.array([column, row]) - centre - moved) + centre
                for channel, value in enumerate(fill):
                    found[sample, channel, row, column] = looked_up(given[sample, channel].numpy(), x, y, value)
    return found


@pytest.mark.parametrize("name", RANGES)
def test_pixels_come_from_where_the_formula_says(name: str) -> None:
    options = TrainingOptions(**RANGES[name])
    draws = CounterRng(3, 1, NUMBERS)
    way = Geometry(options).way(draws)
    fill = (0.0, 0.0) if name != "all" else (20.0, -5.0)
    moved = moved_images(images(), way, fill)
    assert np.abs(moved.numpy() - by_hand(options, draws, images(), fill)).max() < 2e-3
    exact = moved_images(images().double(), way, fill)
    assert float((exact - moved).abs().max()) < 2e-3
    assert moved.dtype == torch.float32
    assert exact.dtype == torch.float64


def test_a_positive_angle_turns_clockwise_and_a_translation_goes_right_and_down() -> None:
    dot = torch.zeros(1, 1, 5, 5)
    dot[0, 0, 0, 2] = 1.0  # at the top
    one = torch.arange(1)

    def where(**ranges: Any) -> list[list[int]]:
        way = Geometry(TrainingOptions(**ranges)).way(CounterRng(0, 1, one))
        return (moved_images(dot, way, (0.0,))[0, 0] > 0.5).nonzero().tolist()

    assert where(rand_rotation=(90, 90)) == [[2, 4]], "to the right"
    assert where(rand_x_translation=(1, 1)) == [[0, 3]]
    assert where(rand_y_translation=(3, 3)) == [[3, 2]]
    assert where(rand_x_shear=(45, 45)) == [[0, 0]], "y is -2 there, as y points down"
    assert where(rand_y_scale=(0.5, 0.5)) == [[1, 2]]


def test_reflections_mirror_to_the_bit() -> None:
    given = images()
    way = Geometry(TrainingOptions(rand_x_reflection=1, rand_y_reflection=0)).way(CounterRng(0, 1, NUMBERS))
    assert torch.equal(moved_images(given, way, (0.0,)), given.flip(3))
    way = Geometry(TrainingOptions(rand_y_reflection=1)).way(CounterRng(0, 1, NUMBERS))
    assert torch.equal(moved_images(given, way, (0.0,)), given.flip(2))
    half = TrainingOptions(rand_x_reflection=0.5)
    draws = CounterRng(0, 1, NUMBERS)
    turned = draws.unit("x_reflection") < 0.5
    assert 0 < int(turned.sum()) < len(NUMBERS)
    moved = moved_images(given, Geometry(half).way(draws), (0.0,))
    assert torch.equal(moved, torch.where(turned.view(-1, 1, 1, 1), given.flip(3), given))


def test_a_crop_is_cut_out_of_the_padded_image_to_the_bit() -> None:
    given, border = images(), 3
    options = TrainingOptions(rand_crop_padding=border)
    numbers = torch.arange(len(NUMBERS))
    seen: set[tuple[int, int]] = set()
    for epoch in range(1, 60):
        draws = CounterRng(0, epoch, numbers)
        moved = moved_images(given, Geometry(options).way(draws), (7.0,))
        padded = torch.nn.functional.pad(given, [border] * 4, value=7.0)
        for sample in range(len(given)):
            left, top = (int(float(draws.unit(f"{axis}_crop")[sample]) * (2 * border + 1)) for axis in "xy")
            seen.add((left, top))
            assert torch.equal(moved[sample], padded[sample, :, top : top + HEIGHT, left : left + WIDTH])
    assert len(seen) == 49, "each place comes up"


@pytest.mark.parametrize("kind", [torch.int8, torch.int64, torch.float32])
def test_a_map_of_classes_goes_along_with_its_image_and_mixes_none(kind: torch.dtype) -> None:
    options = TrainingOptions(**RANGES["all"])
    draws = CounterRng(5, 1, NUMBERS)
    way = Geometry(options).way(draws)
    drawn = torch.randint(0, 5, (len(NUMBERS), HEIGHT, WIDTH), generator=torch.Generator().manual_seed(1))
    fill = float("nan") if kind.is_floating_point else float(IGNORED)
    moved = moved_maps(drawn.to(kind), way, fill)
    assert moved.dtype == kind
    centre, outside = np.array([(WIDTH - 1) / 2, (HEIGHT - 1) / 2]), 0
    for sample in range(len(drawn)):
        matrix, translation = forward(options, draws, sample)
        for row in range(HEIGHT):
            for column in range(WIDTH):
                place = np.linalg.inv(matrix) @ (np.array([column, row]) - centre - translation) + centre
                if abs((place % 1) - 0.5).min() < 1e-3:
                    continue  # between two, and rounding decides
                x, y = (round(float(each)) for each in place)
                found = float(moved[sample, row, column])
                if 0 <= x < WIDTH and 0 <= y < HEIGHT:
                    assert found == float(drawn[sample, y, x])
                else:
                    outside += 1
                    assert math.isnan(found) if kind.is_floating_point else found == IGNORED
    assert outside > 10


def test_maps_of_numbers_are_mixed_and_end_where_the_image_ends() -> None:
    given = images()
    given[0, 0, 3, 4] = math.nan
    options = TrainingOptions(**RANGES["rotation"])
    draws = CounterRng(3, 1, NUMBERS)
    way = Geometry(options).way(draws)
    moved = moved_numbers(given, way)
    wanted = by_hand(options, draws, given, (math.nan, math.nan))
    known = ~torch.isnan(moved).numpy()
    assert np.abs(moved.numpy()[known] - wanted[known]).max() < 2e-3
    assert 0.3 < known[1:].mean() < 0.95
    assert known[0, 0].sum() < known[0, 1].sum(), "what is not known spreads to what is made of it"
    flipped = Geometry(TrainingOptions(rand_x_reflection=1)).way(draws)
    assert torch.equal(moved_numbers(given, flipped).nan_to_num(-1), given.flip(3).nan_to_num(-1))


def test_alternating_reflection_shows_every_image_from_both_sides_in_two_epochs() -> None:
    options = TrainingOptions(rand_x_reflection=0.5, alternating_reflection=True)
    given = torch.rand(64, 1, 3, 5, generator=torch.Generator().manual_seed(0))

    def mirrored(epoch: int, numbers: torch.Tensor) -> torch.Tensor:
        moved = moved_images(given[numbers], Geometry(options).way(CounterRng(1, epoch, numbers)), (0.0,))
        is_mirrored = (moved == given[numbers].flip(-1)).flatten(1).all(1)
        assert torch.equal(is_mirrored, ~(moved == given[numbers]).flatten(1).all(1))
        return is_mirrored

    first, every = mirrored(1, torch.arange(64)), torch.arange(64)
    assert 20 < int(first.sum()) < 44
    assert torch.equal(mirrored(2, every), ~first)
    assert torch.equal(mirrored(7, every), first)
    assert torch.equal(mirrored(2, every.flip(0)).flip(0), ~first), "whatever the batch"
