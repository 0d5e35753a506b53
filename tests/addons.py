"""Makes installed packages with layer types, as pip would leave them: a package, and a dist-info beside it."""

from pathlib import Path

TYPES = '''
"""Layer types of a team."""

from netwright.engine.core.fields import Float
from netwright.engine.layers.base import LayerType, module
from netwright.engine.core.types import TensorType


class Swirl(LayerType):
    """Adds a share of the sine: x + share · sin(x).

        y = x + share · sin(x)

    Source: this test.
    """

    key, label, family = "acme_swirl", "Swirl", "Activation"
    share = Float(0.5, help="How much of the sine")

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x):
        return module("acme_layers.modules.Swirl", share=self.share)
'''
MODULES = '''
"""The modules that they become."""

import torch
from torch import nn


class Swirl(nn.Module):
    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.share * torch.sin(x)
'''


def install(
    site: Path, types: str = TYPES, *, modules: str = MODULES, package: str = "acme_layers", version: str = "1.2"
) -> Path:
    """A package of this name in the folder, with an entry point for its module `types`."""
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text("", encoding="utf-8")
    (site / package / "types.py").write_text(types, encoding="utf-8")
    (site / package / "modules.py").write_text(modules, encoding="utf-8")
    name = package.replace("_", "-")
    info = site / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    entry = f"[console_scripts]\nx = {package}:main\n\n[netwright.layers]\n{package} = {package}.types\n"
    (info / "entry_points.txt").write_text(entry, encoding="utf-8")
    return site
