"""Export to one readable PyTorch file and a file of weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save

from engine.core.errors import UserError
from engine.core.files import write_atomically
from engine.exchange.export import not_written, refuse_destination
from engine.lowering.module import build
from engine.lowering.source import source
from engine.lowering.weights import fill
from engine.network.analysis import analyse
from engine.network.network import Network
from engine.project import user_code
from engine.project.dataset_info import DatasetInfo
from engine.user_code.expression import companion

REMEDY = "Name another file, or add --force to replace what is there."


def export_pytorch(
    network: Network,
    state: Mapping[str, torch.Tensor] | None,
    to: Path,
    *,
    facts: DatasetInfo | None,
    title: str,
    replaces: bool = False,
) -> Path:
    """Write `to` (a `.py` file) and, if `state` is not None, its weights into a `.safetensors` file of the same name.

    The file needs only torch (and safetensors to load the weights). Raises `UserError`, also where a file beside `to`
    would be overwritten, unless `replaces`.
    """
    if to.suffix != ".py":
        raise UserError(f"A PyTorch file has a name that ends in .py; received '{to.name}'.")
    refuse_destination(to)
    analysis = analyse(network)
    classes = facts.classes if facts else ()
    columns = facts.inputs[0].columns if facts and len(facts.inputs) == 1 else ()
    text = source(network, analysis, title=title, classes=classes, columns=columns)
    companions = {to.with_name(f"{companion(file)}.py"): data for file, data in user_code.contents(network).items()}
    weights_path = to.with_suffix(".safetensors")
    for companion_path in companions:
        refuse_destination(companion_path)
    if not replaces:
        changed = [path for path, data in companions.items() if path.exists() and path.read_bytes() != data]
        refuse_overwriting([*changed, *([weights_path] if state is not None and weights_path.exists() else ())])
    try:
        for companion_path, data in companions.items():
            write_atomically(companion_path, data)
        if state is not None:
            module = build(network, analysis)
            fill(module, state)
            tensors = {key: value.detach().to("cpu", copy=True).contiguous() for key, value in state.items()}
            write_atomically(weights_path, save(tensors))
        write_atomically(to, text.encode())
    except OSError as error:
        raise not_written(to, error) from None
    return to


def refuse_overwriting(paths: Sequence[Path]) -> None:
    """Refuse files that the export writes beside the one that was named. Raises `UserError`."""
    if paths:
        names = " and ".join(str(path) for path in paths)
        many = "s" if len(paths) > 1 else ""
        raise UserError(f"The export would overwrite the file{many} {names}. {REMEDY}")
