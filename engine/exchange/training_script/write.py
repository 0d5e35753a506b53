"""Make the training script of a project or run, with the files that it reads, to lie beside its exported network."""

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import not_written, refuse_destination, refuse_overwriting, write_atomically
from netwright.engine.data.loading.load import load
from netwright.engine.exchange.training_script.data_section import data_section
from netwright.engine.exchange.training_script.recipe import recipe_of
from netwright.engine.exchange.training_script.script import script
from netwright.engine.network.analysis import analyse
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import with_freezing
from netwright.engine.project.weights import weights_path
from netwright.engine.runs.info import RunInfo
from netwright.engine.training.job import TrainingJob


@dataclass(frozen=True)
class TrainingScript:
    """A script and the files that it reads, by path, the script first; and what a reader of the result should know."""

    contents: Mapping[Path, bytes]
    notes: tuple[str, ...]

    def write(self) -> None:
        """Write all files. Raises `UserError`."""
        for path, content in self.contents.items():
            try:
                write_atomically(path, content)
            except OSError as error:
                raise not_written(path, error) from None


def training_job(project: Project, base: Path) -> TrainingJob:
    """Return the job of a run of this project on one process of the CPU. Raises `UserError` for a project whose data
    cannot be read."""
    if project.data.source_type is None:
        raise UserError(
            "A training script reads the data of the project, which has none.",
            hint="Choose data, or export without the training script.",
        )
    options = project.data
    if options.is_visible("readers"):
        options = options.replace(readers="threads")  # so that single files can be asked for
    data = load(options, base, is_streamed=True)
    start = project.weights
    start_values = {"file": str(weights_path(start, base).absolute()), "sha256": start.sha256} if start.file else {}
    info = RunInfo(base=str(base), weights=start_values)
    project = with_freezing(project)
    return TrainingJob(project, analyse(project.network), torch.device("cpu"), data, info=info)


def training_script(
    project: Project, base: Path, network_file: Path, *, title: str, replaces: bool = False
) -> TrainingScript:
    """Return the script `train_NAME.py` to write beside the exported `NAME.py`, with the weights that the run starts
    from and what the script needs of the data.

    `base` is the folder of the project's data. Raises `UserError` for options and data that a script cannot carry over,
    and where a file would be overwritten, unless `replaces`.
    """
    stem = network_file.stem
    if not stem.isidentifier() or keyword.iskeyword(stem):
        raise UserError(
            f"The training script imports the network from '{network_file.name}', which is no name of a module.",
            hint="Use letters, digits and underscores, such as digits_net.py.",
        )
    job = training_job(project, base)
    recipe = recipe_of(job)
    section = data_section(job, recipe, base, stem)
    state = {name: value.to("cpu", copy=True).contiguous() for name, value in recipe.state.items()}
    contents = {
        network_file.with_name(f"train_{stem}.py"): script(recipe, section, stem, title=title).encode(),
        network_file.with_name(f"{stem}.initial.safetensors"): save(state),
        network_file.with_name(f"{stem}{section.ending}"): section.content,
    }
    for path in contents:
        refuse_destination(path)
    if not replaces:
        refuse_overwriting([path for path in contents if path.exists()])
    own, *beside = (path.name for path in contents)
    sentence = f"The training script is {own}; it reads {' and '.join(beside)}, so keep them together."
    return TrainingScript(contents, (sentence, *filter(None, (section.note,)), *recipe.notes))
