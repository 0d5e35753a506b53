"""Tensors of an ONNX file: sizes and lengths are checked before memory is taken, numbers are read when they are needed.

External data is mapped, from files in the folder of the model alone.
"""

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.exchange.importing.graph import Constant

if TYPE_CHECKING:
    import onnx

MOST_ELEMENTS = 2**36
LONGEST_LOCATION = 4096
AGAIN = "Export it again, or copy it again from where it came."


def refused(path: Path, reason: str) -> UserError:
    """Return the error for a damaged file, with the reason as the end of a sentence."""
    return UserError(f"{path.name} cannot be read as ONNX: {printable(reason[:300])}.", hint=AGAIN)


def text(value: str | bytes) -> str:
    """Return a name; protobuf gives bytes for one that is not UTF-8."""
    return value if isinstance(value, str) else value.decode(errors="replace")


def constant(proto: "onnx.TensorProto", path: Path) -> Constant:
    """Return a tensor of the file at `path`. Raises `UserError` where sizes, format or place are wrong."""
    from onnx import TensorProto, helper

    name = text(proto.name) or "a tensor"
    shape = tuple(proto.dims)
    if any(size < 0 for size in shape):
        raise refused(path, f"{name} has the sizes {list(shape)}, of which one is negative")
    count = math.prod(shape)
    if count > MOST_ELEMENTS:
        raise refused(path, f"{name} has {count:,} numbers")
    if proto.data_type == TensorProto.STRING:
        if count != len(proto.string_data):
            raise refused(path, f"{name} has {len(proto.string_data):,} texts, and should have {count:,}")
        return Constant.of(
            np.array([text.decode(errors="replace") for text in proto.string_data], object).reshape(shape)
        )
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(proto.data_type))
    except (KeyError, ValueError, TypeError):
        raise refused(path, f"{name} has an unknown data type") from None
    if proto.data_location == TensorProto.EXTERNAL:
        return _external(proto, shape, dtype, path)
    _refuse_short(proto, count, dtype, path)

    def load() -> np.ndarray:
        from onnx import numpy_helper

        try:
            return np.asarray(numpy_helper.to_array(proto)).reshape(shape)
        except Exception as error:  # numpy raises what it likes on data that does not fit
            raise refused(path, f"the numbers of {name} are damaged ({type(error).__name__})") from None

    return Constant(shape, dtype, load)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype)


def _refuse_short(proto: "onnx.TensorProto", count: int, dtype: np.dtype[Any], path: Path) -> None:
    """Refuse a tensor whose sizes promise more numbers than there are, before memory is taken for them."""
    if proto.raw_data:
        amount = len(proto.raw_data) * 8
        bits = max(2, dtype.itemsize * 8)
        if "int4" in _name(dtype) or "float4" in _name(dtype):
            bits = 4
        elif "int2" in _name(dtype):
            bits = 2
        if amount < count * bits or amount > (count + 8) * bits:
            raise refused(
                path, f"{proto.name or 'a tensor'} has {amount // 8:,} bytes, and needs {count * bits // 8:,}"
            )
        return
    fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
    amount = max(len(getattr(proto, name)) for name in fields)
    least = count // 4 if "4" in _name(dtype) or "2" in _name(dtype).removeprefix("u") else count
    if amount < min(least, count) or (count == 0 and amount):
        raise refused(path, f"{proto.name or 'a tensor'} has {amount:,} numbers, and needs {count:,}")


def _external(proto: "onnx.TensorProto", shape: tuple[int, ...], dtype: np.dtype[Any], path: Path) -> Constant:
    """Return a tensor in another file. Raises `UserError` for a file outside the folder of the model."""
    entries = {text(entry.key): text(entry.value) for entry in proto.external_data}
    file = external_file(path, entries.get("location", ""))
    try:
        offset = int(entries.get("offset", "0") or 0)
        length = int(entries.get("length", "0") or 0)
    except ValueError:
        raise refused(path, f"the place of {proto.name} in its file is not a whole number") from None
    needed = math.prod(shape) * dtype.itemsize
    if not re.fullmatch(r"(u?int|float|bfloat|complex|bool).*", _name(dtype)) or (
        _name(dtype)[-1:] == "4" and dtype.itemsize == 1
    ):
        raise refused(path, f"{proto.name} has numbers of type {dtype} in another file, which is not read")
    if offset < 0 or (length and length < needed) or offset + needed > file.stat().st_size:
        raise refused(path, f"{proto.name} does not lie in {file.name}, which is too short")

    def load() -> np.ndarray:
        if not needed:
            return np.zeros(shape, dtype)
        try:
            return np.memmap(file, dtype=dtype, mode="c", offset=offset, shape=shape)  # writable, as torch wants it
        except (OSError, ValueError, OverflowError) as error:  # it is gone, or larger than the memory that is allowed
            raise refused(path, f"{proto.name} cannot be read from {file.name}: {error}") from None

    return Constant(shape, dtype, load)


def external_file(model: Path, location: str) -> Path:
    """Return the file of external data. Raises `UserError` unless it is a regular file in the folder of the model, or
    below it, that no link leads out of."""
    folder = model.resolve().parent
    parts = Path(location).parts
    if len(location) > LONGEST_LOCATION:
        raise refused(model, f"the name of a file with its numbers has {len(location):,} characters")
    if not location or "\0" in location or Path(location).is_absolute() or ".." in parts or "\\" in location:
        raise UserError(
            f"{model.name} names the file {printable(location[:200])!r} for its numbers, outside its folder."
        )
    try:
        resolved = (folder / location).resolve()
        is_file = resolved.is_file()
    except (OSError, RuntimeError, ValueError) as error:  # a name or a chain of links that the system does not take
        reason = getattr(error, "strerror", None) or "its links lead nowhere"
        raise refused(model, f"its numbers in {location[:200]!r} cannot be read: {reason}") from None
    if not resolved.is_relative_to(folder):
        raise UserError(
            f"{model.name} names the file {printable(location[:200])!r}, a link that leads out of its folder."
        )
    if not is_file:
        raise UserError(
            f"{model.name} has its numbers in {printable(location[:200])}, which is not beside it.",
            hint="Copy that file into the same folder.",
            code="not_found",
        )
    return resolved
