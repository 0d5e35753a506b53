"""Files that are cut off, changed at random, or made to do harm: one clear `UserError` each, quickly, and no change."""

import contextlib
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.project.check import check
from netwright.engine.project.file import FILE_LIMIT_BYTES, dumps, load, loads

GOLDEN = Path(__file__).parents[2] / "golden" / "format_1_0.netwright"
LONGEST_S = 2.0
"""From `reference/reliability.md`: longer than that is a hang. Nothing here takes a tenth of it on a quiet machine."""


def said_of(content: bytes, path: Path) -> str | None:
    """What is said of a file with this content, or None where it can be read; it is never changed."""
    path.write_bytes(content)
    began = time.process_time()
    try:
        project = load(path).project
        said = None
    except UserError as error:
        said = str(error)
    if said is None:
        check(project)
        loads(dumps(project))
    else:
        assert said.startswith(str(path))
        assert len(said) < 8000
        said.encode()
    assert time.process_time() - began < LONGEST_S
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == [path.name]
    return said


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the bad file lies."""
    return tmp_path / "bad.netwright"


def test_a_file_cut_off_anywhere(path: Path) -> None:
    whole = GOLDEN.read_bytes()
    for percent in range(100):
        said = said_of(whole[: len(whole) * percent // 100], path)
        assert said is not None, percent
        assert "not a project file: " in said


def test_random_bytes_changed(path: Path) -> None:
    whole = GOLDEN.read_bytes()
    generator = random.Random(0)
    read = 0
    for _ in range(500):
        changed = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        read += said_of(bytes(changed), path) is None
    assert read < 250  # most changes are noticed; the rest are in texts and numbers


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SECTION = st.sampled_from(["network", "data", "training", "environment", "layers", "connections", "self"])


def refuse_or_read(text: str) -> None:
    """Either a project comes of it that can be checked and written, or one `UserError`."""
    with contextlib.suppress(UserError):
        project = loads(text).project
        check(project)
        assert loads(dumps(project)).project == project


@given(JSON)
def test_any_json(value: Any) -> None:
    refuse_or_read(json.dumps(value))


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    refuse_or_read(text)


@given(st.dictionaries(SECTION, JSON, max_size=4), st.sampled_from([0, 1]))
def test_any_json_in_the_sections(sections: dict[str, Any], minor: int) -> None:
    refuse_or_read(json.dumps({"netwright": [1, minor], **sections}))


@given(st.data())
def test_any_json_in_the_place_of_any_part(data: st.DataObject) -> None:
    whole = json.loads(GOLDEN.read_text(encoding="utf-8"))
    whole["netwright"] = [1, data.draw(st.sampled_from([0, 1]))]
    at: Any = whole
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], (dict, list)) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(JSON)
    refuse_or_read(json.dumps(whole))


def named(name: object, id: object = "a", type: object = "relu", **more: object) -> dict[str, object]:
    """One layer."""
    return {"id": id, "name": name, "type": type, **more}


def network(*rows: object, connections: object = ()) -> str:
    """A file with this network."""
    return json.dumps({"netwright": [1, 0], "network": {"layers": rows, "connections": connections}})


def chain(count: int) -> str:
    """A file with so many layers in a row."""
    rows = [named(f"relu_{i}", f"id{i}") for i in range(count)]
    return network(*rows, connections=[[f"relu_{i}", f"relu_{i + 1}"] for i in range(count - 1)])


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "empty": (lambda: "", "line 1, column 1"),
    "a list": (lambda: "[]", 'the key "netwright" with the format version is missing'),
    "deep lists": (lambda: "[" * 10_000 + "]" * 10_000, "nested deeper than 64 levels"),
    "deep objects": (lambda: '{"a":' * 10_000 + "1" + "}" * 10_000, "nested deeper than 64 levels"),
    "deep enough for Python": (
        lambda: '{"netwright": [1, 9], "x": ' + "[" * 500 + "]" * 500 + "}",
        "nested deeper than 64 levels",
    ),
    "deep fields": (
        lambda: network(named("a", type="new", fields={"x": 0})).replace("0}", "[" * 300 + "]" * 300 + "}", 1),
        "nested deeper than 64 levels",
    ),
    "NaN": (lambda: '{"netwright": [1, 0], "training": {"seed": NaN}}', "NaN is not a JSON number"),
    "infinity": (lambda: '{"netwright": [1, 9], "x": -Infinity}', "-Infinity is not a JSON number"),
    "infinity by size": (lambda: '{"netwright": [1, 9], "x": 1e999}', '"1e999" is too large for a number'),
    "endless number": (lambda: '{"netwright": [1, 9], "x": ' + "9" * 10**6 + "}", "more than 4,300 digits"),
    "long number": (
        lambda: '{"netwright": [1, 0], "training": {"seed": ' + "9" * 4000 + "}}",
        "training.seed: expected",
    ),
    "a key twice": (lambda: '{"netwright": [1, 0], "data": {}, "data": {}}', 'the key "data" stands twice'),
    "a key twice at the end of many": (
        lambda: "{" + ",".join(f'"{i}":0' for i in range(300_000)) + ',"299999":0}',
        'the key "299999" stands twice',
    ),
    "an id twice": (lambda: network(named("a"), named("b")), 'layers[1].id: the id "a" is already taken'),
    "a name twice": (lambda: network(named("a"), named("a", "b")), "layers[1].name: There is already a layer 'a'"),
    "NUL in a name": (lambda: network(named("a\0b")), "cannot be a name"),
    "NUL in an id": (lambda: network(named("a", "x\0")), "layers[0].id: expected a text of 1 to 64"),
    "NUL in a path": (lambda: '{"netwright": [1, 0], "data": {"path": "a\\u0000"}}', "data.path: expected a text"),
    "right to left": (lambda: network(named("a\u202egnp")), "cannot be a name"),
    "terminal codes": (lambda: network(named("\x1b]0;x\x07\x9b2J")), "cannot be a name"),
    "a long name": (lambda: network(named("n" * 10_000)), "has at most 64 characters; this one has 10,000"),
    "a long id": (lambda: network(named("a", "i" * 10_000)), "layers[0].id: expected a text of 1 to 64 characters"),
    "a long type": (lambda: network(named("a", type="t" * 10_000)), "layers[0].type: expected a layer type of 1 to 64"),
    "a keyword": (lambda: network(named("class")), "'class' cannot be a name"),
    "half a pair": (lambda: '{"netwright": [1, 9], "x": "\\ud800"}', "half of a pair of characters"),
    "half a pair as key": (lambda: '{"netwright": [1, 9], "\\udfff": 1}', "half of a pair of characters"),
    "a class": (lambda: network(named("a", __class__={"__reduce__": 1})), "layers[0].__class__: there is no such key"),
    "a class in fields": (
        lambda: network(named("a", fields={"__class__": "os.system"})),
        "layers[0] (a).fields.__class__: there is no such field",
    ),
    "self": (lambda: '{"netwright": [1, 0], "training": {"self": 1}}', "training.self: there is no such field"),
    "an import path as type": (lambda: network(named("a", type="os.system", fields=[])), "fields: expected an object"),
    "dangling": (
        lambda: network(named("relu_1"), connections=[["relu_1", "relu_2"]]),
        "connections[0]: there is no layer \"relu_2\". Did you mean 'relu_1'?",
    ),
    "no such port": (
        lambda: network(named("a"), named("b", "b"), connections=[["a", "b:in2"]]),
        "connections[0]: layer 'b' has no input \"in2\"; it has in.",
    ),
    "into an input": (
        lambda: network(named("a"), named("b", "b", "image_input"), connections=[["a", "b"]]),
        "layer 'b' has no input.",
    ),
    "an input twice": (
        lambda: network(named("a"), named("b", "b"), named("c", "c"), connections=[["a", "c"], ["b", "c"]]),
        "connections[1]: input 'in' of 'c' is connected twice",
    ),
    "a connection of three": (lambda: network(connections=[["a", "b", "c"]]), 'expected ["layer", "layer"]'),
    "positions": (lambda: network(named("a", at=[1e300, 0])), "layers[0].at: expected [x, y] within ±10,000,000"),
    "truth as position": (lambda: network(named("a", at=[True, 0])), "layers[0].at: expected [x, y]"),
    "too many layers": (
        lambda: chain(40_000),
        "network.layers: expected a list of at most 20,000 entries, received 40",
    ),
    "a million layers": (lambda: network(*[0] * 10**6), "received 1,000,000 entries"),
    "too many connections": (
        lambda: network(connections=[["a", "b"]] * 100_000),
        "network.connections: expected a list of at most 60,000 entries, received 100,000 entries",
    ),
    "many wrong layers": (
        lambda: network(*[named(f"relu_{i}", "same") for i in range(20_000)]),
        "... and perhaps more: the rest was not read.",
    ),
    "many dangling connections": (
        lambda: network(
            *[named(f"relu_{i}", f"id{i}") for i in range(20_000)],
            connections=[[f"relu_{i}x", "relu_1"] for i in range(20_000)],
        ),
        "... and perhaps more: the rest was not read.",
    ),
    "many unknown fields": (
        lambda: json.dumps({"netwright": [1, 0], "training": {f"max_epoch{i}": i for i in range(100_000)}}),
        "... and perhaps more: the rest was not read.",
    ),
    "many keys of a layer": (
        lambda: network(named("a", **{f"k{i}": 0 for i in range(100_000)})),
        "layers[0].k0: there is no such key",
    ),
    "a huge wrong value": (
        lambda: '{"netwright": [1, 0], "training": ' + json.dumps([[1] * 9] * 10**5) + "}",
        "training: ",
    ),
    "many empty objects": (lambda: '{"netwright": [1, 0], "x": [' + ",".join(["{}"] * 10**6) + "]}", 'no section "x"'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file(path: Path, name: str) -> None:
    make, expected = HOSTILE[name]
    said = said_of(make().encode(), path)
    assert said is not None
    assert expected in said
    assert all(line.isprintable() for line in said.split("\n"))


def test_the_largest_chain_is_read(path: Path) -> None:
    path.write_text(chain(20_000), encoding="utf-8")
    assert len(load(path).project.network) == 20_000


@pytest.mark.parametrize(
    "content", [b"\xff\xfe{\x00}\x00", b"PK\x03\x04\x80\x81", b'{"netwright": "\xe9"}', random.Random(0).randbytes(999)]
)
def test_what_is_not_text(path: Path, content: bytes) -> None:
    assert "not a project file" in (said_of(content, path) or "")


def test_a_huge_file_is_not_read(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(2**40)
    with pytest.raises(UserError, match=r"has 1,048,576\.0 MiB; a project file has at most 8 MiB"):
        load(path)
    with open(path, "wb") as file:
        file.truncate(FILE_LIMIT_BYTES + 1)
    with pytest.raises(UserError, match="at most 8 MiB"):
        load(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name, said in {
        "absent": "There is no file ",
        "": "is a folder. Choose a project file",
        "pipe": "is not a file but a device or a pipe",
        "circle": "cannot be read: Too many levels of symbolic links",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        with pytest.raises(UserError, match=said):
            load(tmp_path / name)
    with pytest.raises(UserError, match="is not a file but a device"):
        load(Path("/dev/zero"))


def test_a_file_without_permission(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # root may read everything, so the system would not say it
    with pytest.raises(UserError, match=r"cannot be read: Permission denied\."):
        load(path)


def test_an_option_of_an_older_version_is_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    content = {"netwright": [1, 0], "environment": {"gradient_compression": "power-sgd"}}
    said = said_of(json.dumps(content).encode(), tmp_path / "old.netwright")
    assert said is not None
    assert 'environment.gradient_compression: "power-sgd" is not offered any more. Use fp16, or the strategy' in said
