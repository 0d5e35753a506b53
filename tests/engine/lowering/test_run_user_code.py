"""Code of the user's in the built module and in the printed source, where it is trusted."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol, TensorType, features, sequence
from netwright.engine.layers.custom_layers import Custom, Function
from netwright.engine.lowering import run_user_code
from netwright.engine.lowering.initialization import initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.print_source import source
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project import user_code as code
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.expression import companion
from netwright.engine.user_code.registry import Measured
from tests.builders import add, layer

TEXT = """
import torch
from torch import nn

class Split(nn.Module):
    def __init__(self, width: int, gain: float = 1.0, sizes: tuple[int, int] = (1, 1)):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.gain = gain
        nn.init.constant_(self.mix.weight, 0.25)
        if gain < 0:
            raise ValueError("no negative gain")

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.gain * self.mix(x)
        return y, y[:, :1]

def blend(x: torch.Tensor, y: torch.Tensor, amount: float = 0.5) -> torch.Tensor:
    return amount * x + y
"""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    before = set(sys.modules)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "split.py").write_text(TEXT + f"# {tmp_path}")  # a file that no other test has run
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("netwright_", "custom_")):  # of torch, what came late must not come twice
            del sys.modules[name]
    registry.forget()


def network(folder: Path, *, gain: float = 2.0) -> Network:
    """Split, a function, an expression; sizes as if they had been measured."""
    registry.look(["parts/split.py"], folder)
    found = registry.file("parts/split.py")
    assert found is not None
    signatures = {one.name: one for one in found.signatures}
    split = Custom.of("parts/split.py", signatures["Split"]).replace(width=4, gain=gain)
    blend = Function.of("parts/split.py", signatures["blend"]).replace(amount=0.25)
    made, x = add(Network.empty(), layer("feature_input", channels=4, normalization="none"), name="x")
    made, first = add(made, split, x)
    made, second = add(made, blend, first, x)
    gate = Function(expression="x1 * torch.relu(x2) + math.pi", num_inputs=2)
    made, _ = add(made, gate, second, x)
    four, one = features(4), features(1)
    registry.learn(
        {
            split.question((four,)): Measured((four, one), {"mix.weight": (4, 4), "mix.bias": (4,)}, 32),
            blend.question((four, four)): Measured((four,), {}, 0),
            gate.question((four, four)): Measured((four,), {}, 0),
        }
    )
    return made


def test_nothing_is_built_before_it_is_trusted(tmp_path: Path):
    made = network(tmp_path)
    with pytest.raises(UserError, match=r"parts/split\.py.* is not trusted"):
        build(made, analyse(made))
    with pytest.raises(UserError, match=r"x1 .* is not trusted"):
        run_user_code.find("expression:1:x1 * 2")


def test_it_is_built_keeps_its_own_initial_weights_and_obeys_factors(tmp_path: Path):
    made = network(tmp_path)
    code.grant(made)
    analysis = analyse(made)
    module = build(made, analysis)
    options = parameter_options(module, prefixes(made, analysis), lambda path: made.layers[path].type)
    initialize(module, 0, options)
    assert sorted(module.state_dict()) == ["custom_1.mix.bias", "custom_1.mix.weight"]
    assert (module.state_dict()["custom_1.mix.weight"] == 0.25).all()
    assert options["custom_1.mix.bias"].l2_factor == 1.0
    x = torch.rand(3, 4)
    both, one = module.custom_1(x)  # type: ignore[operator]  # a module, not a tensor
    side, result = module(x)
    assert torch.equal(side, one)
    assert torch.allclose(result, (0.25 * both + x) * torch.relu(x) + torch.pi)


def test_the_source_imports_a_copy_of_the_file_and_gives_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = network(tmp_path)
    code.grant(made)
    analysis = analyse(made)
    module = build(made, analysis)
    text = source(made, analysis, title="own")
    assert "import math\n" in text
    assert "import custom_parts__split\n" in text
    assert "custom_1_out1, custom_1_out2 = self.custom_1(" in text
    assert "function_1 = custom_parts__split.blend(custom_1_out1, x, amount=0.25)" in text
    assert "function_2 = function_1 * torch.relu(x) + math.pi" in text
    (tmp_path / "custom_parts__split.py").write_bytes(code.contents(made)["parts/split.py"])
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, object] = {"__name__": "printed"}
    exec(compile(text, "printed", "exec"), names)
    printed = names["Network"]()  # type: ignore[operator]  # the class
    printed.load_state_dict(module.state_dict())
    x = torch.rand(3, 4)
    assert all(map(torch.equal, printed(x), module(x)))


def test_what_goes_wrong_is_told_with_file_and_line(tmp_path: Path):
    made = network(tmp_path, gain=-1.0)
    code.grant(made)
    line = TEXT.splitlines().index('            raise ValueError("no negative gain")') + 1
    with pytest.raises(UserError, match=rf"parts/split\.py, line {line}: ValueError: no negative gain"):
        build(made, analyse(made))
    assert run_user_code.blame(ValueError("of ours")) == ""


def test_a_file_that_changed_since_it_was_looked_at_does_not_run(tmp_path: Path):
    made = network(tmp_path)
    code.grant(made)
    (tmp_path / "parts" / "split.py").write_text("raise SystemExit('another file')")
    with pytest.raises(UserError, match="was changed just now"):
        build(made, analyse(made))


def test_copies_of_files_have_names_of_their_own():
    names = [companion(name) for name in ("a/b.py", "a_b.py", "a-b.py", "a b.py", "../b.py", "/x/b.py", "random.py")]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert names[:2] == ["custom_a__b", "custom_a_b"]


TOLD = """
import torch
from torch import nn

