"""A network with a layer of an add-on is built, trained a step and written as source, as one of our own layers is. In a
fresh interpreter, because what is registered stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.addons import MODULES, install

ROOT = Path(__file__).parents[3]
CODE = """
import sys, torch
from netwright.engine.lowering.module import build
from netwright.engine.lowering.print_source import source
from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
network = chain(layer("feature_input", channels=3, normalization="none"), layer("acme_swirl", share=0.25),
    layer("fully_connected", outputs=2))
analysis = analyse(network)
try:
    module = build(network, analysis)
except UserError as error:
    print(error)
    sys.exit()
x = torch.linspace(-1, 1, 12).reshape(4, 3)
module(x).sum().backward()
text = source(network, analysis, title="acme")
scope = {"__name__": "exported", "__file__": "exported.py"}
exec(compile(text, "exported.py", "exec"), scope)
copy = scope["Network"]()
copy.load_state_dict(module.state_dict())
assert torch.equal(copy(x), module(x))
swirled = x + 0.25 * torch.sin(x)
assert torch.allclose(module(x), module.get_submodule("fc_1")(swirled))
print(text)
"""


def run(site: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_layer_of_an_add_on_is_built_and_its_source_imports_the_package(tmp_path: Path) -> None:
    text = run(install(tmp_path))
    assert "import acme_layers.modules  # of the package acme-layers 1.2" in text
    assert "acme_layers.modules.Swirl(share=0.25)" in text


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("class Swirl", "class Other", "does not give acme_layers.modules.Swirl: AttributeError"),
        ("share: float", "part: float", "cannot make acme_layers.modules.Swirl: TypeError"),
    ],
)
def test_an_add_on_whose_modules_are_broken_is_told_by_name(tmp_path: Path, before: str, after: str, why: str) -> None:
    told = run(install(tmp_path, modules=MODULES.replace(before, after)))
    assert told.startswith(f"The add-on 'acme-layers 1.2' {why}")
