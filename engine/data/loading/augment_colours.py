"""Jitter of brightness, contrast, saturation and hue as in torchvision's ColorJitter, noise, and random erasing.

Images are (N, C, H, W), floating point. `Span` holds the values of black and white.
"""

import math
from collections.abc import Sequence

import torch

from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.options.augmentation_options import AugmentationOptions

Span = tuple[float, float]
GREY = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in grey: ITU-R BT.601."""
RATIOS = (0.3, 3.3)
"""Range of the aspect ratio, height by width, of erased rectangles."""
NOISE_NUMBERS = 2**20


class Colours:
    """Jitters brightness, contrast, saturation and hue of images (N, C, H, W)."""

    def __init__(self, options: AugmentationOptions, span: Span) -> None:
        self._options = options
        self._black, self._white = span
        self.is_on = any(options.does(f"jitter_{name}") for name in ("brightness", "contrast", "saturation", "hue"))

    def __call__(self, images: torch.Tensor, draws: CounterRng) -> torch.Tensor:
        """Return the images with changed colours."""
        does = self._options.does
        if does("jitter_brightness"):
            images = self._kept((images - self._black) * self._factor(draws, "brightness", images) + self._black)
        if does("jitter_contrast"):
            mean = _grey(images).mean(dim=(1, 2, 3), keepdim=True)
            images = self._kept((images - mean) * self._factor(draws, "contrast", images) + mean)
        if images.shape[1] == 3 and does("jitter_saturation"):
            grey = _grey(images)
            images = self._kept((images - grey) * self._factor(draws, "saturation", images) + grey)
        if images.shape[1] == 3 and does("jitter_hue"):
            most = self._options.jitter_hue
            images = _turned(images, draws.between("hue", -most, most).to(images.dtype).view(-1, 1, 1))
        return images

    def _kept(self, images: torch.Tensor) -> torch.Tensor:
        return images.clamp_(self._black, self._white)

    def _factor(self, draws: CounterRng, name: str, images: torch.Tensor) -> torch.Tensor:
        most = getattr(self._options, f"jitter_{name}")
        return draws.between(name, max(0.0, 1.0 - most), 1.0 + most).to(images.dtype).view(-1, 1, 1, 1)


def _grey(images: torch.Tensor) -> torch.Tensor:
    """Return grey images (N, 1, H, W): luma of colour images, else the mean of the channels."""
    if images.shape[1] == 3:
        red, green, blue = (images[:, channel : channel + 1] * share for channel, share in enumerate(GREY))
        return red.add_(green).add_(blue)
    return images.mean(dim=1, keepdim=True)


def _turned(images: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """Return images of three channels with their hue shifted by fractions of a circle (N, 1, 1).

    Value and saturation stay.

    From HSV back to colours: Smith, Color gamut transform pairs, 1978, as one formula per channel,
    value - chroma · max(0, min(k, 4 - k, 1)) with k = (n + 6 · hue) mod 6 and n = 5, 3, 1 for red, green and blue.
    """
    red, green, blue = images.unbind(1)
    value = images.amax(1)
    chroma = value - images.amin(1)
    parted = chroma.clamp(min=torch.finfo(images.dtype).tiny)
    of_red = (green - blue) / parted
    of_green = (blue - red) / parted + 2.0
    of_blue = (red - green) / parted + 4.0
    sixth = torch.where(value == red, of_red, torch.where(value == green, of_green, of_blue)) + 6.0 * by
    channels = []
    for start in (5.0, 3.0, 1.0):
        k = torch.remainder(sixth + start, 6.0)
        channels.append(value - chroma * torch.minimum(k, 4.0 - k).clamp_(0.0, 1.0))
    return torch.stack(channels, dim=1)


class Noise:
    """Normal noise, a random section per sample of one long row of numbers.

    The row is drawn once, since drawing numbers for every pixel would cost more than all other augmentation.
    """

    def __init__(self, deviation: float, seed: int) -> None:
        self._deviation = deviation
        self._generator = torch.Generator().manual_seed(seed)
        self._row: torch.Tensor | None = None

    def __call__(self, images: torch.Tensor, draws: CounterRng) -> torch.Tensor:
        """Add noise to images (N, C, H, W)."""
        return images + self.drawn(images.shape[1:], images, draws)

    def drawn(self, shape: Sequence[int], like: torch.Tensor, draws: CounterRng) -> torch.Tensor:
        """Return noise of a shape per sample (N, ...), of the kind of another tensor."""
        size = math.prod(shape)
        row = self._made(size, like)
        starts = (draws.unit("noise") * (len(row) - size + 1)).long()
        return row.unfold(0, size, 1).index_select(0, starts.to(row.device)).view(-1, *shape)

    def _made(self, size: int, images: torch.Tensor) -> torch.Tensor:
        if self._row is None:
            count = max(NOISE_NUMBERS, 8 * size)
            noise = torch.randn(count, generator=self._generator, dtype=torch.float32)  # the same in any precision
            self._row = (noise * self._deviation).to(images.device, images.dtype)
        return self._row


class Erasing:
    """Random erasing: replaces rectangles by the fill value. Zhong et al., Random Erasing Data Augmentation, 2017."""

    def __init__(self, options: AugmentationOptions) -> None:
        self._probability, self._area = options.erasing_probability, options.erasing_area

    def __call__(self, images: torch.Tensor, draws: CounterRng, ground: torch.Tensor) -> torch.Tensor:
        """Return images (N, C, H, W), some with a rectangle of `ground`, a value per channel."""
        height, width = images.shape[-2:]
        area = draws.between("erasing_area", *self._area) * (height * width)
        ratio = draws.between("erasing_ratio", math.log(RATIOS[0]), math.log(RATIOS[1])).exp()
        is_erased = draws.happens("erasing", self._probability).unsqueeze(1)
        rows = _stretch((area * ratio).sqrt(), draws.unit("erasing_y"), height)
        columns = _stretch((area / ratio).sqrt(), draws.unit("erasing_x"), width) & is_erased
        return torch.where(rows.view(-1, 1, height, 1) & columns.view(-1, 1, 1, width), ground, images)


def _stretch(length: torch.Tensor, start: torch.Tensor, size: int) -> torch.Tensor:
    """Return a mask (N, size) of intervals with these lengths (N); `start` (N), 0 to 1, places them."""
    length = length.round().clamp(1, size)
    first = (start * (size - length + 1)).floor()
    places = torch.arange(size, device=length.device)
    return (places >= first.unsqueeze(1)) & (places < (first + length).unsqueeze(1))
