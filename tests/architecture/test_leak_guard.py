"""The guard in conftest.py finds what a test leaves behind; a guard that finds nothing would look the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
CHILD = """
import subprocess, sys
kept = []
def test_child():
    kept.append(subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait(60)"]))
"""
# Detached as a run is: a session of its own, and its parent is gone.
ORPHAN = '''
import subprocess, sys
CODE = "import threading; print(1, flush=True); threading.Event().wait(60)"
START = f"""import subprocess, sys
orphan = subprocess.Popen([sys.executable, '-c', {CODE!r}], start_new_session=True, stdout=subprocess.PIPE)
orphan.stdout.readline()  # until it runs its own program, its environment cannot be read
"""
def test_orphan():
    subprocess.run([sys.executable, "-W", "ignore", "-c", START], check=True, stdout=subprocess.DEVNULL)
'''
THREAD = """
import threading
end = threading.Event()
def test_thread():
    threading.Thread(target=end.wait, args=(5,), name="forgotten").start()
"""
FILE = """
import tempfile
def test_file():
    tempfile.mkdtemp(prefix="forgotten-")
"""
OF_ANOTHER = """
import subprocess, sys
def test_file():
    subprocess.run([sys.executable, "-c", "import tempfile; tempfile.mkstemp(prefix='forgotten-')"], check=True)
"""
CLEAN = """
import subprocess, sys, tempfile, threading
def test_clean(tmp_path):
    with tempfile.NamedTemporaryFile(), tempfile.TemporaryDirectory():
        pass
    subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.DEVNULL).wait()
    threading.Thread(target=tmp_path.exists).start()
"""


def _run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    # With little patience, so that waiting for what never ends takes no time here.
    text = CONFTEST.read_text(encoding="utf-8").replace("ENDING_PATIENCE_S = 30.0", "ENDING_PATIENCE_S = 1.0")
    assert "ENDING_PATIENCE_S = 1.0" in text
    (folder / "conftest.py").write_text(text, encoding="utf-8")
    (folder / "test_it.py").write_text(source, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:pytest-qt", str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (CHILD, "left behind: process"),
        (ORPHAN, "left behind: process"),
        (THREAD, "left behind: thread 'forgotten'"),
        (FILE, "left behind: temporary file 'forgotten-"),
        (OF_ANOTHER, "left behind: temporary file 'forgotten-"),
    ],
)
def test_what_a_test_leaves_behind_fails_it(tmp_path: Path, source: str, words: str) -> None:
    done = _run(tmp_path, source)
    assert done.returncode == 1, done.stdout + done.stderr
    assert words in done.stdout


def test_a_clean_test_passes(tmp_path: Path) -> None:
    done = _run(tmp_path, CLEAN)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_home_is_private() -> None:
    home = Path(os.environ["HOME"])
    assert "netwright-tests-" in str(home)
    assert os.environ["XDG_CONFIG_HOME"].startswith(str(home))
