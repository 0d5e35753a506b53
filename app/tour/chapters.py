"""The chapters of the tour, in their order, without the steps of parts that are not installed."""

from dataclasses import replace

from netwright.app.frame.actions import SHOWN
from netwright.app.tour.network_chapters import DATA, NETWORK, OPTIONS
from netwright.app.tour.run_chapters import EXPORT, RESULTS, TRAINING
from netwright.app.tour.steps import Chapter


def _installed(chapter: Chapter) -> Chapter:
    steps = tuple(step for step in chapter.steps if not step.needs or step.needs in SHOWN)
    return replace(chapter, steps=steps)


_ALL = map(_installed, (NETWORK, DATA, OPTIONS, TRAINING, RESULTS, EXPORT))
CHAPTERS = tuple(chapter for chapter in _ALL if chapter.steps)
