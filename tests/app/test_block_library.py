import os
from pathlib import Path

import pytest

from netwright.app.block_library import BlockLibrary, library_folder
from netwright.designer import clipboard
from netwright.engine.core.errors import UserError
from netwright.engine.network import blocks
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Comment, Layout
from tests.builders import classifier


def made() -> tuple[Block, Layout]:
    """fc_1 and relu_1 as a block, with a comment inside."""
    network = classifier()
    ids = {network.layer("fc_1").id, network.layer("relu_1").id}
    network, layout, id = blocks.group(network, arrange(network), ids)
    block = network.layers[id].type
    assert isinstance(block, Block)
    inside = layout.within([id])
    return block, Layout(inside.positions, comments=(Comment("c", (0, 0), (100, 60), "Mine"),))


@pytest.fixture
def library(qtbot, tmp_path: Path) -> BlockLibrary:
    return BlockLibrary(tmp_path / "blocks")


def names(library: BlockLibrary) -> list[str]:
    return [entry.name for entry in library.entries]


def test_a_saved_block_comes_back_with_what_it_looks_like_inside(library: BlockLibrary) -> None:
    block, inside = made()
    library.refresh()
    assert not library.entries
    library.save("Residual", block, inside)
    (entry,) = library.entries
    assert entry.name == "Residual"
    assert entry.tooltip.startswith("4 layers")
    assert (library.folder / "Residual.json").stat().st_mode & 0o777 == 0o666 & ~_umask()
    piece = clipboard.read_block(entry.payload)
    assert (piece.type, piece.name, piece.inside) == (block, "Residual", inside)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def test_another_window_shows_what_was_saved_elsewhere(qtbot, library: BlockLibrary) -> None:
    block, inside = made()
    library.save("one", block, inside)
    other = BlockLibrary(library.folder)
    other.refresh()
    with qtbot.waitSignal(other.changed):
        library.save("Two", block, inside)
    assert names(other) == ["one", "Two"]
    with qtbot.waitSignal(other.changed):
        library.remove("one")
    assert names(other) == ["Two"]


def test_the_first_block_of_all_is_seen_elsewhere_too(qtbot, library: BlockLibrary) -> None:
    other = BlockLibrary(library.folder)
    other.start()
    assert not other.entries
    with qtbot.waitSignal(other.changed):
        library.save("one", *made())
    assert names(other) == ["one"]


def test_broken_files_are_skipped_and_named_once(qtbot, library: BlockLibrary) -> None:
    block, inside = made()
    library.save("good", block, inside)
    (library.folder / "bad.json").write_text("{")
    (library.folder / "binary.json").write_bytes(b"\xff\xfe")
    (library.folder / "notes.txt").write_text("not mine")
    told: list[str] = []
    library.broken.connect(told.append)
    library.refresh()
    library.refresh()
    assert names(library) == ["good"]
    assert [text.partition(" ")[0] for text in told] == ["bad.json", "binary.json"]


def test_names_are_checked_and_case_is_no_difference(library: BlockLibrary) -> None:
    block, inside = made()
    with pytest.raises(UserError):
        library.save("../x", block, inside)
    assert not library.folder.exists()
    library.save("Mine", block, inside)
    library.save("mine", block.replace(repeat=2), inside)
    assert names(library) == ["mine"]
    assert len(list(library.folder.iterdir())) == 1


def test_renaming_keeps_the_block_and_never_replaces_another(library: BlockLibrary) -> None:
    block, inside = made()
    library.save("a", block, inside)
    library.save("b", block, inside)
    with pytest.raises(UserError, match="'b' already"):
        library.rename("a", "b")
    library.rename("a", "A")
    assert names(library) == ["A", "b"]
    library.rename("A", "c")
    assert names(library) == ["b", "c"]
    assert library.piece("c").type == block
    with pytest.raises(UserError, match="no block 'a'"):
        library.rename("a", "d")


def test_a_folder_that_cannot_be_written_is_told(qtbot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    library = BlockLibrary(tmp_path / "file" / "blocks")
    library.refresh()
    with pytest.raises(UserError, match="cannot be written"):
        library.save("x", *made())


def test_it_lies_in_the_users_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert library_folder() == tmp_path / "netwright" / "blocks"
