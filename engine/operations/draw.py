"""`draw PROJECT -o FILE`: the network as a picture, without a screen."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypedDict

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import not_written, refuse_destination, write_atomically
from netwright.engine.core.part_registry import imported
from netwright.engine.drawing.colours import SCHEMES
from netwright.engine.drawing.picture import Picture, draw, placed
from netwright.engine.drawing.svg import svg
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import carried
from netwright.engine.network.blocks import analysis_in, network_in, path_of
from netwright.engine.network.layout import Layout
from netwright.engine.operations.operation import Argument, Operation, ProjectFile, Request
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.runs.folder import origin

FORMATS = (".svg", ".png")
SCALES = (0.1, 8.0)


@dataclass(frozen=True, kw_only=True)
class DrawRequest(Request):
    """Draw the network as it stands on the canvas. The suffix of the file decides the format: .svg or .png."""

    project: ProjectFile
    output: Annotated[Path, Argument("where to write it", metavar="FILE", flags=("-o", "--output"), writes=True)]
    theme: Annotated[str, Argument("colours (default: light)", choices=tuple(SCHEMES))] = "light"
    block: Annotated[
        str, Argument("draw the inside of this block; a block in another one is named stage/block", metavar="PATH")
    ] = ""
    arrange: Annotated[bool, Argument("compute a new layout first")] = False
    scale: Annotated[float, Argument("pixels per unit, of PNG only (default: 2)", metavar="X")] = 2.0

    @property
    def kind(self) -> str:
        """The suffix of the file."""
        return self.output.suffix.lower()

    def check(self) -> None:
        """Refuse files of other formats, and sizes out of bounds."""
        if self.kind == ".pdf":
            raise UserError(
                f"{self.output}: PDF is not written here.",
                hint="Use SVG, or save a PDF from the window: File > Save picture.",
            )
        if self.kind not in FORMATS:
            received = f"'{self.output.suffix}'" if self.output.suffix else "no ending"
            raise UserError(f"{self.output}: a picture ends in {' or '.join(FORMATS)}, received {received}.")
        if not SCALES[0] <= self.scale <= SCALES[1]:
            raise UserError(f"--scale: expected a number from {SCALES[0]:g} to {SCALES[1]:g}.")
        refuse_destination(self.output)


class DrawnPicture(TypedDict):
    """A picture of a network."""

    path: str
    width: int
    """In pixels; in units of the canvas for SVG."""
    height: int
    bytes: int


def draw_project(request: DrawRequest) -> DrawnPicture:
    """Draw the network of a project. Raises `UserError`."""
    picture = _picture(request)
    if request.kind == ".svg":
        scale, content = 1.0, svg(picture, request.project.stem).encode()
    else:
        scale, content = request.scale, imported("netwright.engine.launch.network_png:png")(picture, request.scale)
    width, height = (math.ceil(side * scale) for side in picture.area[2:])
    try:
        write_atomically(request.output, content)
    except OSError as error:
        raise not_written(request.output, error) from None
    return {"path": str(request.output.absolute()), "width": width, "height": height, "bytes": len(content)}


def _picture(request: DrawRequest) -> Picture:
    project, _ = read_project(request.project, ())
    source = origin(request.project)
    look_at_code(project, source.code_base, source.code, trusted=False)
    path = path_of(project.network, request.block)
    network, inner = network_in(project.network, path), project.layout.within(path)
    if not network.layers:
        subject = f"the block '{request.block}'" if path else "the network"
        raise UserError(f"{request.project}: {subject} has no layers, so there is nothing to draw.")
    layout = placed(network, inner)
    if request.arrange:
        layout = placed(network, Layout(flow=inner.flow))
        frames, comments = carried(inner, layout.positions)
        layout = replace(layout, frames=frames, comments=comments)
    return draw(network, layout, analysis_in(analyse(project.network), path), request.theme)


def text(request: DrawRequest, result: DrawnPicture) -> Iterator[str]:
    """Yield how large the picture is."""
    yield f"wrote {request.output}: {result['width']:,} × {result['height']:,}"


OPERATION = Operation(name="draw", effect="writes", function=draw_project, text=text, faces=("command",))
