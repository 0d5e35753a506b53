"""Draw the rooms of the code, `docs/rooms.svg`, from the import contracts in `pyproject.toml`.

python scripts/make_architecture.py
"""

import ast
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "rooms.svg"
FIRST_HEAVY = "lowering"
WIDTH, ROW, GAP, LEFT = 800, 30, 6, 150
FILLS = {"window": "#dbe7f6", "heavy": "#f6e6d8", "light": "#dff0e2"}
LABELS = {"window": "Qt", "heavy": "torch, NumPy", "light": "standard library"}
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" font-family="sans-serif" font-size="13">'


def rooms() -> list[str]:
    """The rooms of the engine from high to low, as the layers contract lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(
        contract for contract in settings["contracts"] if contract.get("containers") == ["netwright.engine"]
    )
    return list(contract["layers"])


def purpose(package: str) -> str:
    """The first line of the docstring of a package or module."""
    folder = ROOT.joinpath(*package.split("."))
    text = (folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").replace("`", "").splitlines()[0]


def drawing() -> str:
    """The picture: a row for each room, high to low; a row imports only rows below it."""
    engine = rooms()
    kinds = dict.fromkeys(engine[: engine.index(FIRST_HEAVY) + 1], "heavy")
    rows = [("app", "window", "app"), ("designer", "window", "designer")]
    rows += [(f"engine.{room}", kinds.get(room, "light"), room) for room in engine]
    height = len(rows) * (ROW + GAP) + GAP + ROW
    lines = [HEAD.format(WIDTH, height), f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    for number, (package, kind, name) in enumerate(rows):
        y = GAP + number * (ROW + GAP)
        lines.append(f'<rect x="{GAP}" y="{y}" width="{WIDTH - 2 * GAP}" height="{ROW}" rx="5" fill="{FILLS[kind]}"/>')
        lines.append(f'<text x="{GAP + 12}" y="{y + 20}" font-weight="bold" fill="#1f2430">{name}</text>')
        lines.append(f'<text x="{LEFT}" y="{y + 20}" fill="#1f2430" font-size="12">{escape(purpose(package))}</text>')
    y = GAP + len(rows) * (ROW + GAP)
    for number, (kind, label) in enumerate(LABELS.items()):
        x = GAP + 12 + number * 170
        lines.append(f'<rect x="{x}" y="{y + 6}" width="14" height="14" rx="3" fill="{FILLS[kind]}"/>')
        lines.append(f'<text x="{x + 20}" y="{y + 18}" fill="#1f2430">{label}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PATH.write_text(drawing(), encoding="utf-8")
