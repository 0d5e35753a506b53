import keyword
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from netwright.engine.lowering.module import build
from netwright.engine.lowering.plan import RESERVED, layer_names, safe_name
from netwright.engine.lowering.print_source import source
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from tests.builders import chain, layer


def named(*names: str) -> Network:
    """An input and fully connected layers of these names."""
    network = chain(layer("feature_input", channels=3), *(layer("fully_connected", outputs=3) for _ in names[1:]))
    for id, name in zip(list(network.layers), names, strict=True):
        network = edits.rename(network, id, name)
    return network


def run_both(network: Network) -> None:
    """Build, print, load the weights of one into the other, and compare."""
    analysis = analyse(network)
    module = build(network, analysis)
    names: dict = {"__name__": "printed"}
    exec(source(network, analysis, title="names"), names)
    printed: nn.Module = names["Network"]()
    printed.load_state_dict(module.state_dict())
    x = torch.rand(2, 3)
    assert torch.equal(module(x), printed(x))


ODD = ["training", "forward", "graph", "code", "__x", "__class__", "self", "torch", "nn", "float", "dict", "Normalize"]
ODD += ["T_destination", "_modules", "type", "print", "range", "super", "Network", "Path", "operator", "network", "x"]


@pytest.mark.parametrize("name", ODD)
def test_any_name_can_be_built_and_printed(name: str) -> None:
    run_both(named(f"{name}_", name))
    run_both(named(name, f"{name}_1"))


def test_every_reserved_name_that_can_be_a_layer_works() -> None:
    names = [n for n in sorted(RESERVED) if re.fullmatch(r"[A-Za-z_]\w{0,50}", n) and not keyword.iskeyword(n)]
    assert len(names) > 80
    run_both(named("start", *names))


@given(st.lists(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True), min_size=2, max_size=6, unique=True))
def test_names_stay_apart(names: list[str]) -> None:
    names = [name for name in names if not keyword.iskeyword(name)] or ["a"]
    network = named(*names)
    given_names = layer_names(network)
    assert len(set(given_names.values())) == len(names)
    assert not RESERVED & set(given_names.values())
    assert all(given_names[network.layer(n).id] == n for n in names if safe_name(n) == n)


def test_a_name_made_safe_never_takes_another_layers_name() -> None:
    network = named("start", "forward", "forward_layer", "forward_layer_")
    assert set(layer_names(network).values()) == {"start", "forward_layer", "forward_layer_", "forward_layer__"}
    run_both(network)
