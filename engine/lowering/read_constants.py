"""Read the constants of imported ONNX operators from the file beside the project into the built module."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn

from netwright.engine.core.errors import UserError
from netwright.engine.lowering.modules.onnx_operator import OnnxOperator
from netwright.engine.lowering.weights_file import read_weights_file
from netwright.engine.project.constants import checked_constants, constants_problems, has_constants
from netwright.engine.project.project import Project


def fill_constants(module: nn.Module, project: Project, base: Path) -> None:
    """Set the constants of each ONNX operator of the module built from the project, whose folder is `base`.

    Raises `UserError` where the file is missing, damaged, another one than the project's, or lacks a constant.
    """
    if not has_constants(project.network):
        return
    for problem in constants_problems(project.network, project.constants, base):
        where = f"{problem.name}: " if problem.name else ""
        raise UserError(f"{where}{problem.message}")
    path = checked_constants(project.network, project.constants, base)
    assert path is not None
    state, _ = read_weights_file(path, noun="constants")
    set_constants(module, state)


def set_constants(module: nn.Module, constants: Mapping[str, torch.Tensor]) -> None:
    """Set the constants of each ONNX operator of the module by their names in the file."""
    for part in module.modules():
        if isinstance(part, OnnxOperator):
            part.load_state_dict({f"constant_{n}": constants[name] for n, name in enumerate(part.names)})
