"""The pages of the Training Options: which groups of options each has."""

from collections.abc import Collection, Mapping

from netwright.designer.language import noop
from netwright.engine.project.training import COMMON, TrainingOptions

COMMON_PAGE, ENVIRONMENT, DATA_PAGE = noop("Common"), noop("Environment"), noop("Data flow")
AUGMENTATION = TrainingOptions.rand_rotation.group
PAGES: Mapping[str, tuple[str, ...]] = {
    COMMON_PAGE: (),
    ENVIRONMENT: (),
    noop("Optimisation"): ("Solver", "Schedule", "Loss", "Regularisation"),
    DATA_PAGE: ("Batches", AUGMENTATION),
    noop("Validation and stopping"): ("Validation", "Metrics", "Stopping"),
    noop("Saving"): ("Checkpoints", "Monitoring"),
    noop("Advanced"): ("Precision and memory", "Reproducibility", "Distillation", "Custom code"),
}
"""The groups of training options on each page. The first two show options of the training and of the environment that
most runs set, and all of the environment."""


def page_of(group: str) -> str:
    """Return the page of a group; a page is its own."""
    return next((page for page, groups in PAGES.items() if group in groups), group)


def names_on(page: str) -> tuple[Collection[str] | None, Collection[str]]:
    """Return the options of the environment and of the training on a page; None for all."""
    if page == COMMON_PAGE:
        return COMMON, COMMON
    if page == ENVIRONMENT:
        return None, ()
    return (), [name for name, field in TrainingOptions.fields.items() if field.group in PAGES[page]]
