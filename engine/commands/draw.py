"""`draw PROJECT -o FILE`: the network as a picture, without a screen."""

import argparse
import math
from dataclasses import replace
from pathlib import Path

from engine.commands.common import Commands, look_at_code, print_json, read_project
from engine.drawing.colours import SCHEMES
from engine.errors import EXIT_DONE, UserError
from engine.exchange.destination import not_written, refuse_destination
from engine.files import write_atomically
from engine.network.blocks import analysis_in, network_in, path_of
from engine.network.carrying import carried
from engine.network.layout import Layout
from engine.runs.origin import origin

FORMATS = (".svg", ".pdf", ".png")
SCALES = (0.1, 8.0)


def register(commands: Commands) -> None:
    """Add the command."""
    text = "Draw the network as it stands on the canvas. The ending of the file decides: .svg, .pdf or .png."
    command = commands.add_parser("draw", help="the network as SVG, PDF or PNG", description=text)
    command.add_argument("project", type=Path, metavar="PROJECT", help="a project file (*.netwright)")
    command.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it")
    command.add_argument("--theme", choices=tuple(SCHEMES), default="light", help="colours (light)")
    inside = "draw what is inside a block, by its name; of one in another block stage/block"
    command.add_argument("--block", default="", metavar="PATH", help=inside)
    command.add_argument("--arrange", action="store_true", help="lay the network out anew")
    command.add_argument("--scale", type=float, default=2.0, metavar="X", help="pixels a unit, of PNG only (2)")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw, and say how large the picture is."""
    to: Path = arguments.output
    kind = to.suffix.lower()
    if kind not in FORMATS:
        received = f"'{to.suffix}'" if to.suffix else "no ending"
        raise UserError(f"{to}: a picture ends in {', '.join(FORMATS)}, received {received}.")
    if not SCALES[0] <= arguments.scale <= SCALES[1]:
        raise UserError(f"--scale: expected a number from {SCALES[0]:g} to {SCALES[1]:g}.")
    refuse_destination(to)
    width, height, content = _drawn(arguments, kind)
    try:
        write_atomically(to, content)
    except OSError as error:
        raise not_written(to, error) from None
    if arguments.json:
        print_json({"path": str(to), "width": width, "height": height, "bytes": len(content)})
    else:
        print(f"wrote {to}: {width:,} × {height:,}")
    return EXIT_DONE


def _drawn(arguments: argparse.Namespace, kind: str) -> tuple[int, int, bytes]:
    from engine.drawing.picture import draw, placed
    from engine.network.analysis import analyse

    project, _ = read_project(arguments.project, ())
    known = origin(arguments.project)
    look_at_code(project, known.code_base, known.code, trusted=False)
    path = path_of(project.network, arguments.block)
    network, inner = network_in(project.network, path), project.layout.within(path)
    if not network.layers:
        what = f"the block '{arguments.block}'" if path else "the network"
        raise UserError(f"{arguments.project}: {what} has no layers, so there is nothing to draw.")
    layout = placed(network, inner)
    if arguments.arrange:
        layout = placed(network, Layout(flow=inner.flow))
        frames, comments = carried(inner, layout.positions)
        layout = replace(layout, frames=frames, comments=comments)
    picture = draw(network, layout, analysis_in(analyse(project.network), path), arguments.theme)
    width, height = (math.ceil(side) for side in picture.area[2:])
    title = arguments.project.stem
    if kind == ".svg":
        from engine.drawing.svg import svg

        return width, height, svg(picture, title).encode()
    if kind == ".pdf":
        from engine.drawing.pdf import pdf

        return width, height, pdf(picture, title)
    from engine.drawing.png import png

    width, height = (math.ceil(side * arguments.scale) for side in picture.area[2:])
    return width, height, png(picture, arguments.scale)
