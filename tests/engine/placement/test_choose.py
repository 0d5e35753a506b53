"""From what is asked for and what a machine has to what is used, on machines that are not here."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import EXIT_INPUT, EXIT_UNAVAILABLE, UnavailableError, UserError
from netwright.engine.placement.choose import available, resolve, shares
from netwright.engine.placement.inventory import ClusterSize, Device, DeviceInventory
from netwright.engine.project.environment import TARGETS, EnvironmentOptions

BOTH = ("gloo", "nccl")
BUSY = "only 300 MiB of its 80 GiB are free; another program uses it"


def gpu(number: int, refusal: str = "", model: str = "NVIDIA H200") -> Device:
    """One GPU."""
    return Device(f"cuda:{number}", model, 140 * 2**30, refusal)


LAPTOP = DeviceInventory(num_cores=8, no_devices_because="no GPU was found")
ONE_CORE = DeviceInventory(num_cores=1, no_devices_because="this torch (2.13.0+cpu) is built without CUDA")
ONE_GPU = DeviceInventory(num_cores=16, devices=(gpu(0),), backends=BOTH)
TWO_GPUS = DeviceInventory(num_cores=16, devices=(gpu(0), gpu(1, model="NVIDIA L4")), backends=BOTH)
ONE_BUSY = DeviceInventory(num_cores=16, devices=(gpu(0), gpu(1, BUSY)), backends=BOTH)
ALL_BUSY = DeviceInventory(num_cores=16, devices=(gpu(0, BUSY),), backends=BOTH)
EIGHT = DeviceInventory(num_cores=96, devices=tuple(gpu(i) for i in range(8)), backends=BOTH)
NO_NCCL = DeviceInventory(num_cores=16, devices=(gpu(0), gpu(1)), backends=("gloo",))
PINNING = DeviceInventory(num_cores=8, cores=tuple(range(8)))
BARE = DeviceInventory(num_cores=4, backends=())
SANDBOX = DeviceInventory(num_cores=4, devices=(gpu(0), gpu(1)), backends=BOTH, has_loopback=False)


def options(target: str, **values: Any) -> EnvironmentOptions:
    """Environment options."""
    return EnvironmentOptions(target=target, **values)


@pytest.mark.parametrize(
    ("machine", "asked", "batch", "sentence"),
    [
        (
            LAPTOP,
            options("auto"),
            128,
            "One process on the CPU with 8 threads; 128 samples per step. "
            "Chosen because no GPU was found, and one process can use every core. "
            "A longer run may use several processes if a trial at its start finds them faster.",
        ),
        (
            ONE_CORE,
            options("auto"),
            1,
            "One process on the CPU with 1 thread; 1 sample per step. "
            "Chosen because this torch (2.13.0+cpu) is built without CUDA.",
        ),
        (
            ALL_BUSY,
            options("auto"),
            64,
            "One process on the CPU with 16 threads; 64 samples per step. "
            f"Chosen because cuda:0: {BUSY}, and one process can use every core. "
            "A longer run may use several processes if a trial at its start finds them faster.",
        ),
        (
            LAPTOP,
            options("auto", threads=2),
            64,
            "One process on the CPU with 2 threads; 64 samples per step. Chosen because no GPU was found.",
        ),
        (LAPTOP, options("cpu"), 128, "One process on the CPU with 8 threads; 128 samples per step."),
        (ONE_GPU, options("auto"), 128, "NVIDIA H200 (cuda:0), 128 samples per step. Chosen because a GPU was found."),
        (
            TWO_GPUS,
            options("auto"),
            63,
            "NVIDIA H200 (cuda:0), 63 samples per step. "
            "Chosen because 63 samples are too few for 2 GPUs: fewer than 32 each.",
        ),
        (
            ONE_BUSY,
            options("auto"),
            128,
            "NVIDIA H200 (cuda:0), 128 samples per step. "
            f"Chosen because multi-gpu needs two GPUs; only cuda:0 can be used (cuda:1: {BUSY}).",
        ),
        (
            NO_NCCL,
            options("auto"),
            128,
            "NVIDIA H200 (cuda:0), 128 samples per step. "
            "Chosen because this build of torch has no nccl, which joins the GPUs; gloo can, slowly: choose multi-gpu "
            "for that.",
        ),
        (
            TWO_GPUS,
            options("auto"),
            64,
            "2 workers over nccl on NVIDIA H200 and NVIDIA L4 (cuda:0, cuda:1), 32 samples each. "
            "Chosen because each GPU gets at least 32 samples of a mini-batch.",
        ),
        (LAPTOP, options("multi-cpu"), 128, "8 workers on the CPU over gloo, 16 samples each; 1 thread per worker."),
        (
            LAPTOP,
            options("multi-cpu", num_workers=3),
            128,
            "3 workers on the CPU over gloo, 42 or 43 samples each; 2 threads per worker.",
        ),
        (
            ONE_CORE,
            options("multi-cpu"),
            128,
            "2 workers on the CPU over gloo, 64 samples each; 1 thread per worker. The workers share 1 core.",
        ),
        (LAPTOP, options("multi-cpu"), 3, "3 workers on the CPU over gloo, 1 sample each; 2 threads per worker."),
        (
            LAPTOP,
            options("multi-cpu", worker_load="by-hand", worker_weights=[3, 1]),
            157,
            "2 workers on the CPU over gloo, 118 + 39 samples; 4 threads per worker.",
        ),
        (
            PINNING,
            options("multi-cpu", num_workers=3),
            96,
            "3 workers on the CPU over gloo, 32 samples each; 2 threads per worker. "
            "Each worker is pinned to its own cores.",
        ),
        (
            PINNING,
            options("multi-cpu", num_workers=2, worker_load="measured"),
            96,
            "2 workers on the CPU over gloo, 48 samples each; 4 threads per worker. Each worker is pinned to its own "
            "cores. The samples per worker will follow the speed of each device, measured when training starts.",
        ),
        (
            replace(PINNING, core_speeds=(60.0,) * 4 + (20.0,) * 4),
            options("multi-cpu", num_workers=2, worker_load="measured", pin_workers=False),
            96,
            "2 workers on the CPU over gloo, 72 + 24 samples; 4 threads per worker.",
        ),
        (
            replace(TWO_GPUS, devices=(gpu(0), replace(gpu(1, model="NVIDIA L4"), speed=10.0))),
            options("multi-gpu", worker_load="measured"),
            100,
            "2 workers over nccl on NVIDIA H200 and NVIDIA L4 (cuda:0, cuda:1), 50 samples each. "
            "The samples per worker will follow the speed of each device, measured when training starts.",
        ),
        (
            replace(TWO_GPUS, devices=(replace(gpu(0), speed=40.0), replace(gpu(1, model="NVIDIA L4"), speed=10.0))),
            options("multi-gpu", worker_load="measured"),
            100,
            "2 workers over nccl on NVIDIA H200 and NVIDIA L4 (cuda:0, cuda:1), 80 + 20 samples.",
        ),
        (TWO_GPUS, options("gpu", devices=[1]), 5, "NVIDIA L4 (cuda:1), 5 samples per step."),
        (
            EIGHT,
            options("multi-gpu", devices=[5, 2]),
            9,
            "2 workers over nccl on NVIDIA H200 (cuda:5, cuda:2), 4 or 5 samples each.",
        ),
        (
            EIGHT,
            options("multi-gpu"),
            3,
            "3 workers over nccl on NVIDIA H200 (cuda:0, cuda:1, cuda:2), 1 sample each.",
        ),
    ],
)
def test_one_sentence_says_what_will_be_used(
    machine: DeviceInventory, asked: EnvironmentOptions, batch: int, sentence: str
) -> None:
    placement = resolve(asked, machine, batch)
    assert placement.sentence == sentence
    assert placement.target == asked.target
    assert sum(worker.samples for worker in placement.workers) == batch


@pytest.mark.parametrize(
    ("machine", "asked", "batch", "said"),
    [
        (
            LAPTOP,
            options("gpu"),
            128,
            "The execution environment 'gpu' is not available here: no GPU was found. "
            "Choose one of: auto, cpu, multi-cpu.",
        ),
        (
            ONE_GPU,
            options("multi-gpu"),
            128,
            "The execution environment 'multi-gpu' is not available here: needs two GPUs; this machine has one "
            "(NVIDIA H200). Choose one of: auto, cpu, multi-cpu, gpu.",
        ),
        (
            ALL_BUSY,
            options("gpu"),
            128,
            f"The execution environment 'gpu' is not available here: cuda:0: {BUSY}. "
            "Choose one of: auto, cpu, multi-cpu.",
        ),
        pytest.param(
            LAPTOP,
            options("parallel"),
            128,
            "The execution environment 'parallel' is not available here: needs a cluster profile, and there is none "
            "yet. Choose one of: auto, cpu, multi-cpu.",
            marks=pytest.mark.part("cluster"),
        ),
        (
            BARE,
            options("multi-cpu"),
            128,
            "The execution environment 'multi-cpu' is not available here: this build of torch has no gloo, which "
            "joins the workers. Choose one of: auto, cpu.",
        ),
        (
            SANDBOX,
            options("multi-cpu"),
            128,
            "The execution environment 'multi-cpu' is not available here: the loopback network interface lo, over "
            "which workers find each other, is down or missing (a container or sandbox may have none; as root, "
            "`ip link set lo up` starts it). Choose one of: auto, cpu, gpu.",
        ),
        (TWO_GPUS, options("gpu", devices=[2]), 9, "GPU 2 cannot be used: this machine has only cuda:0 and cuda:1."),
        (ONE_BUSY, options("gpu", devices=[1]), 9, f"GPU 1 cannot be used: {BUSY}."),
    ],
)
def test_what_is_not_here_is_refused_with_the_reason_and_the_way_out(
    machine: DeviceInventory, asked: EnvironmentOptions, batch: int, said: str
) -> None:
    with pytest.raises(UnavailableError) as caught:
        resolve(asked, machine, batch)
    assert str(caught.value) == said
    assert caught.value.exit_code == EXIT_UNAVAILABLE


@pytest.mark.parametrize(
    ("machine", "asked", "batch", "said"),
    [
        (
            LAPTOP,
            options("multi-cpu", num_workers=5),
            4,
            "A mini-batch of 4 samples cannot be shared by 5 workers. Use at most 4 workers or a larger mini-batch.",
        ),
        (
            LAPTOP,
            options("multi-cpu"),
            1,
            "A mini-batch of 1 sample cannot be shared by 2 workers. Choose cpu or a larger mini-batch.",
        ),
        (
            EIGHT,
            options("multi-gpu", devices=[0, 1, 2]),
            2,
            "A mini-batch of 2 samples cannot be shared by 3 GPUs. Use at most 2 GPUs or a larger mini-batch.",
        ),
        (
            EIGHT,
            options("gpu", devices=[0, 1]),
            128,
            "'gpu' trains on one device, 2 are named. Choose multi-gpu or one device.",
        ),
        (
            EIGHT,
            options("multi-gpu", devices=[3]),
            128,
            "'multi-gpu' needs at least two devices, one is named. Name more, or choose gpu.",
        ),
        (
            EIGHT,
            options("multi-gpu", devices=[3, 3]),
            128,
            "environment.devices: each device can be named once, received [3, 3].",
        ),
        (
            LAPTOP,
            options("multi-cpu", num_workers=3, worker_load="by-hand", worker_weights=[3, 1]),
            128,
            "environment.worker_weights: expected 3 numbers, one per worker, received 3, 1.",
        ),
        (
            LAPTOP,
            options("multi-cpu", worker_load="by-hand"),
            128,
            "environment.worker_weights: expected a number above 0 for each worker, such as 3, 1, received none.",
        ),
        (
            EIGHT,
            options("multi-gpu", worker_load="by-hand", worker_weights=[3, 1]),
            128,
            "environment.worker_weights: expected 8 numbers, one for each GPU, received 2.",
        ),
        (
            LAPTOP,
            options("multi-cpu", worker_load="by-hand", worker_weights=[99, 1]),
            32,
            "Worker 2 would get no sample of a mini-batch of 32: its weight is 1 of 100. Give it more, leave it out, "
            "or choose a larger mini-batch.",
        ),
        (
            LAPTOP,
            options("multi-cpu", num_workers=1),
            128,
            "environment.num_workers: multi-cpu needs at least 2 workers (auto: one per core). "
            "For one process choose cpu.",
        ),
    ],
)
def test_what_cannot_be_meant_is_the_users_to_change(
    machine: DeviceInventory, asked: EnvironmentOptions, batch: int, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        resolve(asked, machine, batch)
    assert str(caught.value) == said
    assert caught.value.exit_code == EXIT_INPUT


def test_every_target_is_listed_and_resolves_exactly_if_it_is_available() -> None:
    for machine in (LAPTOP, ONE_CORE, ONE_GPU, TWO_GPUS, ONE_BUSY, ALL_BUSY, EIGHT, NO_NCCL, BARE, SANDBOX):
        found = available(machine)
        assert tuple(found) == TARGETS
        assert found["auto"] is None
        assert found["parallel"] is not None
        for target, why in found.items():
            if why is None:
                assert resolve(options(target), machine, 256).resolved in TARGETS[1:]
            else:
                with pytest.raises(UnavailableError):
                    resolve(options(target), machine, 256)


def test_the_sentence_says_in_how_many_pieces_a_batch_is_computed() -> None:
    said = resolve(options("cpu"), LAPTOP, 128, pieces=4).sentence
    assert said == resolve(options("cpu"), LAPTOP, 128).sentence + " Each mini-batch is computed in 4 micro-batches."


def test_a_placement_is_written_as_the_contract_says() -> None:
    assert resolve(options("auto"), EIGHT, 256).write() == {
        "target": "auto",
        "resolved": "multi-gpu",
        "workers": 8,
        "backend": "nccl",
        "devices": [f"cuda:{i}" for i in range(8)],
    }
    assert resolve(options("cpu", threads=3), LAPTOP, 256).write()["backend"] == ""
    places = resolve(options("multi-gpu", devices=[1, 0]), TWO_GPUS, 5).workers
    assert [(place.device, place.threads, place.samples) for place in places] == [("cuda:1", 8, 3), ("cuda:0", 8, 2)]


@given(st.integers(0, 10**6), st.integers(1, 2000))
def test_shares_are_even(total: int, parts: int) -> None:
    found = shares(total, parts)
    assert sum(found) == total
    assert len(found) == parts
    assert max(found) - min(found) <= 1
    assert found == sorted(found, reverse=True)


@given(st.integers(0, 10**6), st.lists(st.floats(0.01, 1000), min_size=1, max_size=20))
def test_shares_follow_the_loads(total: int, loads: list[float]) -> None:
    found = shares(total, len(loads), loads)
    assert sum(found) == total
    for share, load in zip(found, loads, strict=True):
        assert abs(share - total * load / sum(loads)) < 1 + 1e-6
    assert shares(total, len(loads), [2.5] * len(loads)) == shares(total, len(loads))


def test_workers_keep_to_parts_of_the_cores() -> None:
    def cores(**values: Any) -> list[tuple[int, ...]]:
        return [place.cores for place in resolve(options("multi-cpu", **values), PINNING, 64).workers]

    assert cores(num_workers=3) == [(0, 1), (2, 3, 4), (5, 6, 7)]
    assert cores(num_workers=2, pin_workers=False) == [(), ()]
    assert cores(num_workers=3, threads=3) == [(), (), ()]
    assert set(cores(num_workers=9)) == {()}


def test_an_inventory_survives_json() -> None:
    for machine in (LAPTOP, ONE_BUSY, EIGHT, replace(PINNING, core_speeds=(1.0,) * 8)):
        assert DeviceInventory.read(machine.write()) == machine
    assert [device.number for device in EIGHT.devices] == list(range(8))
    assert ONE_BUSY.usable == (gpu(0),)


def test_each_gpu_of_a_worker_on_a_cluster_has_a_process() -> None:
    machine = replace(LAPTOP, cluster=ClusterSize("lab", "slurm", 2, 8, 4))
    placement = resolve(options("parallel", min_workers=1), machine, 64)
    assert [(place.device, place.threads, place.samples) for place in placement.workers] == [("cuda:0", 2, 8)] * 8
    assert placement.backend == "nccl"
    assert len(resolve(options("parallel", num_workers=1), machine, 64).workers) == 4
    with pytest.raises(UserError, match="at most 2, the number of workers, received 3"):
        resolve(options("parallel", min_workers=3), machine, 64)
