"""Compute an answer in the folder of its job on a cluster: see `netwright.engine.cluster.answer_job`.

python -m netwright.engine.core.child netwright.engine.cluster.answer_program FOLDER
"""

import io
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.dataclass_json import to_json
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.progress import Throttle, listening, noticing
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.operations.operation import installed_operation


def main(arguments: Sequence[str]) -> int:
    """Compute the answer in the folder of the arguments; return the exit code."""
    folder = Path(arguments[0])
    project, target = folder / "project", folder / "run"
    asked = json.loads((project / "request.json").read_text(encoding="utf-8"))
    calm_threads()
    (project / "files").mkdir(exist_ok=True)
    os.chdir(project / "files")
    target.mkdir(exist_ok=True)
    for place in range(asked["written"]):
        (target / "answers" / "written" / str(place)).mkdir(parents=True, exist_ok=True)
    before = _files_in(project, asked["kept"])
    with noticing() as notices, listening(Throttle(lambda *state: print(json.dumps({"progress": state})), every_s=1.0)):
        try:
            answer = _answer(asked["operation"], asked["values"])
        except UserError as error:
            answer = {"error": error.write()}
    for file, _ in {*_files_in(project, asked["kept"]).items()} - {*before.items()}:
        copy = target / "answers" / file.relative_to(project)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)
    content = json.dumps({**answer, "notices": notices}, default=_array)
    (target / "result.json").write_text(content, encoding="utf-8")
    return EXIT_DONE


def _answer(operation: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kind of a result and its fields, with those that are unwritten. Raises `UserError`."""
    declared = installed_operation(operation)
    result = declared.whole(declared.run(declared.read(values)))
    unwritten = {name: to_json(getattr(result, name)) for name in getattr(result, "unwritten", ())}
    return {"kind": type(result).__name__, "values": {**to_json(result), **unwritten}}


def _files_in(project: Path, folders: Sequence[str]) -> dict[Path, tuple[int, int]]:
    """Return the files in folders with time and size."""
    files = (file for folder in folders for file in (project / folder).rglob("*") if file.is_file())
    return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _array(value: Any) -> Any:
    """Return an array or a number of NumPy as JSON."""
    if not isinstance(value, np.ndarray):
        return value.item()
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return {"npy": buffer.getvalue().hex()}