class Centre(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is None:
            return x - x.mean(1, keepdim=True)
        real = (torch.arange(x.shape[1]) < lengths.unsqueeze(1)).unsqueeze(2)
        return x - (x * real).sum(1, keepdim=True) / lengths.view(-1, 1, 1)

class Untold(nn.Module):
    def forward(self, x): return x

class Halved(nn.Module):
    def forward(self, x, lengths=None): return x[:, ::2]

def largest(x, y, lengths=None):
    if lengths is not None:
        x = x.masked_fill((torch.arange(x.shape[1]) >= lengths[0].unsqueeze(1)).unsqueeze(2), float("-inf"))
    return y + x.amax(1, keepdim=True)
"""


def measured(folder: Path, name: str, *inputs: TensorType, output: TensorType) -> Network:
    """A network of this class or function behind one input for each of these types."""
    (folder / "parts" / "told.py").write_text(TOLD + f"# {folder}")
    registry.look(["parts/told.py"], folder)
    found = registry.file("parts/told.py")
    assert found is not None
    signature = next(one for one in found.signatures if one.name == name)
    type: Custom | Function = (Custom if signature.kind == "class" else Function).of("parts/told.py", signature)
    registry.learn({type.question(inputs): Measured((output,), {}, 0)})
    network, feeds = Network.empty(), []
    for x in inputs:
        open_input = layer("sequence_input", channels=x["C"], normalization="none")
        network, feed = add(network, open_input)
        feeds.append(feed)
    network, _ = add(network, type, *feeds)
    code.grant(network)
    return network


def test_code_that_asks_for_lengths_gives_a_padded_sequence_what_it_gives_alone(tmp_path: Path):
    given = sequence(Symbol("T"), 2)
    made = measured(tmp_path, "Centre", given, output=given)
    told, plain = build(made, analyse(made), lengths=True), build(made, analyse(made))
    x, ends = torch.randn(3, 9, 2), torch.tensor([9, 4, 1])
    result, after = told(x, ends)
    assert torch.equal(after, ends)
    for sample, end in enumerate(ends.tolist()):
        alone = plain(x[sample : sample + 1, :end])
        torch.testing.assert_close(result[sample, :end], alone[0])


def test_a_function_of_several_sequences_is_told_the_lengths_of_each(tmp_path: Path):
    x, y = sequence(Symbol("T"), 2), sequence(Symbol("T"), 2)
    made = measured(tmp_path, "largest", x, y, output=y)
    told, plain = build(made, analyse(made), lengths=True), build(made, analyse(made))
    one, other = torch.randn(2, 6, 2), torch.randn(2, 6, 2)
    result, _ = told(one, other, torch.tensor([6, 2]), torch.tensor([6, 6]))
    torch.testing.assert_close(result[1:], plain(one[1:, :2], other[1:]))


@pytest.mark.parametrize(
    ("name", "output", "words"),
    [
        ("Untold", sequence(Symbol("T"), 2), "only where 'forward' has a parameter lengths=None"),
        ("Halved", sequence(Symbol("T'"), 2), "How long each sequence is that leaves Halved is not known"),
    ],
)
def test_code_that_cannot_tell_padding_is_refused_in_words(tmp_path: Path, name: str, output: TensorType, words: str):
    made = measured(tmp_path, name, sequence(Symbol("T"), 2), output=output)
    with pytest.raises(UserError, match=f"custom_1: Sequences of different lengths cannot be padded here.*{words}"):
        build(made, analyse(made), lengths=True)
