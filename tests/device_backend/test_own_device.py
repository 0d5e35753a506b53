"""Training on a device type of our own, built here: the tests that wait for a GPU, and some of what no GPU can show."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.device_backend import build

ROOT = Path(__file__).parents[2]
PATIENCE_S = 900
GPU = (
    "a_gpu_gives_the_numbers_of_the_cpu[adam]",
    "every_precision_learns[bf16]",
    "every_precision_learns[fp16]",
    "a_run_goes_on_from_its_checkpoint_to_the_bit",
    "streamed_pictures_give_the_numbers_of_those_in_memory",
    "several_gpus_are_one[ddp]",
    "several_gpus_are_one[sharded]",
    "evaluating_on_a_gpu_says_what_the_cpu_says",
)
"""Of `make gpu`. Three of the others cannot pass here: nothing compiles for this device, and 200 GiB are real."""
CASES = {
    "as a GPU": [f"tests/system/test_gpu.py::test_{name}" for name in GPU],
    "as itself": ["tests/device_backend/on_toy.py"],
}


@pytest.fixture(scope="module")
def toy() -> Path:
    """The folder with the device type."""
    if sys.platform != "linux":
        pytest.skip("the device type is built on Linux")
    if shutil.which(build.COMPILER) is None:
        pytest.skip(f"there is no compiler {build.COMPILER}")
    return build.build()


@pytest.mark.timeout(PATIENCE_S)
@pytest.mark.parametrize("case", CASES)
def test_our_device_code_trains_on_a_device_of_our_own(case: str, toy: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-n", "0", "-p", "no:cacheprovider", *CASES[case]]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**environment, **build.variables(toy)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "skipped" not in done.stdout
