"""A user's own data set in Python: samples, streaming, trust, and errors with the lines of the user's file."""

from pathlib import Path

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import facts, load
from netwright.engine.data.sources import python_code_reader
from netwright.engine.project.data import DataOptions
from netwright.engine.project.project import Project
from netwright.engine.project.user_code import code_files
from netwright.engine.user_code import registry, trust

OPTIONS = DataOptions(source="python", path="own.py", validation_share=0.25, test_share=0)
ITEMS = """
import torch
class Squares:
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return torch.full((3,), float(index)), index % 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    trust.grant(tmp_path)
    return tmp_path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at data sets in this process, for tests to which another one does not matter."""

    def ask(code: python_code_reader.Code, folder: Path) -> dict[str, tuple[list[int], str]]:
        *_, last = python_code_reader.look(code, folder)
        return dict(last["values"])

    monkeypatch.setattr(python_code_reader, "_ask", ask)


def write(folder: Path, text: str) -> None:
    (folder / "own.py").write_text(text)
    registry.forget()


@pytest.mark.parametrize("how", ["auto", "threads", "processes"])
def test_samples_of_a_class_of_items(folder, here, how):
    write(folder, ITEMS)
    data = load(OPTIONS.replace(readers=how), folder, is_streamed=how != "auto")
    assert data.facts.samples == {"training": 6, "validation": 2, "test": 0}
    assert data.facts.targets[0].classes == ("0", "1")
    training = data.split("training")
    expected = np.repeat(data.numbers["training"][:, np.newaxis], 3, 1)
    np.testing.assert_array_equal(training.inputs[0][:], expected.astype(np.float32))
    np.testing.assert_array_equal(training.targets[0], data.numbers["training"] % 2)


def test_a_function_that_returns_arrays_and_a_column_that_divides(folder, here):
    text = "import numpy as np\ndef dataset():\n    x = np.arange(12.0).reshape(6, 2)\n"
    write(folder, text + "    return {'x': x, 'y': x.sum(1), 'part': np.array(['train'] * 4 + ['test'] * 2)}\n")
    options = OPTIONS.replace(split="column", split_column="part", validation_share=0)
    data = load(options, folder)
    assert data.facts.samples == {"training": 4, "validation": 0, "test": 2}
    assert data.split("test").inputs[0].tolist() == [[8, 9], [10, 11]]
    assert data.split("test").targets[0].tolist() == [[17], [21]]


def test_the_attribute_targets_saves_reading_all_samples(folder):
    text = ITEMS.replace("class Squares:", "print('hello')\nclass Squares:\n    targets = [n % 2 for n in range(8)]")
    write(folder, text.replace("        return torch", "        assert index == 0\n        return torch"))
    assert facts(OPTIONS, folder).targets[0].classes == ("0", "1")


def test_nothing_runs_in_a_folder_that_is_not_trusted(folder, monkeypatch):
    write(folder, f"open({str(folder / 'ran')!r}, 'w')\n{ITEMS}")
    monkeypatch.setenv(trust.GRANTS, "[]")
    with pytest.raises(UserError, match=r"runs code of its own \(own\.py\).*is not trusted"):
        facts(OPTIONS, folder)
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("return torch", "raise ValueError('boom')\n        return torch"), r"own\.py, line 7: ValueError: boom"),
        (("return 8", "return 0"), r"own\.py: Squares has no samples"),
        (("index % 2", "[0] * (1 + index // 5)"), r"'y' of sample 5 is 2 of int64; that of sample 0 is 1 of int64"),
        ((", index % 2", ""), r"TypeError: a sample is a Tensor; expected a tuple \(x, y\)"),
        (("index % 2", "object()"), r"a value of the type object is no array, tensor, number or text"),
        (("def __len__", "def length"), r"is to hold a class with __len__ and __getitem__.*it has none"),
    ],
)
def test_errors_name_the_line_of_the_user(folder, change, words):
    write(folder, ITEMS.replace(*change))
    with pytest.raises(UserError, match=words):
        list(python_code_reader.look(python_code_reader.code_of(OPTIONS, folder / "own.py"), folder))


def test_samples_that_differ_are_named_as_they_are_read(folder):
    write(folder, ITEMS.replace("(3,)", "(3 + index // 5,)"))
    code = python_code_reader.code_of(OPTIONS, folder / "own.py")
    array = python_code_reader.PythonArray(code.path, "x", (8, 3), np.dtype(np.float32), origin=code)
    assert array.take(np.array([4, 1])).shape == (2, 3)
    with pytest.raises(UserError, match=r"'x' of sample 5 is 4 of float32; that of sample 0 is 3 of float32"):
        array.take(np.array([4, 5]))


def test_a_process_that_ends_is_said(folder):
    write(folder, ITEMS.replace("import torch", "import os, torch\nprint('hello')\nos._exit(3)"))
    with pytest.raises(UserError, match=r"own\.py: Squares ended the process with code 3"):
        facts(OPTIONS, folder)


def test_a_data_set_that_hangs_is_given_up(folder, monkeypatch):
    write(folder, ITEMS.replace("return 8", "import time\n        time.sleep(60)"))
    monkeypatch.setattr(python_code_reader, "PATIENCE_S", 0.2)
    with pytest.raises(UserError, match=r"own\.py: Squares made no progress"):
        facts(OPTIONS, folder)


def test_the_file_is_one_of_the_code_of_a_project():
    assert code_files(Project(data=OPTIONS)) == ("own.py",)
    assert code_files(Project(data=OPTIONS.replace(source="digits"))) == ()
