"""The source keeps the limits of `scripts/code_limits.toml`, whose exceptions and ceilings can only fall."""

import json
from pathlib import Path

import pytest

from scripts import measure_code
from scripts.code_facts import ROOMS, ROOT, Facts, import_graph, read_facts
from scripts.code_limits import UNITS, Limits, complaints, filler_share, read_limits, totals, write_limits

SOURCE = {
    "engine/long.py": "x = 1\n" * 12,
    "engine/function.py": "class A:\n    def f(self) -> None:\n" + "        x = 1\n" * 6,
    "engine/klass.py": "\nclass A:\n" + "    x: int\n" * 9,
    "engine/many.py": "def f(a, b, *, c, d) -> None: ...\ndef g(a, b, c) -> None: ...\n",
    "engine/public.py": "\n\ndef f(a: dict[str, Any]) -> dict[str, Any]: ...\ndef _g(a: dict[str, Any]): ...\n",
    "engine/lazy.py": (
        "import netwright.engine.many\ndef f() -> None:\n    import json\n    from netwright.engine.long import x\n"
    ),
    "engine/one_way.py": (
        "from netwright.engine import many\n\ndef f() -> None:\n    from netwright.engine.other_way import x\n"
    ),
    "engine/other_way.py": "if TYPE_CHECKING:\n    from netwright.engine.one_way import f\n",
}
"""A tree with offences of each kind."""
OFFENCES = {
    "module_lines": ["engine/long.py:1"],
    "function_lines": ["engine/function.py:2"],
    "class_lines": ["engine/klass.py:2"],
    "arguments": ["engine/many.py:1"],
    "any_dicts": ["engine/public.py:3"],
    "function_imports": ["engine/lazy.py:4", "engine/one_way.py:4"],
    "cycles": ["engine/one_way.py:4", "engine/other_way.py:2"],
}
EXCEPTIONS = """
[exceptions.module_lines]
"engine/long.py" = 12
[exceptions.function_lines]
"engine/function.py:A.f" = 7
[exceptions.class_lines]
"engine/klass.py:A" = 10
[exceptions.arguments]
"engine/many.py:f" = 4
[exceptions.any_dicts]
"engine/public.py" = 2
[exceptions.function_imports]
"engine/lazy.py" = 1
"engine/one_way.py" = 1
[exceptions.cycles]
"engine/one_way.py" = 2
"engine/other_way.py" = 2
"""


def limits_text(lazy_seams: str = "[]", rest: str = "") -> str:
    small = {"module_lines": 11, "function_lines": 6, "class_lines": 9, "arguments": 3}
    values = "\n".join(f"{kind} = {small.get(kind, 0)}" for kind in UNITS)
    return f"lazy_seams = {lazy_seams}\n[limits]\n{values}\n{rest}"


def tree(root: Path, files: dict[str, str]) -> list[Facts]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return read_facts(root)


def test_the_source_keeps_its_limits(facts: list[Facts]) -> None:
    assert "\n".join(complaints(facts, read_limits())) == ""


def test_every_total_has_a_ceiling_or_a_floor(facts: list[Facts]) -> None:
    limits = read_limits()
    for section, values in totals(facts).items():
        assert limits.section(section).keys() == values.keys()
    assert {entry.section for entry in limits.entries} - {"limits", "ceilings", "floors"} <= {
        f"exceptions.{kind}" for kind in UNITS
    }


@pytest.mark.parametrize("kind", UNITS)
def test_each_offence_is_reported_with_file_and_line(kind: str, tmp_path: Path) -> None:
    lines = complaints(tree(tmp_path, SOURCE), Limits(limits_text()), tmp_path)
    assert [line.partition(": ")[0] for line in lines if f"({kind}:" in line] == OFFENCES[kind]


def test_an_exception_holds_until_it_grows(tmp_path: Path) -> None:
    limits = Limits(limits_text(rest=EXCEPTIONS))
    assert complaints(tree(tmp_path, SOURCE), limits, tmp_path) == []
    grown = tree(tmp_path, {"engine/long.py": "x = 1\n" * 13})
    assert complaints(grown, limits, tmp_path) == [
        "engine/long.py:1: the module has 13 lines (module_lines: its exception allows 12)"
    ]


def test_an_exception_that_could_fall_is_named_with_its_line(tmp_path: Path) -> None:
    text = limits_text(rest='[exceptions.arguments]\n"engine/a.py:f" = 6\n"engine/a.py:g" = 4\n')
    facts = tree(tmp_path, {"engine/a.py": "def f(a, b, c, d, e): ...\ndef g(a, b, c): ...\n"})
    lower, remove = complaints(facts, Limits(text), tmp_path)
    assert lower.startswith("code_limits.toml:11: engine/a.py:f = 6 is 5 now. Write 5, or run `")
    assert remove.startswith("code_limits.toml:12: engine/a.py:g = 4 is no exception any more. Remove the line")


