"""Write the schemas and the pages of the documentation that are made from the code.

    .venv/bin/python scripts/make_reference.py

Tests compare them with the code.
"""

from collections.abc import Iterator
from pathlib import Path

from netwright.engine.cli import schema_command as outputs
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.files import ROOT, write_atomically
from netwright.engine.exchange.importing import operator_reference as operators
from netwright.engine.operations import docs
from netwright.engine.project import layer_reference, reference, schema

CLUSTERS = ROOT / "docs" / "clusters.md"


def clusters_text(page: str) -> str:
    """Return the page on clusters with its table of the fields of a profile made anew."""
    rows = [layer_reference.row(field) for field in ClusterProfile.fields.values()]
    head = "| Field | Default | Takes | Meaning |\n|---|---|---|---|\n"
    return reference.with_tables(page, {"fields": head + "\n".join([*rows, ""])})


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each file with its text, those that others are part of first."""
    yield schema.PATH, schema.text()
    yield layer_reference.PATH, layer_reference.text()
    yield reference.PATH, reference.text()
    parts = (
        (reference.DATA_PATH, reference.data_text),
        (reference.EXPORT_PATH, reference.export_text),
        (operators.PATH, operators.text),
        (CLUSTERS, clusters_text),
    )
    for path, make in parts:
        yield path, make(path.read_text(encoding="utf-8"))
    yield from outputs.generated()
    yield docs.INDEX, docs.llms_text()


def main() -> None:
    """Write those that have changed."""
    for path, text in pages():
        before = path.read_text(encoding="utf-8") if path.exists() else None
        if text != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text.encode())
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
