"""Code of the user's in a project: which files, whether they may run, what is asked, and what a move does to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features
from netwright.engine.layers.custom_layers import Custom, Function
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.project import user_code
from netwright.engine.project.check import check
from netwright.engine.project.project import Project
from netwright.engine.project.project_differences import compare
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.registry import Measured
from tests.builders import chain, layer

TEXT = """
class Plain(nn.Module):
    def __init__(self, gain: float = 1.0): ...
    def forward(self, x): ...
"""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    (tmp_path / "plain.py").write_text(TEXT)
    yield
    registry.forget()


def inside_a_block() -> Network:
    """A layer of code, alone in a block."""
    layers = {
        "in": Layer("in", "input_1", BlockInput()),
        "own": Layer("own", "own_1", Custom(file="plain.py", class_name="Plain")),
        "out": Layer("out", "output_1", BlockOutput()),
    }
    joined = (
        Connection(Port("in", "out"), Port("own", "in")),
        Connection(Port("own", "out"), Port("out", "in")),
    )
    return chain(layer("feature_input", channels=4), Block(Network(layers, joined)), Function(expression="x1 * 2"))


def test_code_inside_blocks_counts_and_is_measured(tmp_path: Path):
    network = inside_a_block()
    user_code.look(network, tmp_path)
    assert user_code.code_files(network) == ("plain.py",)
    assert user_code.untrusted(network) == ("plain.py", "x1 * 2")
    assert user_code.open_questions(network, analyse(network)) == []
    (problem,) = (p for p in check(Project(network)).problems if p.severity == "warning")
    assert problem.name == "block_1/own_1"
    with pytest.raises(UserError, match=r"plain\.py, x1 \* 2.*--trust"):
        user_code.ready(network, tmp_path)
    user_code.grant(network)
    (question,) = user_code.open_questions(network, analyse(network))
    registry.learn({question: Measured((features(6),), {"w": (3,)}, 5)})
    (question,) = user_code.open_questions(network, analyse(network))
    assert (question.kind, question.inputs) == ("expression", (features(6),))
    registry.learn({question: Measured((features(6),), {}, 0)})
    analysis = analyse(network)
    assert (analysis.parameters, analysis.flops, analysis.problems) == (3, 5, ())
    user_code.ready(network, tmp_path)  # all is known: nothing has to run


def test_files_elsewhere_are_trusted_with_their_own_folder(tmp_path: Path):
    (tmp_path / "project").mkdir()
    network = chain(layer("feature_input"), Custom(file="../plain.py", class_name="Plain"))
    user_code.look(network, tmp_path / "project")
    assert user_code.folders(network) == (tmp_path / "project", tmp_path)
    trust.grant(tmp_path / "project")
    assert user_code.untrusted(network) == ("../plain.py",)


def test_a_run_keeps_what_was_looked_at(tmp_path: Path):
    network = inside_a_block()
    user_code.look(network, tmp_path)
    assert user_code.contents(network) == {"plain.py": TEXT.encode()}
    (tmp_path / "plain.py").write_text(TEXT + "# changed")
    with pytest.raises(UserError, match="was changed just now"):
        user_code.contents(network)


def test_a_layer_follows_its_file(tmp_path: Path):
    old = Custom(file="plain.py", class_name="Plan")
    network = chain(layer("feature_input", channels=4), old)
    user_code.look(network, tmp_path)
    (problem,) = (p for p in check(Project(network)).errors if p.name == "custom_1")
    assert problem.fix is not None
    assert problem.fix.label == "Use Plain"
    fixed = problem.fix.edit(Project(network)).network.layer("custom_1").type
    assert (fixed.class_name, list(fixed.handed()), "gain" in fixed.fields) == ("Plain", [], True)


def test_paths_of_code_still_lead_to_it_after_a_move(tmp_path: Path):
    network = inside_a_block()
    assert user_code.moved(network, tmp_path, tmp_path) is network
    there = user_code.moved(network, tmp_path, tmp_path / "deep")
    assert user_code.code_files(there) == ("../plain.py",)
    assert user_code.code_files(user_code.moved(there, tmp_path / "deep", tmp_path)) == ("plain.py",)
    given = Custom(file=str(tmp_path / "plain.py"), class_name="Plain")
    absolute = chain(layer("feature_input"), given)
    assert user_code.code_files(user_code.moved(absolute, Path("/"), tmp_path)) == ("plain.py",)
    elsewhere = tmp_path / "elsewhere"
    assert user_code.code_files(user_code.moved(absolute, Path("/"), elsewhere)) == (given.file,)


def test_layers_with_other_fields_are_compared(tmp_path: Path):
    user_code.look(inside_a_block(), tmp_path)
    before = Custom(file="plain.py", class_name="Plain")
    after = before.with_signature(before.current()).replace(gain=2.0)
    projects = [Project(chain(layer("feature_input"), type)) for type in (before, after)]
    told = {d.name: (d.before, d.after) for d in compare(*projects).differences}
    assert told["custom_1.gain"] == ("nothing", "2")
    assert set(told) == {"custom_1.gain", "custom_1.signature"}
