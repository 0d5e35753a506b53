"""Targets with more than one response a sample, and their losses as a person would write them with torch: the mean of
each sample over what counts, then over samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from netwright.engine.core.types import TensorType, features, image, sequence
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.dataset_info import IGNORED, TargetInfo

ABC = ("a", "b", "c")


@dataclass(frozen=True)
class Ending:
    """What stands in the place of one response a sample: options, target, the shape of the output, and the loss."""

    options: dict[str, Any]
    wanted: Wanted
    shape: tuple[int, ...]
    targets: Callable[[torch.Generator, int], torch.Tensor]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _wanted(task: str, type: TensorType, classes: tuple[str, ...] = (), output: TensorType | None = None) -> Wanted:
    facts = TargetInfo("y", type, task, classes)  # type: ignore[arg-type]  # a word from the table
    return Wanted("y", facts, output or type)


def _classes(*shape: int) -> Callable[[torch.Generator, int], torch.Tensor]:
    """Class numbers, a part of which does not count; in the small type in which maps are kept."""

    def draw(drawn: torch.Generator, count: int) -> torch.Tensor:
        numbers = torch.randint(0, 3, (count, *shape), generator=drawn)
        hidden = torch.rand(count, *shape, generator=drawn) < 0.3
        hidden[:, 0] = False
        return numbers.masked_fill(hidden, IGNORED).to(torch.int8)

    return draw


def _numbers(drawn: torch.Generator, count: int) -> torch.Tensor:
    """Two numbers at each of four steps; sequences have one to four of them."""
    values = torch.randn(count, 4, 2, generator=drawn)
    lengths = torch.randint(1, 5, (count, 1, 1), generator=drawn)
    return values.masked_fill(torch.arange(4).view(1, 4, 1) >= lengths, torch.nan)


def _transcripts(drawn: torch.Generator, count: int) -> torch.Tensor:
    numbers = torch.randint(0, 2, (count, 2), generator=drawn)
    numbers[::3, 1] = IGNORED
    return numbers


def _labels(drawn: torch.Generator, count: int) -> torch.Tensor:
    return torch.randint(0, 2, (count, 3), generator=drawn).float()


def _two(drawn: torch.Generator, count: int) -> torch.Tensor:
    return torch.randint(0, 2, (count,), generator=drawn)


def each(
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The mean over samples of the loss of each."""
    return lambda output, target: torch.stack([loss(o, t) for o, t in zip(output, target, strict=True)]).mean()


def pixels(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output[None], target[None].long(), ignore_index=IGNORED)


def dice(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    p, seen = torch.softmax(output, 0), target != IGNORED
    found = []
    for number in range(3):
        there, given = (target == number)[seen].float(), p[number][seen]
        found.append((2 * (there * given).sum() + 1e-6) / (there.square().sum() + given.square().sum() + 1e-6))
    return 1 - torch.stack(found).mean()


def generalized(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    p, seen = torch.softmax(output, 0), target != IGNORED
    sizes = [float((target == number).sum()) for number in range(3)]
    largest = max(1 / size**2 for size in sizes if size)
    over, under = torch.tensor(1e-6), torch.tensor(1e-6)
    for number, size in enumerate(sizes):
        there, given = (target == number)[seen].float(), p[number][seen]
        weight = 1 / size**2 if size else largest
        over = over + 2 * weight * (there * given).sum()
        under = under + weight * (there + given.square()).sum()
    return 1 - over / under


def steps_of_numbers(loss: Callable[..., torch.Tensor], factor: float = 1.0) -> Callable[..., torch.Tensor]:
    def of_one(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        seen = ~target.isnan()
        return factor * loss(output[seen], target[seen])

    return each(of_one)


def transcript(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """torch wants steps first; the blank is the last of three."""
    length = int((target != IGNORED).sum())
    log_p = functional.log_softmax(output, 1)[:, None]
    lengths = torch.tensor([len(output)]), torch.tensor([length])
    return functional.ctc_loss(log_p, target[None, :length], *lengths, blank=2, reduction="sum")


MAP, STEPS = image(3, 2, 2), sequence(4, 3)
ENDINGS = {
    "class maps": Ending({}, _wanted("classes", MAP, ABC), (3, 2, 2), _classes(2, 2), each(pixels)),
    "a class a step": Ending(
        {"loss": "index-cross-entropy"},
        _wanted("classes", STEPS, ABC),
        (4, 3),
        _classes(4),
        each(lambda output, target: pixels(output.T, target)),
    ),
    "dice": Ending({"loss": "dice"}, _wanted("classes", MAP, ABC), (3, 2, 2), _classes(2, 2), each(dice)),
    "generalized dice": Ending(
        {"loss": "generalized-dice"}, _wanted("classes", MAP, ABC), (3, 2, 2), _classes(2, 2), each(generalized)
    ),
    "dice and cross-entropy": Ending(
        {"loss": "dice-cross-entropy"},
        _wanted("classes", MAP, ABC),
        (3, 2, 2),
        _classes(2, 2),
        each(lambda output, target: dice(output, target) + pixels(output, target)),
    ),
    "labels": Ending(
        {"class_weighting": "given", "class_weights": (1, 3, 0.5)},
        _wanted("labels", features(3), ABC),
        (3,),
        _labels,
        lambda output, target: functional.binary_cross_entropy_with_logits(
            output, target, pos_weight=torch.tensor([1, 3, 0.5])
        ),
    ),
    "two classes by one output": Ending(
        {"loss": "binary-cross-entropy"},
        _wanted("classes", features(2), ABC[:2], features(1)),
        (1,),
        _two,
        lambda output, target: functional.binary_cross_entropy_with_logits(output[:, 0], target.float()),
    ),
    "ctc": Ending(
        {"ctc_blank": "last"}, _wanted("transcripts", STEPS, ABC[:2]), (4, 3), _transcripts, each(transcript)
    ),
    "half-mse of steps": Ending(
        {},
        _wanted("numbers", sequence(4, 2)),
        (4, 2),
        _numbers,
        steps_of_numbers(functional.mse_loss, 1.0),  # half of two responses' sum is their mean
    ),
    "mae of steps": Ending(
        {"loss": "mae"}, _wanted("numbers", sequence(4, 2)), (4, 2), _numbers, steps_of_numbers(functional.l1_loss)
    ),
    "huber of steps": Ending(
        {"loss": "huber"}, _wanted("numbers", sequence(4, 2)), (4, 2), _numbers, steps_of_numbers(functional.huber_loss)
    ),
}
