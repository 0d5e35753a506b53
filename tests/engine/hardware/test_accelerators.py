"""Devices of any maker, by a fake in the place of torch's answers: there is none where the tests run."""

from dataclasses import dataclass, field

import pytest

from netwright.engine.core.errors import UnavailableError
from netwright.engine.hardware.accelerators import TorchAccelerators, find
from netwright.engine.placement.choose import joined_by, resolve
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions

GIB = 2**30


@dataclass
class Fake:
    """So many devices of one kind, of which some refuse."""

    kind: str
    count: int = 2
    free: int = 10 * GIB
    total: int = 16 * GIB
    sums: float = 512.0
    broken: dict[int, str] = field(default_factory=dict)

    def model(self, number: int) -> str:
        return f"Fast {self.kind}"

    def memory(self, number: int) -> tuple[int, int]:
        return self.free, self.total

    def capability(self, number: int) -> str:
        return "9.0" if self.kind == "cuda" else ""

    def product(self, number: int) -> float:
        if number in self.broken:
            raise (TypeError if "float64" in self.broken[number] else RuntimeError)(self.broken[number])
        return self.sums


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps"])
def test_devices_are_named_as_torch_names_them(kind: str) -> None:
    one, two = find(Fake(kind, broken={1: "error: out of memory\nmore"}))
    assert one == Device(f"{kind}:0", f"Fast {kind}", 16 * GIB)
    assert (one.kind, two.number) == (kind, 1)
    assert two.refusal == "its memory is full; another program uses it"


def test_a_device_is_refused_for_what_it_shows() -> None:
    assert find(Fake("cuda", 1, free=GIB // 8))[0].refusal == (
        "only 128 MiB of its 16 GiB are free; another program uses it"
    )
    assert find(Fake("xpu", 1, sums=511.0))[0].refusal == "it computes wrong results"
    assert find(Fake("mps", 1, free=0, total=0))[0].refusal == ""  # not known is no reason


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (
            "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.",
            "double precision",
        ),
        ("Required aspect fp64 is not supported on the device", "double precision"),
        ("CUDA error: CUDA driver version is insufficient for CUDA runtime version", "driver is too old"),
        ("CUDA error: all CUDA-capable devices are busy or unavailable\nSearch for it", "taken by another program"),
        ("CUDA error: no kernel image is available for execution on the device", "not built for this kind of GPU"),
        ("CUDA error: unspecified launch failure\nSearch for it", "CUDA error: unspecified launch failure"),
    ],
)
def test_a_device_that_training_could_not_use_is_found_out_before_it_is_chosen(said: str, refusal: str) -> None:
    (device,) = find(Fake("cuda", 1, broken={0: said}))
    assert refusal in device.refusal
    assert resolve(EnvironmentOptions(), DeviceInventory(2, devices=(device,)), 64).resolved == "cpu"


def test_torch_answers_here_as_well() -> None:
    here = TorchAccelerators()
    assert len(find(here)) == here.count


def machine(kind: str, *backends: str) -> DeviceInventory:
    return DeviceInventory(16, devices=tuple(find(Fake(kind))), backends=backends)


def test_what_joins_the_devices_and_why() -> None:
    assert joined_by(machine("cuda", "gloo", "nccl")) == ("nccl", "")
    assert joined_by(machine("xpu", "gloo", "xccl")) == ("xccl", "")
    assert joined_by(machine("mps", "gloo"))[0] == ""
    assert joined_by(machine("toy", "gloo", "toyccl")) == ("toyccl", "")  # by the package of a vendor
    assert joined_by(machine("toy", "gloo")) == ("", "nothing joins toy devices")
    several = EnvironmentOptions(target="multi-gpu")
    said = resolve(several, machine("xpu", "gloo", "xccl"), 64).sentence
    assert said == "2 workers over xccl on Fast xpu (xpu:0, xpu:1), 32 samples each."
    slow = resolve(several, machine("cuda", "gloo"), 64)
    assert slow.backend == "gloo"
    assert "over gloo (this build of torch has no nccl, which joins the GPUs)" in slow.sentence
    auto = resolve(EnvironmentOptions(), machine("cuda", "gloo"), 64)
    assert auto.resolved == "gpu"
    assert auto.sentence.endswith(
        "Chosen because this build of torch has no nccl, which joins the GPUs; gloo can, slowly: choose multi-gpu "
        "for that."
    )
    with pytest.raises(UnavailableError, match="no xccl"):
        resolve(several, machine("xpu", "gloo"), 64)
