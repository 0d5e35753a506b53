"""A user's own data set in a file of Python."""

from netwright.engine.core.fields import Text
from netwright.engine.core.records import Record
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType


class PythonOptions(Record):
    """Options of data sets in Python alone."""

    python_name = Text(
        "",
        label="Class or function",
        group="Source",
        help="Class with __len__ and __getitem__, or function without arguments that returns such a data set or arrays."
        " Default: the only one of the file. torch: torch.utils.data.Dataset",
    )


class PythonCode(SourceType):
    """Samples that a user's own Python code makes."""

    key, label = "python", "Python data set"
    note = "A class with __len__ and __getitem__, or a function, in a Python file of a trusted folder"
    wanted = "the Python file"
    inputs = "what `__getitem__` returns before the last value, or the values of a dictionary ([Python](#python))"
    targets = "the last value, or `y` and `y_NAME` of a dictionary"
    options = PythonOptions
    uses = ("path", "response", "task", "integer_arrays", "ignored_value", "loading", "readers", "split_column")
    suffixes, files = (".py",), "Python"
    reader = "netwright.engine.data.sources.python_code_reader:PythonData"
    can_stream = True
    streamed = "all samples, made by the code on demand"
    resident = "targets"

    @property
    def noun(self) -> str:
        """The label within a sentence, with the name of the language in capitals."""
        return self.label

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for a Python file with a class that gives items."""
        if peek.suffix != ".py" or not (b"def __getitem__" in peek.head or b"def dataset(" in peek.head):
            return None
        return Guess(self.key, 0.9, "The file defines a data set in Python")