def test_ceilings_may_fall_and_floors_may_rise(tmp_path: Path) -> None:
    facts = tree(tmp_path, {"engine/a.py": "x = 1\n" * 10, "tests/test_a.py": "x = 1\n" * 5})
    exact = Limits(limits_text(rest="[ceilings]\nmodules = 1\nsource_lines = 500\n[floors]\ntests_per_source = 0.5"))
    assert complaints(facts, exact, tmp_path) == []
    strict = Limits(limits_text(rest="[ceilings]\nmodules = 0\n[floors]\ntests_per_source = 0.6"))
    assert complaints(facts, strict, tmp_path) == [
        "code_limits.toml:11: modules is 1, above its ceiling of 0",
        "code_limits.toml:13: tests_per_source is 0.5, below its floor of 0.6",
    ]
    loose = Limits(limits_text(rest="[ceilings]\nsource_lines = 1000\n[floors]\ntests_per_source = 0.4"))
    assert [line.partition(" now")[0] for line in complaints(facts, loose, tmp_path)] == [
        "code_limits.toml:11: source_lines = 1000 is 500",
        "code_limits.toml:13: tests_per_source = 0.4 is 0.5",
    ]


def test_a_lazy_seam_may_import_in_functions_and_is_one(tmp_path: Path) -> None:
    facts = tree(tmp_path, {"engine/cli/a.py": SOURCE["engine/lazy.py"], "engine/long.py": "x = 1\n"})
    assert complaints(facts, Limits(limits_text('["engine/cli/"]')), tmp_path) == []
    assert complaints(facts, Limits(limits_text('["engine/cli/a.py"]')), tmp_path) == []
    (offence, unused) = complaints(facts, Limits(limits_text('["engine/cl"]')), tmp_path)
    assert offence.startswith("engine/cli/a.py:4")
    assert "seam engine/cl imports nothing" in unused


def test_limits_are_rewritten_downwards_alone(tmp_path: Path) -> None:
    rest = '[ceilings]\nmodules = 9\n[exceptions.arguments]\n"engine/a.py:f" = 6\n"engine/a.py:g" = 4\n'
    path = tmp_path / "limits.toml"
    path.write_text(limits_text(rest=rest), encoding="utf-8")
    tree(
        tmp_path, {"engine/a.py": "def f(a, b, c, d, e): ...\ndef g(a, b, c): ...\n\n\n", "engine/b.py": "x = 1\n" * 12}
    )
    excesses = write_limits(path, tmp_path)
    assert path.read_text(encoding="utf-8") == limits_text(
        rest='[ceilings]\nmodules = 2\n[exceptions.arguments]\n"engine/a.py:f" = 5\n'
    )
    assert [line.partition(": ")[0] for line in excesses] == ["engine/b.py:1"]


def test_habits_are_counted(tmp_path: Path) -> None:
    text = '''"""Run."""
import os
import subprocess

class Record:
    """A record."""

    def write(self) -> dict[str, object]:
        """Return what is stored."""
    @classmethod
    def read(cls, given: object) -> "Record":
        """What is stored."""
        found, rest = given.split(b"\\n")

if __name__ == "__main__":
    process = subprocess.Popen([])
    os.killpg(process.pid, 9)
'''
    facts = tree(tmp_path, {"app/a.py": text, "engine/a.py": "y = 1\n" * 4})
    assert totals(facts, tmp_path)["ceilings"] == {
        "modules": 2,
        "packages": 2,
        "source_lines": 500,
        "filler_names_percent": 25.0,
        "repeated_file_names": 1,
        "what_docstrings": 2,
        "programs": 1,
        "popen_calls": 1,
        "posix_files": 1,
        "write_read_methods": 2,
    }
    assert facts[1].num_line_splitters == 1
    assert filler_share(facts) == 2 / 8


def test_the_table_is_printed_as_text_and_as_json(
    facts: list[Facts], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure_code, "read_facts", lambda: facts)
    assert measure_code.main([]) == 0
    assert f"files {len(facts):,}" in capsys.readouterr().out
    assert measure_code.main(["--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows["source"]["files"] == sum(len(list((ROOT / room).rglob("*.py"))) for room in ROOMS)
    assert rows["imported with app.window"]["modules"] > 100
    assert rows["cycles of modules"]["at import"] == 0


def test_the_graph_sees_each_kind_of_import(facts: list[Facts]) -> None:
    """A wrong prefix would find no import of ours, and so no cycle and no import in a function."""
    at_start, complete = import_graph(facts), import_graph(facts, in_functions=True, for_types=True)
    assert sum(map(len, at_start.values())) > 5_000
    assert sum(map(len, complete.values())) > sum(map(len, at_start.values()))
