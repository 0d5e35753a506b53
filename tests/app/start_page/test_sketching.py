"""The process that sketches: its lines, and that it loads neither Qt nor what it does not need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.documents import EXAMPLES
from app.start_page import sketching
from app.start_page.sketch import sketch_of

ROOT = Path(sketching.__file__).parents[2]
DIGITS = EXAMPLES / "digits.netwright"


def test_stamps_come_first_and_what_is_known_is_not_drawn(tmp_path: Path) -> None:
    wanted = [(DIGITS, ""), (tmp_path / "none.netwright", ""), (DIGITS, sketching.stamp_of(DIGITS)), (tmp_path, "")]
    command = [sys.executable, "-m", *sketching.arguments(wanted)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    stamp = sketching.stamp_of(DIGITS)
    answers = [sketching.answer(line) for line in done.stdout.splitlines()]
    assert answers == [(0, stamp), (1, ""), (2, stamp), (3, ""), (0, sketch_of(DIGITS))]


def test_it_needs_neither_qt_nor_torch_nor_numpy() -> None:
    code = (
        "import json, sys\nfrom app.start_page import sketching\n"
        "known = 'engine.project.file' in sys.modules\nsketching.main(['', sys.argv[1]])\n"
        "print(json.dumps([known, *sorted({'PySide6', 'torch', 'numpy'} & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(DIGITS)], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [False], "the engine is imported for what is new only"


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b"[0, 1]", b'[0, {"bars": 1}]', b'["x", ""]', b"\xff"])
def test_anything_else_is_no_answer(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whichever: it is passed over
        sketching.answer(line)
