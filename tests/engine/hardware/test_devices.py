"""Looking at the machine: here, where torch has no CUDA, and in words for machines that are not here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError, UnavailableError, UserError
from netwright.engine.hardware import devices
from netwright.engine.hardware.accelerators import refusal_of
from netwright.engine.placement.batch_arithmetic import hardware_text
from netwright.engine.placement.choose import resolve
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions

ROOT = Path(__file__).parents[3]


def test_probing_leaves_torch_out_of_the_caller() -> None:
    code = "import sys\nfrom netwright.engine.hardware.devices import probe\nprint(probe())\n"
    code += "sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "DeviceInventory" in done.stdout


def test_the_short_look_agrees_with_torch_itself() -> None:
    """Where torch is built for the CPU one file is read; torch itself must say the same."""
    short = devices._without_devices()
    asked = devices.run_here("netwright.engine.hardware.devices", 120)
    if short is not None:
        assert short == asked
    assert set(asked) == {"devices", "backends", "torch_version", "no_devices_because"}


def test_the_cores_are_those_this_process_may_use() -> None:
    inventory = devices.probe()
    assert inventory.num_cores == len(os.sched_getaffinity(0))
    assert inventory.cpu_model
    assert inventory.memory_bytes > 2**20
    assert "gloo" in inventory.backends
    assert inventory.usable or inventory.no_devices_because


def test_a_torch_that_breaks_is_reported_in_its_words() -> None:
    with pytest.raises(RunError, match="No module named"):
        devices.run_here("netwright.engine.placement.nothing", 60)


@pytest.mark.parametrize(
    ("warned", "environ", "reason"),
    [
        (
            "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update",
            {"CUDA_VISIBLE_DEVICES": "0"},
            "the NVIDIA driver knows CUDA 11.4 and is too old for this torch (2.13.0): install a newer driver, "
            "or a torch for that CUDA",
        ),
        (
            "CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment. "
            "(Triggered internally at CUDAFunctions.cpp:119.)",
            {},
            "CUDA unknown error - this may be due to an incorrectly set up environment",
        ),
        (
            "",
            {"CUDA_VISIBLE_DEVICES": "-1"},
            "no GPU was found; CUDA_VISIBLE_DEVICES is set to '-1', and hides what it does not name",
        ),
        ("Something else", {}, "no GPU was found, or its driver is missing"),
    ],
)
def test_why_a_torch_for_gpus_finds_none(warned: str, environ: dict[str, str], reason: str) -> None:
    assert devices.reason_for_none("2.13.0", [warned], environ) == reason


def test_hardware_in_words() -> None:
    def words(inventory: DeviceInventory, **options: object) -> str:
        return hardware_text(resolve(EnvironmentOptions(**options), inventory, 64), inventory)

    cpu = DeviceInventory(4, "Some CPU")
    assert words(cpu, target="cpu", threads=1) == "Some CPU, 1 thread"
    assert words(cpu, target="multi-cpu", num_workers=2) == "Some CPU, 2 workers with up to 2 threads each"
    gpus = tuple(Device(f"cuda:{i}", "Fast GPU", 2**34) for i in range(3))
    machine = DeviceInventory(4, "Some CPU", devices=gpus, backends=("gloo", "nccl"))
    assert words(machine, target="gpu", devices=[1]) == "Fast GPU (cuda:1)"
    assert words(machine, target="multi-gpu", devices=[0, 2]) == "2 × Fast GPU (cuda:0, cuda:2)"


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("CUDA error: CUDA-capable device(s) is/are busy or unavailable\nmore", "it is taken by another program"),
        ("CUDA error: out of memory", "its memory is full; another program uses it"),
        ("CUDA error: no kernel image is available", "this torch is not built for this kind of GPU"),
        ("something else\nand more", "something else"),
    ],
)
def test_refusals_in_our_words(words: str, ours: str) -> None:
    assert refusal_of(words) == ours


def test_a_word_means_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_remembered", [])
    busy, free = Device("cuda:0", "H200", 2**37, "it is taken by another program"), Device("cuda:1", "H200", 2**37)
    devices.remember(DeviceInventory(8, devices=(busy, free)).write())
    monkeypatch.setattr(devices, "TorchAccelerators", lambda: None)
    monkeypatch.setattr(devices, "find", lambda _: [busy, free])
    assert [devices.device_named(word) for word in ("auto", "cpu", "gpu", "cuda:1")] == [
        "cuda:1",
        "cpu",
        "cuda:1",
        "cuda:1",
    ]
    with pytest.raises(UnavailableError, match="cuda:0: it is taken by another program"):
        devices.device_named("cuda:0")
    with pytest.raises(UnavailableError, match=r"no device cuda:7 .*cpu, cuda:0 and cuda:1"):
        devices.device_named("cuda:7")
    with pytest.raises(UserError, match=r"There is no device 'gpus'. Expected auto"):
        devices.device_named("gpus")
    devices.remember(DeviceInventory(8, no_devices_because="no GPU was found").write())
    monkeypatch.setattr(devices, "find", lambda _: [])
    assert devices.device_named("auto") == "cpu"
    with pytest.raises(UnavailableError, match="No GPU can be used: no GPU was found"):
        devices.device_named("gpu")
