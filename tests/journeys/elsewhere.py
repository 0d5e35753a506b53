"""Another machine: an interpreter that has no Netwright, only what an exported file needs."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE_S = 300.0


def run_elsewhere(code: str, folder: Path, *arguments: str) -> str:
    """Run code as somebody who was sent the file would, in the folder of the file; return what it printed."""
    guarded = f"import sys; sys.modules.update(engine=None, app=None, designer=None)\n{code}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-I", "-c", guarded, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{code}\n{done.stderr}"
    return done.stdout
