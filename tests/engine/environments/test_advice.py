"""Predictions on machines that are not here, with steps whose time is known."""

from engine.environments.advice import Way, advice, ways
from engine.environments.inventory import Device, DeviceInventory
from engine.project.environment import EnvironmentOptions
from engine.project.project import Project
from engine.project.training import TrainingOptions
from tests.builders import chain, layer

NETWORK = chain(
    layer("feature_input", channels=256),
    layer("fully_connected", outputs=1024),
    layer("relu"),
    layer("fully_connected", outputs=1024),
)
GPUS = tuple(Device(f"cuda:{i}", "Fast GPU", 2**30) for i in range(2))
MACHINE = DeviceInventory(8, memory_bytes=2**34, devices=GPUS, backends=("gloo", "nccl"))


def found(**training: object) -> dict[str, Way]:
    """A sample takes a millisecond on a thread, and a tenth of that on a GPU."""

    def probe(samples: int, device: str, threads: int) -> float:
        return 1e-3 * samples * (1 / threads if device == "cpu" else 0.1)

    environment = EnvironmentOptions(target="multi-cpu", num_workers=2)
    project = Project(network=NETWORK, environment=environment, training=TrainingOptions(**training))
    return {way.name: way for way in ways(project, MACHINE, probe)}


def test_each_way_has_its_memory_and_time() -> None:
    rows = found(solver="adam")
    assert list(rows) == [
        *("cpu", "multi-cpu, data-parallel", "multi-cpu, fully-sharded", "multi-cpu, local-sgd", "gpu"),
        *("multi-gpu, data-parallel", "multi-gpu, fully-sharded", "multi-gpu, local-sgd"),
    ]
    one, data, sharded = (rows[name] for name in ("cpu", "multi-cpu, data-parallel", "multi-cpu, fully-sharded"))
    assert (one.workers, data.workers) == (1, 2)
    assert sharded.memory_bytes < data.memory_bytes < one.memory_bytes
    assert data.seconds < sharded.seconds
    assert rows["multi-cpu, local-sgd"].seconds < data.seconds
    assert "other numbers" in rows["multi-cpu, local-sgd"].note
    assert one.seconds == 128e-3 / 8


def test_what_does_not_go_with_the_options_is_left_out() -> None:
    assert "multi-cpu, fully-sharded" not in found(precision="fp16")


def test_the_advice_names_the_fastest_that_fits_and_gives_the_same_numbers() -> None:
    one = Way("cpu", "", 1, 2**20, 0.02, 2**30)
    data = Way("multi-cpu", "data-parallel", 2, 2**20, 0.012, 2**29)
    local = Way("multi-cpu", "local-sgd", 2, 2**20, 0.001, 2**29)
    assert advice([one, data, local]) == (
        "Use multi-cpu, data-parallel: about 12 ms a step, where cpu, the next, takes 20 ms."
    )
    assert advice([one]) == "Use cpu: about 20 ms a step; nothing else can run here."
    large = Way("multi-gpu", "data-parallel", 2, 2**31, 0.001, 2**30)
    assert "would be faster, and is not expected to fit" in advice([one, large])
    assert "None is expected to fit: multi-gpu, data-parallel needs least, 2.0 GiB a worker of 1.0 GiB" in advice(
        [large]
    )
    assert "can run here" in advice([])
