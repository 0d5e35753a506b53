"""Checks and figures: of this machine for real, of machines with GPUs by fakes in the place of torch and the driver."""

import subprocess
import sys
from dataclasses import dataclass

from netwright.engine.core.errors import RunError
from netwright.engine.core.nvidia_driver import Readings
from netwright.engine.hardware.health import Build, checks, rendezvous
from netwright.engine.launch.machine_test import devices, examine
from tests.engine.hardware.test_accelerators import GIB, Fake


@dataclass
class FakeDriver:
    """A driver that answers."""

    version: str = "570.86"

    def readings(self, number: int) -> Readings:
        return Readings(10 * number, 40 + number)


CUDA = Build("2.13.0+cu130", "CUDA 13.0", ("sm_80", "sm_90"), lambda a, b: True)


def states(accelerators: Fake, build: Build = CUDA, driver: FakeDriver | str | None = None) -> dict[str, str]:
    return {
        f"{check.layer} {check.device}".strip(): f"{check.state}: {check.words}"
        for check in checks(accelerators, FakeDriver() if driver is None else driver, build)
    }


def test_a_whole_machine_is_well() -> None:
    assert states(Fake("cuda")) == {
        "driver": "ok: NVIDIA 570.86",
        "build": "ok: torch 2.13.0+cu130 for CUDA 13.0",
        "capability cuda:0": "ok: capability 9.0, computes with kernels of its own",
        "free memory cuda:0": "ok: 10.0 of 16.0 GiB are free",
        "capability cuda:1": "ok: capability 9.0, computes with kernels of its own",
        "free memory cuda:1": "ok: 10.0 of 16.0 GiB are free",
        "peer access": "ok: all devices reach each other's memory",
    }


def test_each_layer_says_what_is_wrong_with_it() -> None:
    broken = Fake("cuda", free=GIB, broken={1: "CUDA error: no kernel image is available"})
    far = Build("2.13.0+cu130", "CUDA 13.0", ("sm_80",), lambda a, b: False)
    found = states(broken, far, "nvidia-ml-py is not installed, which asks the driver")
    assert found["driver"].startswith("none: nvidia-ml-py is not installed")
    assert found["capability cuda:1"] == "failed: this torch is not built for this kind of GPU"
    assert found["free memory cuda:0"].startswith("failed: 1.0 of 16.0 GiB")
    assert "devices 0 and 1 reach each other through the CPU's memory" in found["peer access"]
    assert "install one for CUDA" in states(Fake("", 0), Build("2.13.0+cpu", ""))["build"]
    assert states(Fake("", 0), Build("2.13.0+cpu", ""), "no driver")["build"].startswith("none")


def test_devices_with_what_the_driver_reads() -> None:
    _, second = devices(Fake("cuda"), FakeDriver())
    assert (second["name"], second["capability"], second["driver"]) == ("cuda:1", "9.0", "570.86")
    assert (second["utilisation"], second["temperature"]) == (10, 41)


def test_the_cpu_is_told_before_torch_is_imported() -> None:
    code = (
        "import sys; from netwright.engine.launch.machine_test import examine\n"
        "assert next(examine())['device']['name'] == 'cpu'; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_workers_that_do_not_meet_are_reported() -> None:
    def fail() -> list[tuple[int, float]]:
        raise RunError("two workers did not meet over gloo within 60 s")

    check, sums = rendezvous(fail, "gloo")
    assert (check.state, check.words, sums) == ("failed", "two workers did not meet over gloo within 60 s", [])


def test_this_machine_is_examined() -> None:
    found = list(examine(0.001))
    assert found[0]["device"]["name"] == "cpu"
    assert found[-1] == {"done": True}
    layers = {one["check"]["layer"]: one["check"] for one in found if "check" in one}
    assert set(layers) >= {"driver", "build", "capability", "peer access", "rendezvous"}
    assert layers["rendezvous"]["state"] == "ok", layers["rendezvous"]["words"]
    figures = [one["figure"] for one in found if "figure" in one]
    assert {"sum over two workers", "matrix product", "convolution", "copy"} == {each["work"] for each in figures}
    assert {each["kind"] for each in figures} >= {"fp32", "bf16", "fp16", "fp64", "16 MiB"}
    assert all(each["value"] > 0 or each["refusal"] for each in figures)
