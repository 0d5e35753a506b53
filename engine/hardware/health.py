"""Checks that a machine can train, layer by layer: driver, build of torch, each device, and their connections."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from netwright.engine.core.errors import RunError
from netwright.engine.core.nvidia_driver import Driver, NvidiaDriver
from netwright.engine.hardware.accelerators import Accelerators, refusal_of

State = Literal["ok", "failed", "none"]


@dataclass(frozen=True)
class Check:
    """Result of checking one layer, for one device or for all (`device` empty). State `none`: nothing to check."""

    layer: str
    device: str
    state: State
    words: str


@dataclass(frozen=True)
class Build:
    """Build of the installed torch: version, platform, architectures of its kernels, and its test of peer access."""

    version: str
    built_for: str
    instructions: tuple[str, ...] = ()
    peers: Callable[[int, int], bool] | None = None


def build_here() -> Build:
    """Return the build of torch in this process."""
    import torch

    accelerator = torch.accelerator.current_accelerator()  # the type torch is built for, available or not
    if torch.version.hip is not None:
        return Build(torch.__version__, f"ROCm {torch.version.hip}")
    if torch.version.cuda is not None:
        arches, peers = tuple(torch.cuda.get_arch_list()), torch.cuda.can_device_access_peer
        return Build(torch.__version__, f"CUDA {torch.version.cuda}", arches, peers)
    return Build(torch.__version__, accelerator.type.upper() if accelerator is not None else "")


def driver_here() -> Driver | str:
    """Return the driver, or the reason why it cannot be queried."""
    import torch

    try:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        uuids = [getattr(torch.cuda.get_device_properties(i), "uuid", "") for i in range(count)]
        return NvidiaDriver([f"GPU-{uuid}" if uuid else "" for uuid in uuids])
    except RuntimeError as error:
        return str(error)


def checks(accelerators: Accelerators, driver: Driver | str, build: Build) -> Iterator[Check]:
    """Yield the checks from the driver upwards, each as it is done; `rendezvous` checks the connection of workers."""
    has_devices = accelerators.count > 0
    if isinstance(driver, str):
        yield Check("driver", "", "none", driver)
    else:
        yield Check("driver", "", "ok", f"NVIDIA {driver.version}")
    if build.built_for:
        yield Check("build", "", "ok", f"torch {build.version} for {build.built_for}")
    else:
        has_driver = not isinstance(driver, str)
        why = f"torch {build.version} is built for the CPU alone"
        way_out = "; install one for CUDA to use the GPU whose driver is here" if has_driver else ""
        yield Check("build", "", "failed" if has_driver else "none", why + way_out)
    for number in range(accelerators.count):
        yield from _of_device(accelerators, build, number)
    if not has_devices:
        yield Check("capability", "", "none", "no accelerator is here")
    yield from _peers(accelerators, build)


def _of_device(accelerators: Accelerators, build: Build, number: int) -> Iterator[Check]:
    name = f"{accelerators.kind}:{number}"
    try:
        capability = accelerators.capability(number)
        wrong = accelerators.product(number) != 512.0
        if wrong:
            yield Check("capability", name, "failed", "it computes wrong results")
        else:
            generation = f"capability {capability}, " if capability else ""
            own = f"sm_{capability.replace('.', '')}" in build.instructions
            how = "with kernels of its own" if own or not build.instructions else "with kernels for its kind"
            yield Check("capability", name, "ok", f"{generation}computes {how}")
        free, total = accelerators.memory(number)
        if total:
            words = f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB are free"
            yield Check("free memory", name, "ok" if free > total / 10 else "failed", words)
    except (RuntimeError, TypeError) as error:
        yield Check("capability", name, "failed", refusal_of(str(error)))


def _peers(accelerators: Accelerators, build: Build) -> Iterator[Check]:
    """Check that devices access each other's memory directly, not through that of the CPU."""
    count = accelerators.count
    if count < 2 or build.peers is None:
        words = "one device has no peers" if count == 1 else "no devices that could be peers"
        yield Check("peer access", "", "none", words if count < 2 else "torch cannot tell for this kind of device")
        return
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    far = [f"{a} and {b}" for a, b in pairs if not build.peers(a, b)]
    if far:
        words = f"devices {', '.join(far[:4])} reach each other through the CPU's memory only, which is slower"
        yield Check("peer access", "", "none", words)  # slower, but not a failure: common on small machines
    else:
        yield Check("peer access", "", "ok", "all devices reach each other's memory")


def rendezvous(meet: Callable[[], Sequence[tuple[int, float]]], backend: str) -> tuple[Check, list[tuple[int, float]]]:
    """Check that two workers meet; return the check and the pairs of `meet`, the second value in seconds."""
    try:
        timings = list(meet())
    except RunError as error:
        return Check("rendezvous", "", "failed", str(error)), []
    shortest = min(seconds for _, seconds in timings)
    words = f"two workers meet over {backend} on the loopback; the smallest sum takes {1000 * shortest:.2f} ms"
    return Check("rendezvous", "", "ok", words), timings
