"""The files of a model: the folder of a run, a project with weights, or a network that another program wrote."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.part_registry import required
from netwright.engine.project.import_kinds import KINDS, WITHOUT_GRAPH, can_import, kind_of
from netwright.engine.project.preparation import PIXELS
from netwright.engine.runs.checkpoint_files import place
from netwright.engine.runs.folder import RunFolder, open_run, origin
from netwright.engine.runs.model_registry import located

MANIFEST, RUN = "manifest.json", "run.json"
NO_MODEL_HINT = "`netwright-engine runs` lists the runs of a folder."


@dataclass(frozen=True)
class Assumptions:
    """The user's facts about a network from elsewhere. `pixels`: the range of its pixels, by default 0 to 1 (0 to 255
    where it takes whole numbers); `classes`: names of its classes, in order."""

    pixels: str = ""
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.pixels not in ("", *PIXELS):
            raise UserError(f"There are no pixels {quoted(self.pixels)}. Expected one of {', '.join(PIXELS)}.")


@dataclass(frozen=True)
class ModelChoice:
    """A model as a user names it; a registered one by its file. weights: `best` or `last` of a run; empty: its result.
    trusted: whether its user code may run this time. device: a word of `DEVICE_WORDS`. assumptions: what the user says
    of a network from elsewhere. base: folder of a project's files, if not beside it. iteration: that of a checkpoint
    of a run, in place of its result."""

    path: Path
    weights: str = ""
    trusted: bool = False
    device: str = "cpu"
    assumptions: Assumptions = Assumptions()
    base: Path | None = None
    iteration: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", located(self.path))

    @property
    def stamps(self) -> tuple[tuple[str, int, int, int], ...]:
        """Times and sizes of the files that change with the model."""
        stamps = []
        names = (path / MANIFEST for path in (self.path / "best", self.path / "last"))
        for file in (self.path, *names, self.path / RUN, place(RunFolder(self.path), self.iteration)):
            with contextlib.suppress(OSError):
                status = file.stat()
                stamps.append((str(file), status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(stamps)


@dataclass(frozen=True)
class ModelFiles:
    """A model as it was named, and where its project lies."""

    path: Path
    project: Path
    run: RunFolder | None = None
    is_imported: bool = False
    """Whether the project was made of a file of another program."""
    warnings: tuple[str, ...] = ()
    """What the import says of the file, a sentence each."""

    @property
    def base(self) -> Path:
        """Folder that the files of the project are relative to."""
        return origin(self.project).base


def expected() -> str:
    """Return the kinds of models, in words."""
    suffixes = ", ".join(suffix for kind in KINDS for suffix in kind.suffixes)
    ours = f"the folder of a run, a project with weights (*{SUFFIX}), a registered model (NAME@production, NAME@3)"
    return f"{ours}, or a network from elsewhere ({suffixes})"


def model_files(path: Path) -> ModelFiles:
    """Return the files of a model. One of another program is imported into the user's cache folder, once. Raises
    `UserError` for what is no model."""
    path = located(path)
    if path.is_dir():
        run = open_run(path)
        return ModelFiles(path, run.project, run)
    if path.suffix == SUFFIX:
        return ModelFiles(path, path)
    if not path.exists():
        raise UserError(f"{path} does not exist. Expected {expected()}.", hint=NO_MODEL_HINT, code="not_found")
    if can_import(path):
        project, warnings = required("functions", "imported_model")(path)
        return ModelFiles(path, project, is_imported=True, warnings=warnings)
    if path.suffix.lower() in WITHOUT_GRAPH:
        kind_of(path)  # which refuses it
    if not _is_object(path):
        raise UserError(f"{path} is no model. Expected {expected()}.", hint=NO_MODEL_HINT)
    return ModelFiles(path, path)


def _is_object(path: Path) -> bool:
    """Return whether a file begins as a JSON object, as a project of any name does. Raises `UserError`."""
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip()[:1] == b"{"
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
