"""The table of operators in `docs/onnx.md`, from the lifts and from what is computed at the import.

`scripts/make_reference.py` writes it; a test compares.
"""

import re

import onnx

from netwright.engine.core.files import ROOT
from netwright.engine.exchange.importing.folding import FOLDED
from netwright.engine.exchange.importing.graph import MICROSOFT, OWN_DOMAIN
from netwright.engine.exchange.importing.lifts.lift_registry import lifts
from netwright.engine.project.layer_reference import COMMAND

PATH = ROOT / "docs" / "onnx.md"
_TABLE = re.compile(r"(<!-- operators: .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def of_onnx() -> dict[str, tuple[str, str]]:
    """Return for each operator of ONNX itself that becomes layers, or is computed at the import, the layers and the
    limits in words."""
    rows = {op: ("computed at the import", note) for op, note in FOLDED.items()}
    for (domain, op), lift in lifts().items():
        if not domain and onnx.defs.has(op):
            rows[op] = (", ".join(f"`{key}`" for key in lift.becomes) or "no layer", lift.note)
    return dict(sorted(rows.items()))


def of_runtime() -> dict[str, tuple[str, str]]:
    """Return the same for operators that are ONNX Runtime's alone."""
    rows = {
        op: (", ".join(f"`{key}`" for key in lift.becomes), lift.note)
        for (domain, op), lift in lifts().items()
        if domain == MICROSOFT or (domain != OWN_DOMAIN and not onnx.defs.has(op))
    }
    return dict(sorted(rows.items()))


def text(page: str) -> str:
    """Return the page with its table made anew. It stands between comments."""
    head = "| Operator | Layers | Limits |\n|---|---|---|\n"
    own, runtime = of_onnx(), of_runtime()
    table = (
        f"{len(own)} of ONNX's operators become layers, or are computed at the import:\n\n"
        f"{head}{''.join(map(_row, own.items()))}\n"
        f"and {len(runtime)} that are ONNX Runtime's (`{MICROSOFT}`):\n\n"
        f"{head}{''.join(map(_row, runtime.items()))}\n"
    )
    head_comment = f"<!-- operators: made by `{COMMAND}` -->\n"
    return _TABLE.sub(lambda match: f"{head_comment}{table}{match[2]}", page)


def _row(item: tuple[str, tuple[str, str]]) -> str:
    op, (layers, note) = item
    return f"| {op} | {layers} | {note} |\n"
