"""NumPy arrays in a `.npz` file or a folder of `.npy` files."""

from engine.core.fields import Choice
from engine.core.records import Record
from engine.project.sources.base import Guess, Peek, SourceType

_MAGIC = {".npz": b"PK", ".npy": b"\x93NUMPY"}


class ArrayOptions(Record):
    """Options of arrays alone."""

    integer_arrays = Choice(
        "indices",
        options=("indices", "numbers"),
        notes={
            "indices": "Sequences of indices, such as words, for an embedding",
            "numbers": "Features, as arrays of fractions are",
        },
        group="Source",
        help="What input arrays of integers with two axes, N T, hold. Default indices. torch: the dtype says it, long"
        " or float",
    )


class Arrays(SourceType):
    """Inputs and targets as NumPy arrays."""

    key, label = "arrays", "NumPy arrays"
    note = "Arrays in a NumPy .npz file, or in a folder of .npy files, of which one may be named"
    wanted = "the .npz file"
    inputs = (
        "the other arrays of a NumPy `.npz` file, or of a folder of `.npy` files named after the arrays (`path` may be "
        "any one of these files)"
    )
    targets = "`y`, or `y_NAME` for each output `NAME`, or the arrays that `response` names"
    options = ArrayOptions
    uses = ("path", "response", "task", "ignored_value", "loading")
    takes = "both"
    suffixes, files = (".npz", ".npy"), "NumPy arrays"
    reader = "engine.data.sources.arrays:ArrayFile"
    can_stream = True
    streamed = "files of `numpy.savez` and `numpy.save`, read in place"
    resident = "targets; files of `numpy.savez_compressed` and arrays in Fortran order, as a whole"

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for files of NumPy, by suffix and first bytes, and for folders of them."""
        if not peek.is_folder:
            if not peek.head.startswith(_MAGIC.get(peek.suffix, b"\0none")):
                return None
            what = "several NumPy arrays" if peek.suffix == ".npz" else "a NumPy array, and those beside it"
            return Guess(self.key, 0.95, f"The file holds {what}")
        names = [name for name in peek.tree.get("", ()) if name.lower().endswith(".npy")]
        if not names:
            return None
        shown = ", ".join(names[:4]) + (" and more" if len(names) > 4 else "")
        return Guess(self.key, 0.9, f"The folder holds NumPy arrays: {shown}")
