"""Mix images and their class probabilities: mixup (Zhang et al., mixup: Beyond Empirical Risk
Minimization, 2018) and CutMix (Yun et al., CutMix: Regularization Strategy to Train Strong Classifiers, 2019).

The other image is drawn from the whole training split for each sample, so that it does not depend on the batch or the
worker; torchvision takes the next sample of the batch.
"""

import numpy as np
import torch
from torch.nn import functional

from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.options.augmentation_options import AugmentationOptions

TABLE = 2**16
"""Number of draws from Beta(alpha, alpha) that represent the distribution."""


class Mixing:
    """Mixing of each sample with another one of the training split."""

    def __init__(self, options: AugmentationOptions, samples: int, classes: int) -> None:
        """`samples` and `classes` are the sizes of the training split."""
        self._samples, self._classes = samples, classes
        self._mixup, self._cutmix = options.mixup_alpha, options.cutmix_alpha
        self._tables = {alpha: _table(alpha) for alpha in (self._mixup, self._cutmix) if alpha}

    def partners(self, draws: CounterRng) -> torch.Tensor:
        """Return the index of the other sample for each (N)."""
        return (draws.unit("partner") * self._samples).long().clamp_(max=self._samples - 1)

    def images(self, own: torch.Tensor, other: torch.Tensor, draws: CounterRng) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mixed images (N, C, H, W), and the weight of each sample's own image in them (N)."""
        if not self._cutmix:
            return self._blended(own, other, draws)
        if not self._mixup:
            return self._pasted(own, other, draws)
        is_blended = draws.happens("mixing", 0.5)
        (blended, share), (pasted, rest) = self._blended(own, other, draws), self._pasted(own, other, draws)
        return torch.where(is_blended.view(-1, 1, 1, 1), blended, pasted), torch.where(is_blended, share, rest)

    def shares(self, own: torch.Tensor, other: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
        """Return class probabilities (N, classes) from the classes of both (N) and the weight of the own one (N)."""
        wide = share.unsqueeze(1)
        both = [functional.one_hot(numbers.long(), self._classes).to(share.dtype) for numbers in (own, other)]
        return both[0] * wide + both[1] * (1 - wide)

    def _blended(self, own: torch.Tensor, other: torch.Tensor, draws: CounterRng) -> tuple[torch.Tensor, torch.Tensor]:
        share = self._drawn(self._mixup, draws, own)
        wide = share.view(-1, 1, 1, 1)
        return own * wide + other * (1 - wide), share

    def _pasted(self, own: torch.Tensor, other: torch.Tensor, draws: CounterRng) -> tuple[torch.Tensor, torch.Tensor]:
        """Paste a rectangle of the other image (CutMix), of the image's aspect ratio and with a random centre.

        It is clipped to the image; the returned share (N) is that of the own pixels after clipping.
        """
        height, width = own.shape[-2:]
        side = (1 - self._drawn(self._cutmix, draws, own)).sqrt()
        rows = _inside(draws.unit("mixing_y").to(own.dtype), side, height)
        columns = _inside(draws.unit("mixing_x").to(own.dtype), side, width)
        is_other = rows.unsqueeze(2) & columns.unsqueeze(1)
        share = 1 - is_other.flatten(1).to(own.dtype).mean(1)
        return torch.where(is_other.unsqueeze(1), other, own), share

    def _drawn(self, alpha: float, draws: CounterRng, like: torch.Tensor) -> torch.Tensor:
        table = self._tables[alpha] = self._tables[alpha].to(like.device, like.dtype)
        return table[(draws.unit("mixing_share") * TABLE).long()]


def _table(alpha: float) -> torch.Tensor:
    shares = np.random.default_rng(0).beta(alpha, alpha, TABLE)
    return torch.from_numpy(shares.astype(np.float32))


def _inside(middle: torch.Tensor, side: torch.Tensor, size: int) -> torch.Tensor:
    """Return a mask (N, size) of places within half a `side` of the `middle`, both as fractions of the size."""
    places = (torch.arange(size, device=middle.device, dtype=middle.dtype) + 0.5) / size
    return (places - middle.unsqueeze(1)).abs() < side.unsqueeze(1) / 2
