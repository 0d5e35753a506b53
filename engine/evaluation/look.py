"""Views beside a prediction in a window: the sample as the network gets it, masks as pictures, series as numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.data.apply_preparation import Answers
from netwright.engine.data.preview import MOST_STEPS, shown_series, value_range, write_mask, write_picture
from netwright.engine.data.sources.source import Array, Arrays
from netwright.engine.project.preparation import InputPreparation, Preparation

MOST_PIXELS = 512
WHITE = (0.0, 255.0)


class SampleLook:
    """Adds keys to the answers of the first samples, and writes their pictures to a folder:

    `picture`  of the sample: PNG file of the prepared image, or of the middle slice of a volume
    `series`   of the sample: `{"names", "values"}` of a sequence, a list per channel; of a forecast its newest steps
    `mask`     of an output: grey PNG of class numbers, where each pixel has a class
    `target`   of an output: PNG file, where each pixel has one or three numbers
    """

    def __init__(self, record: Preparation, folder: Path, most: int, season: int = 0) -> None:
        """`most`: number of samples that are shown. `season`: period of series, in steps; 0 where it is not known."""
        self._record, self._folder, self._left, self._season = record, folder, most, season
        self._count = 0
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __call__(self, answers: list[dict[str, Any]], inputs: Arrays, predictions: Sequence[Answers]) -> None:
        """Add what is shown to the answers of a batch. Raises `OSError`."""
        preparation, array = self._record.inputs[0], inputs[0]
        for number, answer in enumerate(answers[: self._left]):
            self._count += 1
            if "H" in preparation.axes:
                file = self._folder / f"sample_{self._count:03d}.png"
                answer["picture"] = str(
                    write_picture(array[number], _span(preparation, array[number]), file, MOST_PIXELS)
                )
            elif preparation.axes == ("T", "C") and preparation.content == "numbers":
                names = list(preparation.column_names)
                steps = array[number][-MOST_STEPS:] if self._record.kind == "series" else array[number]
                answer["series"] = {"names": names, "values": shown_series(steps)}
                if self._season:
                    answer["series"]["season"] = self._season
            for output, each in zip(answer["outputs"], predictions, strict=True):
                output |= self._pictures_of(each, number, output["name"])
        self._left -= min(self._left, len(answers))

    def _pictures_of(self, answers: Answers, number: int, name: str) -> dict[str, str]:
        """Return the pictures of an output that has an answer per pixel or voxel."""
        target, value = answers.target, answers.values[number]
        if "H" not in target.axes or not isinstance(value, np.ndarray):
            return {}
        place = f"{self._record.targets.index(target)}_{self._count:03d}.png"
        if target.task == "classes":
            return {"mask": str(write_mask(value, self._folder / f"mask_{place}", MOST_PIXELS))}
        if target.task == "numbers":
            file = self._folder / f"target_{place}"
            return {"target": str(write_picture(value, value_range(value), file, MOST_PIXELS))}
        return {}


def _span(preparation: InputPreparation, image: Array) -> tuple[float, float]:
    """Return the values that are shown as black and white."""
    if preparation.reads == "image":
        return WHITE
    return (preparation.span[0], preparation.span[1]) if preparation.span else value_range(image)
