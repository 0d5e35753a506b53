"""What the window reads that a stranger may have made: blocks, the clipboard, the events of a run, thumbnails."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QApplication

from netwright.app.block_library import BlockLibrary
from netwright.app.plots.curve_export import write_csv
from netwright.app.runs.monitor import Monitor
from netwright.app.runs.run_follower import Outcome, RunFollower
from netwright.app.start_page.thumbnail_program import make_thumbnail
from netwright.designer import clipboard
from netwright.engine.network import blocks
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Comment, Layout
from netwright.engine.runs.folder import RunFolder
from tests.builders import classifier
from tests.fuzz import mutate
from tests.fuzz.fuzzed_readers import projects, reader, run_of

APP = QApplication.instance() or QApplication([])


def _block() -> tuple[str, Block, Layout]:
    network = classifier()
    ids = {network.layer("fc_1").id, network.layer("relu_1").id}
    network, layout, id = blocks.group(network, arrange(network), ids)
    block = network.layers[id].type
    assert isinstance(block, Block)
    inside = layout.within([id])
    return "Mine", block, Layout(inside.positions, comments=(Comment("c", (0, 0), (100, 60), "A word"),))


@reader("block", "blocks/a.json", mutate.json_file, lambda folder: [_library(folder)])
def read_block(folder: Path, generator: random.Random) -> None:
    clipboard.read_block.cache_clear()
    library = BlockLibrary(folder / "blocks")
    library.refresh()
    for entry in library.entries:
        piece = library.piece(entry.name)
        assert isinstance(piece.type, Block)
        clipboard.write_block("other", piece.type, piece.inside or Layout())


def _library(folder: Path) -> bytes:
    (folder / "blocks").mkdir()
    return clipboard.write_block(*_block())


@reader("clipboard", "text.json", mutate.json_file, lambda folder: [_copied()])
def read_clipboard(folder: Path, generator: random.Random) -> None:
    text = (folder / "text.json").read_text(encoding="utf-8", errors="replace")
    clipboard.as_text(*clipboard.parse(text))


def _copied() -> bytes:
    network = classifier()
    return clipboard.as_text(network, arrange(network)).encode()


@reader("thumbnail", "a.netwright", mutate.json_file, projects)
def read_thumbnail(folder: Path, generator: random.Random) -> None:
    found = make_thumbnail(folder / "a.netwright")
    assert found == make_thumbnail(folder / "a.netwright")


@reader(
    "events in the window",
    "runs/run/events.jsonl",
    mutate.json_lines,
    lambda folder: [run_of(folder).events.read_bytes()],
)
def read_events(folder: Path, generator: random.Random) -> None:
    """All that the Train tab draws, and what its curves are exported as."""
    run = RunFolder(folder / "runs" / "run")
    with _monitor() as monitor:
        monitor.show_run(run)
        supervisor = RunFollower(run)
        supervisor.received.connect(monitor.take)
        supervisor.poll()
        monitor.show_outcome(supervisor.outcome or Outcome("lost", ""))
        monitor.board.set_smoothing(generator.random())
        monitor.grab()
        for _ in write_csv(folder / "curves.csv", monitor.board.plot_data, monitor.board.x_axis.timeline):
            pass


@contextmanager
def _monitor() -> Iterator[Monitor]:
    monitor = Monitor()
    monitor.resize(900, 600)
    try:
        yield monitor
    finally:
        monitor.shutdown()
        monitor.deleteLater()
        APP.processEvents()
