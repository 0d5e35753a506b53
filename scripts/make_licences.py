"""Writes docs/licences.md and docs/netwright.cdx.json: what Netwright is delivered with and needs, with licences.

    .venv/bin/python scripts/make_licences.py

Names and versions are those of lock.txt, licences those that the installed packages state. The second file is a
software bill of materials in the format CycloneDX 1.6, which the wheel carries among its metadata (PEP 770). The
libraries of the CUDA builds of torch are left out: they are not installed where this is written.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from netwright.engine.core.files import write_atomically
from netwright.engine.core.version import VERSION
from scripts.locked import ROOT, Locked, needed, read

PAGE = ROOT / "docs" / "licences.md"
BILL = ROOT / "docs" / "netwright.cdx.json"
GROUPS = (
    ("The engine", ""),
    ("The window", "gui"),
    ("Readers of data files", "data"),
    ("Explanations", "explain"),
    ("Baselines", "baselines"),
    ("Experiments", "experiments"),
)
INSIDE = (
    ("Netwright", "all that is not named below", "Apache-2.0", "LICENSE"),
    ("Inter, a typeface", "resources/fonts/", "OFL-1.1", "resources/fonts/OFL.txt"),
    ("Handwritten digits of UCI", "resources/data/digits.npz", "CC-BY-4.0", "resources/data/ATTRIBUTION.md"),
    ("The same digits for an autoencoder", "resources/data/codes.npz", "CC-BY-4.0", "resources/data/ATTRIBUTION.md"),
)
"""What is in the wheel: name, files, licence, and the file that states it."""
OF_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF",
}
LONGEST = 60
"""Characters of a licence that is stated in words; longer ones are its whole text."""


def licence(name: str) -> str | None:
    """Return the licence that an installed package states; None where it is not installed."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return None
    if expression := (metadata.get_all("License-Expression") or [""])[0]:
        return str(expression)
    stated = str((metadata.get_all("License") or [""])[0])
    if stated and "\n" not in stated and len(stated) <= LONGEST:
        return stated
    classifiers = metadata.get_all("Classifier") or []
    names = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    return " or ".join(OF_CLASSIFIERS.get(text, text) for text in names) or "unknown"


def groups() -> Iterator[tuple[str, dict[str, Locked]]]:
    """Yield each heading with the packages that come with it and with none before it. torch is the engine's."""
    lock = read()
    before: set[str] = set()
    for title, extra in GROUPS:
        packages = {
            name: package
            for name, package in needed(lock, frozenset(filter(None, [extra]))).items()
            if name not in before and (name == "torch" or not package.is_of_torch) and licence(name) is not None
        }
        before |= set(packages)
        yield title, packages


def page() -> str:
    """Return the page of the documentation."""
    lines = [
        "# Licences",
        "",
        "Written by `scripts/make_licences.py` from `lock.txt` and what the installed packages state. The wheel "
        "has the same as a software bill of materials, [CycloneDX 1.6](netwright.cdx.json), in `.dist-info/sboms/`.",
        "",
        "## In the wheel",
        "",
        "| what | files | licence | stated in |",
        "|---|---|---|---|",
        *(f"| {name} | {files} | {text} | `{where}` |" for name, files, text, where in INSIDE),
        "",
        "Everything else is installed beside it, from the package index, under the licence of its authors. Qt and "
        "PySide6 are used under LGPL-3.0: as libraries that can be replaced. The builds of PyTorch for NVIDIA GPUs "
        "bring CUDA libraries under NVIDIA's own terms.",
    ]
    for title, packages in groups():
        if packages:
            lines += ["", f"## {title}", "", "| package | version | licence |", "|---|---|---|"]
            lines += [f"| {name} | {package.version} | {licence(name)} |" for name, package in packages.items()]
    return "\n".join(lines) + "\n"


def _licences(text: str) -> list[dict[str, Any]]:
    """Return a licence as CycloneDX has it: an expression of SPDX, or a name."""
    is_expression = re.fullmatch(r"[\w.+-]+-[\d.]+\S*( (AND|OR|WITH) [\w.+-]+)*", text) is not None
    return [{"expression": text} if is_expression else {"license": {"name": text}}]


def _component(name: str, package: Locked, *, is_required: bool) -> dict[str, Any]:
    url = f"pkg:pypi/{name}@{package.version}"
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": package.version,
        "scope": "required" if is_required else "optional",
        "licenses": _licences(str(licence(name))),
        "purl": url,
    }


def _edges(packages: Mapping[str, Locked], direct: Sequence[str]) -> list[dict[str, Any]]:
    def references(names: Sequence[str]) -> list[str]:
        return [f"pkg:pypi/{name}@{packages[name].version}" for name in sorted(names)]

    ours = {"ref": f"pkg:pypi/netwright@{VERSION}", "dependsOn": references(direct)}
    return [ours] + [
        {
            "ref": f"pkg:pypi/{name}@{package.version}",
            "dependsOn": references([child for child, other in packages.items() if name in other.parents]),
        }
        for name, package in packages.items()
    ]


def bill() -> str:
    """Return the bill of materials. It has no date and no serial number, so that it is the same on each machine."""
    by_group = [packages for _, packages in groups()]
    packages = {name: package for group in by_group for name, package in group.items()}
    _, *others = INSIDE
    inside = [
        {"type": "file", "bom-ref": files, "name": name, "scope": "required", "licenses": _licences(text)}
        for name, files, text, _ in others
    ]
    root = f"pkg:pypi/netwright@{VERSION}"
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "netwright",
                "version": VERSION,
                "licenses": _licences("Apache-2.0"),
                "purl": root,
                "components": inside,
            }
        },
        "components": [
            _component(name, package, is_required=name in by_group[0]) for name, package in packages.items()
        ],
        "dependencies": _edges(
            packages, [name for name, package in packages.items() if "netwright" in package.parents]
        ),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Return each file with its text."""
    return {PAGE: page(), BILL: bill()}


def main() -> None:
    """Write both."""
    for path, text in files().items():
        write_atomically(path, text.encode())


if __name__ == "__main__":
    main()
