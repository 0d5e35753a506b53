"""Geometric augmentation: one affine transform per sample about the centre of its image.

Coordinates count pixels from the centre, x to the right and y downwards. A point p of the image goes to

    T + R · Y · X · S · F · p

with F reflection, S scaling, X and Y shear, R rotation (clockwise, as y points down), and T translation: the order of
torchvision's RandomAffine. The inverse is computed: the position in the image of each pixel of the new one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.options.augmentation_options import MOVES, WHOLE_MOVES, AugmentationOptions

Row = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Way:
    """Inverse affine transform per sample: x = a·X + b·Y + c of the pixel at X, Y of the new image, and y likewise."""

    x: Row
    y: Row
    is_whole: bool
    """True where pixels map to pixels, so that no interpolation is needed."""

    def places(self, height: int, width: int, kind: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """Return column and row in the image of each pixel of the new image, from 0: (N, H, W) each."""
        device = self.x[0].device
        across = torch.arange(width, device=device, dtype=kind) - (width - 1) / 2
        down = (torch.arange(height, device=device, dtype=kind) - (height - 1) / 2).unsqueeze(1)
        coordinates = []
        for (a, b, c), size in ((self.x, width), (self.y, height)):
            a, b, c = (value.to(kind).view(-1, 1, 1) for value in (a, b, c))
            # Sums over rows and columns come first, so that few operations run on all pixels.
            coordinates.append(a * across + (b * down + (c + (size - 1) / 2)))
        return coordinates[0], coordinates[1]


class Geometry:
    """Random geometric transforms of images."""

    def __init__(self, options: AugmentationOptions) -> None:
        self._options = options
        self._does = {name for name in MOVES if options.does(name)}
        self.is_on = bool(self._does)

    def way(self, draws: CounterRng) -> Way:
        """Return the inverse transforms of some samples."""
        ones = torch.ones_like(draws.unit("rotation"))
        zeros = torch.zeros_like(ones)
        rows = self._turned_back(draws, ones, zeros)
        (a, b), (c, d) = rows
        back = [zeros, zeros]
        if self._does & {"rand_x_translation", "rand_y_translation", "rand_crop_padding"}:
            right, down = (self._moved(draws, axis) for axis in "xy")
            back = [-(a * right + b * down), -(c * right + d * down)]
        return Way((a, b, back[0]), (c, d, back[1]), self._does <= set(WHOLE_MOVES))

    def _turned_back(
        self, draws: CounterRng, ones: torch.Tensor, zeros: torch.Tensor
    ) -> tuple[tuple[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
        """Return the inverse of R · Y · X · S · F, which is F · S⁻¹ · X⁻¹ · Y⁻¹ · R⁻¹, by rows."""
        (a, b), (c, d) = (ones, zeros), (zeros, ones)
        if "rand_rotation" in self._does:
            angle = torch.deg2rad(self._drawn(draws, "rotation"))
            cosine, sine = angle.cos(), angle.sin()
            (a, b), (c, d) = (cosine, sine), (-sine, cosine)
        if "rand_y_shear" in self._does:
            slant = torch.deg2rad(self._drawn(draws, "y_shear")).tan()
            c, d = c - slant * a, d - slant * b
        if "rand_x_shear" in self._does:
            slant = torch.deg2rad(self._drawn(draws, "x_shear")).tan()
            a, b = a - slant * c, b - slant * d
        for name in ("scale", "x_scale"):
            if f"rand_{name}" in self._does:
                factor = self._drawn(draws, name)
                a, b = a / factor, b / factor
        for name in ("scale", "y_scale"):
            if f"rand_{name}" in self._does:
                factor = self._drawn(draws, name)
                c, d = c / factor, d / factor
        if "rand_x_reflection" in self._does:
            sign = self._sign(draws, "x_reflection", alternates=self._options.alternating_reflection)
            a, b = a * sign, b * sign
        if "rand_y_reflection" in self._does:
            sign = self._sign(draws, "y_reflection")
            c, d = c * sign, d * sign
        return (a, b), (c, d)

    def _moved(self, draws: CounterRng, axis: str) -> torch.Tensor:
        """Return the total translation along an axis, in pixels (N)."""
        far = self._drawn(draws, f"{axis}_translation")
        if border := self._options.rand_crop_padding:
            far = far - (draws.between(f"{axis}_crop", 0, 2 * border + 1).floor() - border)
        return far

    def _drawn(self, draws: CounterRng, name: str) -> torch.Tensor:
        low, high = getattr(self._options, f"rand_{name}")
        return draws.between(name, low, high)

    def _sign(self, draws: CounterRng, name: str, *, alternates: bool = False) -> torch.Tensor:
        happens = draws.alternates if alternates else draws.happens
        return 1.0 - 2.0 * happens(name, getattr(self._options, f"rand_{name}")).to(torch.float32)


def moved_images(images: torch.Tensor, way: Way, fill: Sequence[float]) -> torch.Tensor:
    """Return images (N, C, H, W) transformed by `way`, with bilinear interpolation.

    Pixels beyond the edge have the value `fill`, one number or one per channel.
    """
    ground = fills(fill, images)
    if way.is_whole:
        return _taken(images, way, ground)
    height, width = images.shape[-2:]
    grid = _grid(*way.places(height, width, images.dtype))
    if not any(fill):
        return _sampled(images, grid, "zeros")
    return _sampled(images - ground, grid, "zeros").add_(ground)


def fills(fill: Sequence[float], images: torch.Tensor) -> torch.Tensor:
    """Return the fill values (1, 1 or C, 1, 1), made on the device of the images: it need not wait for the host."""
    return torch.cat([images.new_full((1, 1, 1, 1), value) for value in fill], dim=1)


def moved_maps(maps: torch.Tensor, way: Way, fill: float) -> torch.Tensor:
    """Return maps (N, H, W) or (N, C, H, W), of any dtype, transformed by `way`.

    Interpolation is nearest neighbour, since class indices cannot be mixed; pixels beyond the edge get `fill`.
    """
    if maps.dim() == 3:
        return moved_maps(maps.unsqueeze(1), way, fill).squeeze(1)
    return _taken(maps, way, maps.new_full((), fill))


def moved_numbers(maps: torch.Tensor, way: Way) -> torch.Tensor:
    """Return maps (N, R, H, W) of numbers transformed by `way`, with bilinear interpolation.

    Pixels are NaN where one of the four neighbours is NaN or beyond the edge.
    """
    if way.is_whole:
        return moved_maps(maps, way, torch.nan)
    height, width = maps.shape[-2:]
    x, y = way.places(height, width, maps.dtype)
    is_inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    return torch.where(is_inside.unsqueeze(1), _sampled(maps, _grid(x, y), "border"), torch.nan)


def _grid(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return columns and rows as a grid (N, H, W, 2) of grid_sample: from -1 at the outer edge of the first pixel to 1
    at that of the last."""
    height, width = x.shape[-2:]
    return torch.stack([x * (2 / width) + (1 / width - 1), y * (2 / height) + (1 / height - 1)], dim=-1)


def _sampled(values: torch.Tensor, grid: torch.Tensor, beyond: str) -> torch.Tensor:
    return functional.grid_sample(values, grid, "bilinear", beyond, align_corners=False)


def _taken(values: torch.Tensor, way: Way, ground: torch.Tensor) -> torch.Tensor:
    """Return the values of the nearest pixels, `ground` beyond the edge."""
    count, channels, height, width = values.shape
    x, y = (place.round_() for place in way.places(height, width, torch.float32))
    is_inside = ((x >= 0) & (x < width) & (y >= 0) & (y < height)).unsqueeze(1)
    places = (y.clamp_(0, height - 1) * width + x.clamp_(0, width - 1)).long().view(count, 1, -1)
    nearest = values.flatten(2).gather(2, places.expand(count, channels, -1)).view(values.shape)
    return torch.where(is_inside, nearest, ground)
