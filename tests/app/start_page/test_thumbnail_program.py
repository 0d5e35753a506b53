"""The process that makes thumbnails: its lines, its cache, and that it loads neither Qt nor what it does not need."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.app.documents import EXAMPLES
from netwright.app.start_page import thumbnail_program
from netwright.app.start_page.project_cards import size_in_words
from netwright.app.start_page.thumbnail_program import Thumbnail, make_thumbnail, size_of, thumbnail_folder
from netwright.engine.core.process import module_command
from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from tests.builders import chain, layer

ROOT = Path(thumbnail_program.__file__).parents[2]
DIGITS = EXAMPLES / "digits.netwright"


def test_stamps_come_first_and_what_is_known_is_not_drawn(tmp_path: Path) -> None:
    wanted = [
        (DIGITS, ""),
        (tmp_path / "none.netwright", ""),
        (DIGITS, thumbnail_program.stamp_of(DIGITS)),
        (tmp_path, ""),
    ]
    command = module_command(*thumbnail_program.arguments(wanted))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    stamp = thumbnail_program.stamp_of(DIGITS)
    answers = [thumbnail_program.answer(json.loads(line)) for line in done.stdout.splitlines()]
    assert answers == [(0, stamp), (1, ""), (2, stamp), (3, ""), (0, make_thumbnail(DIGITS))]


def test_it_needs_neither_qt_nor_torch_nor_numpy() -> None:
    code = (
        "import json, sys\nfrom netwright.app.start_page import thumbnail_program\n"
        "known = 'netwright.engine.project.file' in sys.modules\nthumbnail_program.main(['', sys.argv[1]])\n"
        "print(json.dumps([known, *sorted({'PySide6', 'torch', 'numpy'} & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(DIGITS)], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [False], "the engine is imported for what is new only"


@pytest.mark.parametrize("message", [None, {}, [1], [0, 1], [0, {"bars": 1}], ["x", ""], 3])
def test_anything_else_is_no_answer(message: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whichever: it is passed over
        thumbnail_program.answer(message)


def deep(count: int) -> Network:
    return chain(layer("feature_input", channels=4), *[layer("relu") for _ in range(count - 1)])


def block(*types: LayerType, repeat: int = 1) -> Block:
    return Block(chain(layer("block_input"), *types, layer("block_output")), repeat=repeat)


def words_of(network: Network) -> str:
    return size_in_words(Thumbnail((), (), *size_of(network)))


def test_sizes_are_told_in_words() -> None:
    assert words_of(load(DIGITS).project.network) == "15 layers · 12,650 parameters"
    inner = block(layer("relu"), layer("tanh"), repeat=2)
    outer = block(layer("fully_connected", outputs=4), inner, repeat=3)
    assert words_of(chain(layer("feature_input", channels=4), outer, layer("softmax"))) == "17 layers · 60 parameters"
    many = chain(layer("feature_input", channels=4), block(layer("relu"), layer("tanh"), repeat=500))
    assert words_of(many) == "1,001 layers · 0 parameters"
    unfinished, _ = edits.add_layer(Network.empty(), layer("conv2d", filters=8))
    assert words_of(unfinished) == "1 layer · unfinished"
    assert words_of(Network.empty()) == "empty"


def test_the_same_bytes_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.netwright"
    path.write_bytes(DIGITS.read_bytes())
    found = make_thumbnail(path)
    assert len(list(thumbnail_folder().iterdir())) == 1
    with monkeypatch.context() as patched:
        patched.setattr("netwright.engine.project.file.loads", lambda text: pytest.fail("it was read again"))
        assert make_thumbnail(path) == found
    save(replace(load(path).project, network=deep(3), layout=Layout()), path)
    assert size_in_words(make_thumbnail(path)) == "3 layers · 0 parameters"


def test_a_damaged_cache_is_made_again() -> None:
    found = make_thumbnail(DIGITS)
    (kept,) = thumbnail_folder().iterdir()
    for damage in ("", "[]", '{"bars": [[1]]}', "{"):
        kept.write_text(damage)
        assert make_thumbnail(DIGITS) == found
    kept.unlink()
    kept.mkdir()
    assert make_thumbnail(DIGITS) == found, "a cache that cannot be written disturbs nobody"


def test_only_the_newest_thumbnails_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(thumbnail_program, "MOST_KEPT", 2)
    for count in range(4):
        save(Project(deep(count + 1)), tmp_path / "net.netwright")
        make_thumbnail(tmp_path / "net.netwright")
    thumbnail_program.tidy_cache()
    assert len(list(thumbnail_folder().glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [(b'{"netwright": [1, 0', "not a project file"), (b"\xff\xfe", "cannot be opened"), (b"", "not a project file")],
)
def test_what_cannot_be_drawn_says_why(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.netwright"
    path.write_bytes(content)
    assert said in make_thumbnail(path).problem
    assert not thumbnail_folder().exists()
    assert "cannot be read" in make_thumbnail(tmp_path / "none.netwright").problem
    assert "cannot be read" in make_thumbnail(tmp_path).problem


def test_a_huge_file_is_not_drawn(tmp_path: Path) -> None:
    path = tmp_path / "huge.netwright"
    path.write_bytes(b" " * (thumbnail_program.LARGEST_BYTES + 1))
    thumbnail = make_thumbnail(path)
    assert thumbnail == Thumbnail(layers=None)
    assert size_in_words(thumbnail) == "a very large network"
