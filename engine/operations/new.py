"""`new NAME [DIR]` and `templates`: start from a copy of an example or a template."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.files import path_from
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.part_registry import imported
from netwright.engine.core.platform import command_line
from netwright.engine.operations.operation import Argument, DataSettings, Line, Operation, Request, Result, Table
from netwright.engine.operations.projects import data_place, divided_for_starter, facts_of, with_settings
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import keep_for
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.relevance import idle_settings
from netwright.engine.project.sources.guess import with_guessed_source
from netwright.engine.project.sources.urls import is_remote, without_secrets
from netwright.engine.project.starter import starter
from netwright.engine.runs.create import SHIPPED

KINDS: tuple[Literal["example", "template"], ...] = ("example", "template")


class Template(TypedDict):
    """An example or template."""

    name: str
    kind: Literal["example", "template"]
    title: str
    description: str


class Templates(TypedDict):
    """All examples and templates."""

    templates: list[Template]


def shipped() -> list[Template]:
    """Return each shipped project that is installed, in the order of the index."""
    index: Any = json.loads((SHIPPED / "templates" / "index.json").read_text(encoding="utf-8"))
    return [
        {"name": row["name"], "kind": kind, "title": row["title"], "description": row["description"]}
        for kind in KINDS
        for row in index[f"{kind}s"]
        if _path(kind, row["name"]).is_file()
    ]


def _path(kind: str, name: str) -> Path:
    return SHIPPED / f"{kind}s" / f"{name}{SUFFIX}"


@dataclass(frozen=True, kw_only=True)
class NewRequest(Request):
    """Copy an example (with its data and training options) or a template (a network alone) into a folder, or make a
    project with a first network for data of your own. Files that exist are never replaced. `netwright-engine templates`
    lists the names."""

    name: Annotated[
        str | None,
        Argument(
            "example or template, such as digits or resnet18; without one, a small network is made for the --data",
            metavar="NAME",
            is_positional=True,
        ),
    ] = None
    folder: Annotated[
        Path,
        Argument(
            "folder for the copy; default: the current one; it is made if it does not exist",
            metavar="DIR",
            is_positional=True,
        ),
    ] = Path()
    data: Annotated[
        str | None,
        Argument(
            "file, folder or URL with data to learn from; the output names its kind",
            "PATH",
            read=data_place,
        ),
    ] = None
    settings: DataSettings = ()
    output: Annotated[
        Path | None,
        Argument(
            "project file to write (default: in DIR, named as the example, the template or the data)",
            metavar="PROJECT",
            flags=("-o", "--output"),
            writes=True,
        ),
    ] = None

    def target(self, name: str) -> Path:
        """The project file to write, for a project of this name. Raises `UserError` where one is there."""
        target = self.output or self.folder / f"{name}{SUFFIX}"
        _refuse_existing(target)
        return target

    def check(self) -> None:
        """Refuse an output that is no project, or in two places."""
        if self.output is not None and self.output.suffix != SUFFIX:
            raise UserError(f"{self.output}: a project ends in {SUFFIX}.", code="usage")
        if self.output is not None and self.folder != Path():
            raise UserError("DIR and --output both say where to write. Give one of them.", code="usage")


@dataclass(frozen=True, kw_only=True)
class New(Result):
    """A copy of an example or template, or a project made for data."""

    unwritten = ("file", "told")

    path: str
    name: str
    kind: Literal["example", "template", "made"]
    data: str | None = None
    """What the data was taken as, and why."""
    notes: tuple[str, ...] | None = None
    """What was decided about the data, and how to decide otherwise."""
    warnings: tuple[str, ...] | None = None
    """What should be done about the data."""
    file: str
    """The path as it was named, with what the network is where one was made."""
    told: tuple[str, ...]


def new(request: NewRequest) -> New:
    """Copy or make a project. Raises `UserError`."""
    if request.name is None:
        return _made(request)
    known = {row["name"]: row for row in shipped()}
    if request.name not in known:
        way = f"-o {request.name}{SUFFIX}"
        raise UserError(
            f"There is no example or template '{request.name}'.",
            code="not_found",
            hint=f"{did_you_mean(request.name, known)} `netwright-engine templates` lists them."
            + (f" To make a network for the data, name the file to write: {way}." if request.data else ""),
        )
    kind = known[request.name]["kind"]
    target, told = _copy(_path(kind, request.name), request)
    path = str(target.absolute())
    return New(path=path, name=request.name, kind=kind, data=" ".join(told) or None, file=str(target), told=tuple(told))


def _made(request: NewRequest) -> New:
    """Make a project with a first network for data. Raises `UserError`."""
    if request.data is None:
        raise UserError(
            "Expected the name of an example or a template, or data to make a network for.",
            hint="`netwright-engine templates` lists the names; --data PATH names the data.",
        )
    name = Path(os.path.abspath(without_secrets(request.data))).stem
    target = request.target(name)
    base = target.parent.absolute()
    project, told = _with_own_data(Project(), request, target.parent)
    project, facts = divided_for_starter(project, facts_of(project, base), base)
    first = starter(facts, project.data) if facts is not None else None
    if facts is None or first is None:
        raise UserError(
            f"No first network is known for {without_secrets(request.data)}: {' '.join(told)}",
            hint="Name a template to begin with: `netwright-engine templates` lists them.",
        )
    _make_folder(target.parent)
    made = first.edit(project)
    save(made, target)
    keep_for(target, made.data)
    is_resized = made.data.image_size != project.data.image_size
    decisions = [note for note in facts.notes if not (is_resized and "data.image_size" in note)]
    notes = [*(f"note: {note}" for note in decisions), *(f"warning: {warning}" for warning in facts.warnings)]
    return New(
        path=str(target.absolute()),
        name=name,
        kind="made",
        data=" ".join(told),
        notes=tuple(decisions),
        warnings=tuple(facts.warnings),
        file=f"{target}: {first.detail[0].lower()}{first.detail[1:]}",
        told=(*told, *notes),
    )


def _with_own_data(project: Project, request: NewRequest, folder: Path) -> tuple[Project, list[str]]:
    """Return the project for a folder with data of the user's own, its source guessed unless a setting names it, and
    sentences on that. Raises `UserError`."""
    text, settings = request.data or "", request.settings
    if is_remote(text):
        of_data = [setting for setting in settings if setting.strip().startswith("data.")]
        options, reason = imported("netwright.engine.data.loading.open_data:options_for")(text, of_data)
        project = with_settings(project.with_section("data", options), settings)
        guessed = f"data.source is {options.source}, guessed from data.path: {reason}." if reason else ""
    else:
        options = DataOptions(path=path_from(Path(text), folder))
        project = with_settings(project.with_section("data", options), settings)
        options, guessed = with_guessed_source(project.data, folder.absolute())
        project = project.with_section("data", options)
    return project, [*filter(None, [guessed]), *(f"note: {words}" for words in idle_settings(project, settings))]


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise UserError(f"{path} exists already, and nothing was changed.", hint="Name another folder.")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"Nothing can be written into {folder}: {error.strerror}.", hint="Name another folder.")


def _copy(source: Path, request: NewRequest) -> tuple[Path, list[str]]:
    """Copy a shipped project and its data, a file or a folder, into a folder; with data of the user's own, set its
    source as guessed. Return the path of the copy, and sentences on the data. Raises `UserError`."""
    project, target = load(source).project, request.target(source.stem)
    folder, copies, told = target.parent, {}, list[str]()
    if request.data is not None:
        project, told = _with_own_data(project, request, folder)
    else:
        project = with_settings(project, request.settings)
    if request.data is None and project.data.path:
        data = (source.parent / project.data.path).resolve()
        copies[data] = folder / data.name
        project = project.with_section("data", project.data.replace(path=data.name))
    for path in copies.values():
        _refuse_existing(path)
    _make_folder(folder)
    try:
        for data, copy in copies.items():
            shutil.copytree(data, copy) if data.is_dir() else shutil.copyfile(data, copy)
    except OSError as error:
        raise _unwritable(folder, error) from None
    save(project, target)
    keep_for(target, project.data)
    return target, told


def new_text(_: NewRequest, result: New) -> Iterator[Line]:
    """Yield what was written, and what to do next."""
    yield f"wrote {result.file}"
    yield from result.told
    path = result.file.partition(": ")[0] if result.kind == "made" else result.file
    yield f"next: netwright-engine {'check' if result.kind == 'template' else 'train'} {command_line(path)}"


NEW = Operation(name="new", function=new, text=new_text, doing="reading", faces=("command",))


@dataclass(frozen=True, kw_only=True)
class TemplatesRequest(Request):
    """List the examples and templates that `netwright-engine new` copies."""


def templates(_: TemplatesRequest) -> Templates:
    """List them."""
    return {"templates": shipped()}


def templates_text(_: TemplatesRequest, result: Templates) -> Iterator[Line]:
    """Yield a row per example and template."""
    rows = [(row["name"], row["kind"], row["title"], row["description"]) for row in result["templates"]]
    yield Table([("name", "kind", "title", "description"), *rows])


TEMPLATES = Operation(name="templates", effect="reads", function=templates, text=templates_text, faces=("command",))
