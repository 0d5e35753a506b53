"""Checks of augmentation and mixing against the data. Standard library only."""

from collections.abc import Iterator

from netwright.engine.network.analysis import Analysis
from netwright.engine.network.problems import Problem
from netwright.engine.project import check_fixes
from netwright.engine.project.bindings import match_targets, wanted_of
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.options.augmentation_options import COLOURS, MIXES, MOVES, OF_IMAGES, OF_SEQUENCES
from netwright.engine.project.project import Project


def augmentation_problems(project: Project, facts: DatasetInfo, analysis: Analysis | None = None) -> Iterator[Problem]:
    """Return the errors of augmentation: data without images or sequences, colour changes of images without colours, a
    border or fill that does not fit them, pixel targets that would not follow their pixels, targets that cannot be
    mixed. Checks that depend on the outputs of the network use its analysis."""
    options = project.training
    types = " and ".join(str(info.type) for info in facts.inputs)
    timed = [name for name in options.augments if name in OF_SEQUENCES]
    if timed and not any(info.is_series for info in facts.inputs):
        message = f"These changes are made to sequences of numbers; the data has {types}. Reset the options."
        yield _problem(project, timed[0], message, *timed)
    elif project.data.source == "series" and "rand_time_shift" in timed:
        message = "A shift would move the past of a window away from the steps to predict. Set it to 0."
        yield _problem(project, "rand_time_shift", message, "rand_time_shift")
    changes = [name for name in options.augments if name in OF_IMAGES]
    if not changes:
        return
    images = [info.type for info in facts.inputs if info.type.layout == "image"]
    if not images:
        message = f"Random changes are made of images; the data gives {types}. Leave the images' options as they were."
        yield _problem(project, changes[0], message, *changes)
        return
    channels = {type.channels for type in images}
    if 3 not in channels:
        for name in COLOURS:
            if name in changes:
                message = f"Grey has no {name.removeprefix('jitter_')}: it takes images of 3 channels, the data has "
                yield _problem(project, name, f"{message}{min(channels)}. Set it to 0.", name)
    fill = options.fill_value
    if options.is_visible("fill_value") and len(fill) > 1 and channels != {len(fill)}:
        message = f"Expected one number or one per channel ({min(channels)}), received {len(fill)}."
        yield _problem(project, "fill_value", message, "fill_value")
    sizes = sorted(
        {
            size
            for type in images
            for axis, size in zip(type.axes, type.sizes, strict=True)
            if axis != "C" and isinstance(size, int)
        }
    )
    if sizes and options.rand_crop_padding >= sizes[0]:
        message = f"The border must be narrower than the images, which have {sizes[0]:,} pixels; received "
        yield _problem(project, "rand_crop_padding", f"{message}{options.rand_crop_padding:,}.", "rand_crop_padding")
    moves = [name for name in changes if name in MOVES]
    for target in facts.targets if moves else ():
        shapes = {(type["H"], type["W"]) for type in images}
        if target.per == "pixel" and shapes != {(target.type["H"], target.type["W"])}:
            message = (
                f"The pixels of '{target.name}' ({target.type.short()}) cannot be moved with those of the images "
                f"({images[0].short()}): their sizes differ. Use changes of colours only."
            )
            yield _problem(project, moves[0], message, *moves)
    if options.mixes and (message := _unmixable(project, facts, analysis)):
        mixes = [name for name in changes if name in MIXES]
        yield _problem(project, mixes[0], message, *mixes)


def _unmixable(project: Project, facts: DatasetInfo, analysis: Analysis | None) -> str:
    """Return the reason why samples cannot be mixed, or an empty text."""
    other = next((info for info in facts.inputs if info.type.layout != "image"), None)
    if other is not None:
        beside = f"'{other.name}', {other.type}"
        return f"Images are mixed with others, but not what stands beside them: {beside}. Set it to 0."
    if len(facts.targets) > 1 or not facts.targets[0].is_one_class:
        targets = " and ".join(target.spoken() for target in facts.targets)
        return f"Mixed images take shares of their classes, one class per sample; the data has {targets}. Set it to 0."
    ports = match_targets(project.network, facts) if analysis is not None else ()
    if analysis is not None and ports and all(port.layer in analysis.shapes for port in ports):
        outputs = wanted_of(project.network, analysis, facts, is_padded=False)
        if outputs[0].type.has("C") and outputs[0].is_binary:
            return "Shares of two classes take two outputs; the network has one for both. Give it two, or set it to 0."
    return ""


def _problem(project: Project, field: str, message: str, *reset: str) -> Problem:
    """Return an error of an option, with the edit that resets these options to their defaults."""
    fields = type(project.training).fields
    values = {name: fields[name].default for name in reset}
    label = "Set it back" if len(reset) == 1 else "Set them back"
    return Problem("error", "", "", f"training.{field}", message, check_fixes.option(label, **values))
