"""The project section `constants`: the file beside the project with the constants of imported ONNX operators.

The file is in the format of safetensors. Its header (number formats and sizes by name) is read here without torch, so
that a problem shows at once; the numbers, and the checksum, are read by `netwright.engine.lowering.read_constants`.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import FilePath, Text, path_part
from netwright.engine.core.files import open_file
from netwright.engine.core.records import Record
from netwright.engine.layers.onnx_operator import OnnxOperator, read_constant
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem

SUFFIX = ".safetensors"
HEADER_LIMIT_BYTES = 2**25
FORMATS = {
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "BOOL": "bool",
    "C64": "complex64",
}
"""Names of number formats in safetensors, and in numpy."""
WAY_OUT = "Bring the file back, or import the ONNX file again."


class ConstantsFile(Record):
    """The file with the constants of imported ONNX operators."""

    file = FilePath(
        "", pattern=f"Constants (*{SUFFIX})", help="File with the constants of imported ONNX operators, in safetensors"
    )
    sha256 = Text("", label="SHA-256", help="Checksum of the file; the file is refused where its own differs")

    def problems(self) -> list[FieldError]:
        """Return the errors of the file's name."""
        errors = super().problems()
        if self.file and not self.file.endswith(SUFFIX):
            errors.append(FieldError("file", f"the name of the file ends in {SUFFIX}."))
        return errors


Stored = dict[str, tuple[str, tuple[int, ...]]]
"""Number format and sizes of each constant by its name."""


def operators(network: Network, path: tuple[str, ...] = (), name: str = "") -> Iterator[tuple[Problem, OnnxOperator]]:
    """Yield each ONNX operator that is not bypassed, also in blocks, and a note at its place without a message."""
    for id, layer in network.layers.items():
        if layer.bypassed:
            continue
        if isinstance(layer.type, OnnxOperator):
            place = Problem("note", id, layer.name, "", "")
            yield place, layer.type
        elif isinstance(layer.type, Block):
            for place, type in operators(layer.type.network):
                yield place.lifted(id, layer.name), type


def has_constants(network: Network) -> bool:
    """Return whether any ONNX operator of the network has constants in the file."""
    return any(type.constants for _, type in operators(network))


def constants_path(record: ConstantsFile, base: Path) -> Path:
    """Return the path of the file: as named in the project, whose folder is `base`, else of the same name beside it, as
    in a run folder."""
    path = base / record.file
    return path if path.exists() else base / path.name if (base / path.name).exists() else path


def checked_constants(network: Network, record: ConstantsFile, base: Path) -> Path | None:
    """Return the path of the constants that the network needs, or None where it needs none.

    Raises `UserError` where the file is not the one that the project names.
    """
    if not has_constants(network):
        return None
    path = constants_path(record, base)
    try:
        with open_file(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        message = f"The constants {path} cannot be read: {error.strerror or error}."
        raise UserError(message, hint=WAY_OUT) from error
    if digest != record.sha256:
        message = f"The constants {path} changed: their SHA-256 is not {record.sha256[:16] or 'in the project'}."
        raise UserError(message, hint=WAY_OUT, code="changed")
    return path


def constants_problems(network: Network, record: ConstantsFile, base: Path) -> Iterator[Problem]:
    """Yield the problems of a network whose constants are missing, in the project's folder `base`."""
    needing = [(place, type) for place, type in operators(network) if type.constants and not type.problems()]
    if not needing or record.problems():
        return
    stored: Stored | str = "No file with constants is named in the project"
    path = constants_path(record, base)
    if record.file:
        try:
            status = os.stat(path)
            stored = _header(path, status.st_mtime_ns, status.st_size)
        except OSError as error:
            stored = f"The file {path} with the constants of ONNX operators cannot be read: {error.strerror}"
    if isinstance(stored, str):
        yield Problem("error", "", "", "constants.file", f"{stored}. {WAY_OUT}")
        return
    for place, type in needing:
        fault = next((reason for text in type.constants if (reason := fault_of(stored, text))), "")
        if fault:
            message = f"{fault} in {path.name}. Import its ONNX file again, or delete the layer."
            yield place.with_message("error", "constants", message)


def fault_of(stored: Stored, text: str) -> str:
    """Return the error of a layer's constant, compared with those of the file, or ''."""
    name, dtype, sizes = read_constant(text)
    if name not in stored:
        return f"The constant '{path_part(name)}' is missing"
    if stored[name] != (dtype, sizes):
        other, other_sizes = stored[name]
        expected = f"{dtype} {' × '.join(map(str, sizes)) or 'one number'}"
        return (
            f"The constant '{path_part(name)}' is {other} {' × '.join(map(str, other_sizes)) or 'one number'} instead "
            f"of {expected}"
        )
    return ""


@lru_cache(maxsize=8)
def _header(path: Path, changed: int, size: int) -> Stored | str:
    """Return the constants of a file by name, or its error. Raises `OSError`."""
    with open_file(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(HEADER_LIMIT_BYTES, size):
            return f"The file {path} is no safetensors file, or is damaged"
        text = file.read(length)
    try:
        header = json.loads(text)
        header.pop("__metadata__", None)
        return {name: (FORMATS.get(entry["dtype"], ""), tuple(entry["shape"])) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return f"The file {path} is no safetensors file, or is damaged"
