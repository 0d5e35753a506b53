"""Layer types from installed packages: found, loaded, refused in words. Each try has an interpreter of its own, because
what is registered stays."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.layers.addons import installed
from netwright.engine.user_code import trust
from tests.addons import TYPES, install

ROOT = Path(__file__).parents[3]
TELL = """
import json, sys
from netwright.engine.network.catalog import add_ons, catalog, built_in
told = [[a.title, list(a.types), a.refusal] for a in add_ons()]
print(json.dumps({"told": told, "more": sorted(set(catalog()) - set(built_in())), "torch": "torch" in sys.modules,
    "conv2d": catalog()["conv2d"].__module__}))
"""


def run(site: Path, code: str) -> str:
    """What a fresh interpreter with the packages of a folder prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tell(site: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run(site, TELL))
    return told


def refusal(site: Path) -> str:
    """Why the one add-on is not used; Netwright's own layer types are what they were."""
    told = tell(site)
    assert told["more"] == []
    assert told["conv2d"] == "netwright.engine.layers.convolution"
    ((_, types, why),) = told["told"]
    assert types == []
    return str(why)


def test_an_installed_package_brings_its_layer_types(tmp_path: Path) -> None:
    told = tell(install(tmp_path))
    assert told == {
        "told": [["acme-layers 1.2", ["acme_swirl"], ""]],
        "more": ["acme_swirl"],
        "torch": False,
        "conv2d": "netwright.engine.layers.convolution",
    }


@pytest.mark.parametrize(
    ("types", "why"),
    [
        ("def broken(:\n", r"'acme-layers 1.2' is not used: SyntaxError: invalid syntax (types.py, line 1)."),
        ("1 / 0\n", "ZeroDivisionError: division by zero (types.py, line 1)."),
        ("import torch\n", "its layer types import torch, which the window must not load."),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found' (types.py, line 1)."),
        ("raise SystemExit(3)\n", "SystemExit: 3 (types.py, line 1)."),
        ("x = 1\n", "acme_layers.types declares no layer type with a key."),
        (
            TYPES.replace('"acme_swirl"', '"conv2d"'),
            "Two layer types have the key 'conv2d': 2-D convolution of netwright.engine",
        ),
        (TYPES.replace('"Activation"', '"Magic"'), "Layer type 'acme_swirl' needs a label, a docstring and one of"),
        (f"{TYPES}\n    def short_value(self):\n        return 1 / 0\n", "ZeroDivisionError"),
    ],
    ids=["syntax", "defect", "torch", "missing", "exit", "empty", "clash", "family", "short_value"],
)
def test_a_broken_add_on_is_refused_in_words(tmp_path: Path, types: str, why: str) -> None:
    assert why in refusal(install(tmp_path, types))


def test_an_entry_point_into_another_package_is_refused(tmp_path: Path) -> None:
    install(tmp_path)
    entry = tmp_path / "acme_layers-1.2.dist-info" / "entry_points.txt"
    entry.write_text("[netwright.layers]\nacme = netwright.engine.layers.convolution\n", encoding="utf-8")
    assert "names a module of the package 'netwright', which is not its own" in refusal(tmp_path)


def test_the_second_of_two_add_ons_with_one_key_is_refused(tmp_path: Path) -> None:
    install(tmp_path)
    install(
        tmp_path,
        TYPES.replace('label, family = "acme_swirl", "Swirl"', 'label, family = "acme_swirl", "Other"'),
        package="bolt_layers",
    )
    first, second = tell(tmp_path)["told"]
    assert first == ["acme-layers 1.2", ["acme_swirl"], ""]
    assert "Swirl of acme_layers.types, and Other of bolt_layers.types" in second[2]


def test_what_fails_in_a_rule_is_a_problem_of_the_layer(tmp_path: Path) -> None:
    install(tmp_path, TYPES.replace("        return x\n", "        return x.nothing\n"))
    code = """
from netwright.engine.network.catalog import layer_type
from netwright.engine.core.types import features
from netwright.engine.core.errors import ShapeError
try:
    layer_type("acme_swirl")().output(features(3))
except ShapeError as error:
    print(error)
"""
    told = run(tmp_path, code)
    assert told.startswith("The add-on 'acme-layers 1.2' failed in `output` of Swirl: AttributeError")


def test_a_project_that_needs_a_broken_add_on_says_why(tmp_path: Path) -> None:
    install(tmp_path, "1 / 0\n")
    code = """
from netwright.engine.core.errors import ShapeError
from netwright.engine.network.catalog import Placeholder
try:
    Placeholder("acme_swirl", {}, ("in",), ("out",)).output()
except ShapeError as error:
    print(error)
"""
    told = run(tmp_path, code)
    assert "has no layer type 'acme_swirl'" in told
    assert "The add-on 'acme-layers 1.2' is not used: ZeroDivisionError" in told


def test_nothing_is_imported_to_find_what_is_installed(tmp_path: Path) -> None:
    install(tmp_path, "1 / 0\n")
    (tmp_path / "plain-1.0.dist-info").mkdir()
    (found,) = installed([str(tmp_path), str(tmp_path / "absent"), str(tmp_path)])
    assert (found.title, found.modules, found.packages) == ("acme-layers 1.2", ("acme_layers.types",), {"acme_layers"})


def test_an_add_on_of_the_current_folder_does_not_run_until_the_folder_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *sys.path])
    assert [one.error for one in installed() if one.name == "acme-layers"] == [
        f"it lies in the current folder, {tmp_path.resolve()}, which is not trusted. Install it, or trust the folder "
        "in the window."
    ]
    trust.trust(tmp_path)
    assert [one.error for one in installed() if one.name == "acme-layers"] == [""]
