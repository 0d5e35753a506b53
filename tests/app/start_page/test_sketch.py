"""Sketches of networks: everything inside the box, blocks with what they hold, small for large networks, and cached."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.documents import EXAMPLES
from app.start_page import sketch
from app.start_page.sketch import HEIGHT, WIDTH, Sketch, cache_folder, draw, sketch_of
from app.start_page.unfolded import MOST_IN_BLOCK
from engine.layers.base import LayerType
from engine.network import edits
from engine.network.arrangement import arrange
from engine.network.block import Block
from engine.network.layout import Layout
from engine.network.network import Network
from engine.project.file import load, save
from engine.project.project import Project
from tests.builders import add, chain, layer

DIGITS = EXAMPLES / "digits.netwright"


def sketched(network: Network) -> Sketch:
    return draw(network, arrange(network))


def deep(count: int) -> Network:
    return chain(layer("feature_input", channels=4), *[layer("relu") for _ in range(count - 1)])


def is_inside(found: Sketch) -> bool:
    slack = 1.5  # the least width of a bar
    bars = all(x >= 0 and x + w <= WIDTH + slack and y >= 0 and y + h <= HEIGHT + slack for x, y, w, h, _ in found.bars)
    # Curves may bulge a little beyond the bars at their ends.
    ways = all(-20 <= number <= WIDTH + 20 for way in found.ways for number in way)
    return bars and ways and all((len(way) - 2) % 6 == 0 for way in found.ways)


def test_an_example_as_it_stands_on_the_canvas() -> None:
    project = load(DIGITS).project
    found = draw(project.network, project.layout)
    assert found.size == "15 layers · 12,650 learnables"
    assert len(found.bars) == 15
    assert len(found.ways) == len(project.network.connections)
    assert is_inside(found)
    families = [bar[4] for bar in sorted(found.bars)]
    assert families[0] == "Input"
    assert families[-1] == "Activation"


@pytest.mark.parametrize("count", [1, 2, 40, 120, 400])
def test_networks_of_every_depth_fill_the_box(count: int) -> None:
    found = sketched(deep(count))
    assert len(found.bars) == count
    assert is_inside(found)
    rows = {bar[1] for bar in found.bars}
    assert len(rows) == (1 if count <= 40 else 4 if count == 400 else 3)
    assert len({min(bar[0] for bar in found.bars if bar[1] == row) for row in rows}) == 1, "rows begin below each other"


def test_a_broad_network_is_one_row() -> None:
    network, start = add(Network.empty(), layer("feature_input", channels=4))
    for _ in range(12):
        last = start
        for _ in range(40):
            network, last = add(network, layer("relu"), last)
    found = sketched(network)
    assert is_inside(found)
    assert len(found.bars) <= 481


def test_a_network_that_runs_from_left_to_right() -> None:
    network = deep(6)
    turned = Layout({id: (y * 4, x / 4) for id, (x, y) in arrange(network).positions.items()})
    found = draw(network, turned)
    assert is_inside(found)
    assert len({bar[0] for bar in found.bars}) == 6
    assert len({bar[1] for bar in found.bars}) == 1


def block(*types: LayerType, repeat: int = 1) -> Block:
    return Block(chain(layer("block_input"), *types, layer("block_output")), repeat=repeat)


def test_a_block_shows_and_counts_what_it_holds() -> None:
    inner = block(layer("relu"), layer("tanh"), repeat=2)
    network = chain(
        layer("feature_input", channels=4),
        block(layer("fully_connected", outputs=4), inner, repeat=3),
        layer("softmax"),
    )
    found = sketched(network)
    assert found.size == "17 layers · 60 learnables"
    assert [bar[4] for bar in sorted(found.bars)].count("Fully connected") == 3
    assert len(found.bars) == 17
    assert is_inside(found)
    many = sketched(chain(layer("feature_input", channels=4), block(layer("relu"), layer("tanh"), repeat=500)))
    assert many.size == "1,001 layers · 0 learnables"
    assert len(many.bars) <= 1 + MOST_IN_BLOCK


def test_unfinished_and_empty_networks_say_so() -> None:
    network, _ = edits.add_layer(Network.empty(), layer("conv2d", filters=8))
    assert sketched(network).size == "1 layer · unfinished"
    assert draw(Network.empty(), Layout()) == Sketch(size="empty")


def test_layers_on_one_spot_are_arranged() -> None:
    found = draw(deep(5), Layout())
    assert len({bar[0] for bar in found.bars}) == 5


def test_the_same_bytes_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.netwright"
    path.write_bytes(DIGITS.read_bytes())
    found = sketch_of(path)
    assert len(list(cache_folder().iterdir())) == 1
    with monkeypatch.context() as patched:
        patched.setattr(sketch, "loads", lambda text: pytest.fail("it was read again"))
        assert sketch_of(path) == found
    save(replace(load(path).project, network=deep(3), layout=Layout()), path)
    assert sketch_of(path).size == "3 layers · 0 learnables"


def test_a_damaged_cache_is_made_again() -> None:
    found = sketch_of(DIGITS)
    (kept,) = cache_folder().iterdir()
    for damage in ("", "[]", '{"bars": [[1]]}', "{"):
        kept.write_text(damage)
        assert sketch_of(DIGITS) == found
    kept.unlink()
    kept.mkdir()
    assert sketch_of(DIGITS) == found, "a cache that cannot be written disturbs nobody"


def test_only_the_newest_sketches_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sketch, "MOST_KEPT", 2)
    for count in range(4):
        save(Project(deep(count + 1)), tmp_path / "net.netwright")
        sketch_of(tmp_path / "net.netwright")
    sketch.tidy_cache()
    assert len(list(cache_folder().glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [(b'{"netwright": [1, 0', "not a project file"), (b"\xff\xfe", "cannot be opened"), (b"", "not a project file")],
)
def test_what_cannot_be_drawn_says_why(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.netwright"
    path.write_bytes(content)
    assert said in sketch_of(path).problem
    assert not cache_folder().exists()
    assert "cannot be read" in sketch_of(tmp_path / "none.netwright").problem
    assert "cannot be read" in sketch_of(tmp_path).problem


def test_a_huge_file_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "huge.netwright"
    path.write_bytes(b" " * (sketch.LARGEST_BYTES + 1))
    assert sketch_of(path) == Sketch(size="a very large network")
