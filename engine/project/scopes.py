"""A project as it looks from inside a block: the network and the layout are those there, all else is the project's."""

from collections.abc import Iterator
from dataclasses import replace

from engine.layers.block import Block
from engine.network import blocks
from engine.network.blocks import Path, names_of, network_in
from engine.network.network import Network
from engine.network.problems import Fix, Problem
from engine.project.project import Project


def project_in(project: Project, path: Path) -> Project:
    """The project with the network and the layout inside a block. Raises `UserError` if there is no such block."""
    if not path:
        return project
    return replace(project, network=network_in(project.network, path), layout=project.layout.within(path))


def with_project_in(project: Project, path: Path, inner: Project) -> Project:
    """The project after what is inside a block, or any option, was changed. Raises `UserError`."""
    if not path:
        return inner
    network = blocks.with_network_in(project.network, path, inner.network)
    return replace(inner, network=network, layout=project.layout.with_inside(path, inner.layout))


def block_paths(network: Network, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every block, outer ones first."""
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block):
            yield (*path, id)
            yield from block_paths(layer.type.network, (*path, id))


def lifted(project: Project, path: Path, problem: Problem) -> Problem:
    """A problem that was found inside a block, as the whole project tells it; its fix works from there too."""
    for id, name in zip(reversed(path), reversed(names_of(project.network, path)), strict=True):
        problem = problem.lifted(id, name)
    fix = problem.fix
    if fix is None or not path:
        return problem

    def edit(whole: Project) -> Project:
        return with_project_in(whole, path, fix.edit(project_in(whole, path)))

    return replace(problem, fix=Fix(fix.label, edit))


def lowered(problem: Problem, path: Path) -> Problem | None:
    """A problem of the whole project as it is told inside a block, or None where it is not about what is there.

    What is deeper inside is told at the block it is in.
    """
    depth = len(path)
    if not problem.layer:
        return problem if not path else None
    if problem.path[:depth] != tuple(path):
        return None
    ids, names = problem.path[depth:], problem.name.split("/")[depth:]
    if not ids:
        return replace(problem, layer="", name="")
    message = problem.message if len(ids) == 1 else f"Inside, {'/'.join(names[1:])}: {problem.message}"
    return replace(problem, layer=ids[0], name=names[0], message=message, field=problem.field if len(ids) == 1 else "")
