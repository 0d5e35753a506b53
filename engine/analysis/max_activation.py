"""Images that a class, or a channel of a layer, answers to most strongly, by gradient ascent on the input.

Erhan et al.: Visualizing higher-layer features of a deep network, 2009; the jitter of Mordvintsev et al.: Inceptionism,
2015, and a penalty on differences of neighbouring pixels (Mahendran, Vedaldi, 2015) keep them free of noise.
"""

import numpy as np
import torch

from netwright.engine.analysis.activations import Found
from netwright.engine.analysis.attributions import image_input
from netwright.engine.analysis.subject import Subject, as_picture
from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import Array
from netwright.engine.models.trained_model import DEVICE
from netwright.engine.training.metrics import channels_last

STEPS = 96
RATE = 0.06
"""Step of Adam as a share of the range from black to white."""
SMOOTHNESS = 10.0
"""Weight of the mean squared difference of neighbouring pixels, beside the score relative to its size."""
JITTER = 16
"""The image moves by at most one part in so many of its side at each step."""
MOST_CHANNELS = 9
SEED = 0


def max_activation(subject: Subject, class_name: str, layer_name: str, steps: int = STEPS) -> Found:
    """Return array `maps` (K, H, W) or (K, H, W, 3), bytes: one image per class, for the class that is named, or per
    channel of the layer that is named; and `reached` (K), their score or activation.
    """
    number, _ = image_input(subject, "max_activation")
    first = subject.record.targets[0]
    if layer_name:
        layer = subject.layer(layer_name, lambda layer: layer.family != "Input", "layer behind the input")
        module, (probe,) = subject.probed(layer.path)
        count = _channels(subject, layer.path)
        places = list(range(min(count, MOST_CHANNELS)))
        names = [f"channel {place + 1}" for place in places]
        facts = {"layer": layer.name, "layer_path": layer.path, "channels": count}
    else:
        module, probe, facts = subject.module, None, {}
        places = [subject.target(class_name, None).place] if class_name else list(range(len(first.classes) or 1))
        places = places[: MOST_CHANNELS + 1]
        names = [first.classes[place] if first.classes else first.source or first.name for place in places]
    ascent = _Ascent(subject, module, probe, number, places)
    images, reached = ascent.run(steps)
    span = ascent.span
    pictures = np.stack([as_picture(image, span) for image in images])
    return Found({**facts, "names": names, "steps": steps}, {"maps": pictures, "reached": reached})


def _channels(subject: Subject, path: str) -> int:
    shapes = dict(subject.trained.analysis.all_shapes())
    return shapes[path].output.channels


class _Ascent:
    """Gradient ascent for several channels at once, an image each."""

    def __init__(
        self,
        subject: Subject,
        module: torch.nn.Module,
        probe: torch.nn.Module | None,
        number: int,
        channels: list[int],
    ) -> None:
        self._module, self._number, self._channels = subject.scores(module), number, channels
        parts = subject.record.inputs
        count = len(channels)
        kind = torch.float64 if subject.trained.precision.name == "fp64" else torch.float32
        self._inputs = [
            torch.zeros(
                (count, *(size or 1 for size in part.sizes)), dtype=kind if part.content == "numbers" else torch.long
            )
            for part in parts
        ]
        is_known = bool(parts[number].span)
        self.span = subject.span(number, () if is_known else subject.sample(0).inputs)
        self._seen: list[torch.Tensor] = []
        if probe is not None:
            probe.register_forward_hook(lambda module, inputs, output: self._seen.append(output))

    def _scores(self, x: torch.Tensor) -> torch.Tensor:
        """Return the score (K) of each image for its channel."""
        self._seen.clear()
        inputs = [x if at == self._number else other for at, other in enumerate(self._inputs)]
        scores: torch.Tensor = self._module(*inputs)
        if self._seen:
            last = channels_last(self._seen[0]).to(DEVICE)
            scores = last.reshape(len(last), -1, last.shape[-1]).mean(1)
        return scores[torch.arange(len(x)), torch.tensor(self._channels)]

    def run(self, steps: int) -> tuple[Array, Array]:
        """Return images (K, C, H, W) and their scores (K)."""
        low, high = self.span
        generator = torch.Generator().manual_seed(SEED)
        shape = self._inputs[self._number].shape
        noise = torch.randn(shape, generator=generator, dtype=self._inputs[self._number].dtype)
        x = (0.5 + 0.02 * noise).requires_grad_()  # as a share of the range from black to white
        optimizer = torch.optim.Adam([x], RATE)
        for step in range(steps):
            reach = [max(1, side // JITTER) if side >= JITTER else 0 for side in shape[2:]]
            shifts = [int(torch.randint(-distance, distance + 1, (1,), generator=generator)) for distance in reach]
            moved = torch.roll(x, shifts, (2, 3))
            scores = self._scores(low + moved * (high - low))
            rough = torch.stack([x.diff(dim=axis).square().mean((1, 2, 3)) for axis in (2, 3) if x.shape[axis] > 1])
            scale = scores.detach().abs().clamp(min=1.0)
            loss = SMOOTHNESS * rough.sum() - (scores / scale).sum()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            with torch.no_grad():
                x.clamp_(0.0, 1.0)
            report(step + 1, steps, "steps")
        with torch.no_grad():
            image = low + x * (high - low)
            return image.numpy(), self._scores(image).numpy()
