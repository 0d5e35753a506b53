"""The window's request to import a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.engine.exchange.importing.importer import ImportOptions, import_file
from netwright.engine.exchange.importing.module_file import import_module, read_example


def answer(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Import a file, in a process that ends with this request: it reads a stranger's file and computes with torch.

    `class` names a module of a Python file, which runs in a process of its own if its folder is trusted; `compares`
    false leaves out the comparison with the original, `copies_shared` false refuses layers that share weights.
    """
    sizes = {str(name): int(size) for name, size in (values.get("sizes") or {}).items()}
    path, to = Path(values["path"]), Path(values["to"])
    options: ImportOptions = {
        "sizes": sizes,
        "replaces": values.get("replaces") is True,
        "copies_shared": values.get("copies_shared") is not False,
    }
    if name := values.get("class"):
        examples = [read_example(str(text)) for text in values.get("inputs") or ()]
        built_with = str(values.get("arguments") or "")
        return import_module(path, str(name), to, examples, built_with, **options).write()
    options["compares"] = values.get("compares") is not False
    return import_file(path, to, **options).write()
