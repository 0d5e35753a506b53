"""Predictions on machines that are not here, with steps whose time is known."""

from netwright.engine.placement.advice import Forecast, advice, best_of, disturbance, forecasts
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from tests.builders import chain, layer

NETWORK = chain(
    layer("feature_input", channels=256),
    layer("fully_connected", outputs=1024),
    layer("relu"),
    layer("fully_connected", outputs=1024),
)
GPUS = tuple(Device(f"cuda:{i}", "Fast GPU", 2**30) for i in range(2))
MACHINE = DeviceInventory(8, memory_bytes=2**34, devices=GPUS, backends=("gloo", "nccl"))


def found(**training: object) -> dict[str, Forecast]:
    """A sample takes a millisecond on a thread, and a tenth of that on a GPU."""

    def probe(samples: int, device: str, threads: int) -> float:
        return 1e-3 * samples * (1 / threads if device == "cpu" else 0.1)

    environment = EnvironmentOptions(target="multi-cpu", num_workers=2)
    project = Project(network=NETWORK, environment=environment, training=TrainingOptions(**training))
    return {forecast.name: forecast for forecast in forecasts(project, MACHINE, probe)}


def test_each_way_has_its_memory_and_time() -> None:
    rows = found(solver="adam")
    assert list(rows) == [
        *("cpu", "multi-cpu, data-parallel", "multi-cpu, fully-sharded", "multi-cpu, local-sgd", "multi-cpu, pipeline"),
        "gpu",
        "multi-gpu, data-parallel",
        *("multi-gpu, fully-sharded", "multi-gpu, local-sgd", "multi-gpu, pipeline"),
    ]
    one, data, sharded = (rows[name] for name in ("cpu", "multi-cpu, data-parallel", "multi-cpu, fully-sharded"))
    assert (one.workers, data.workers) == (1, 2)
    assert sharded.memory_bytes < data.memory_bytes < one.memory_bytes
    seconds = {name: forecast.seconds or 0.0 for name, forecast in rows.items()}
    assert 0 < seconds["multi-cpu, local-sgd"] < seconds[data.name] < seconds[sharded.name]
    assert "other numbers" in rows["multi-cpu, local-sgd"].note
    assert one.seconds == 128e-3 / 8


def test_what_does_not_go_with_the_options_is_left_out() -> None:
    assert "multi-cpu, fully-sharded" not in found(precision="fp16")


def test_the_advice_names_the_fastest_that_fits_and_gives_the_same_numbers() -> None:
    one = Forecast("cpu", "", 1, 2**20, 0.02, 2**30)
    data = Forecast("multi-cpu", "data-parallel", 2, 2**20, 0.012, 2**29)
    local = Forecast("multi-cpu", "local-sgd", 2, 2**20, 0.001, 2**29, is_exact=False)
    assert advice([one, data, local]) == (
        "Use multi-cpu, data-parallel: about 12 ms per step, where cpu, the next, takes 20 ms."
    )
    assert advice([one]) == "Use cpu: about 20 ms per step; nothing else can run here."
    large = Forecast("multi-gpu", "data-parallel", 2, 2**31, 0.001, 2**30)
    assert "Faster, but not expected to fit: " in advice([one, large])
    assert "None is expected to fit: multi-gpu, data-parallel needs the least, 2.0 GiB per worker of 1.0 GiB" in advice(
        [large]
    )
    assert "is available here" in advice([])
    assert Forecast("cpu", "", 1, 2**20, 1.26, 0).step == "1.26 s"
    assert Forecast("cpu", "", 1, 2**20, None, 0).step == "not known"


def with_room(gib: float, *, batch: int = 128, normalised: bool = False, **environment: object) -> dict[str, Forecast]:
    """Two GPUs of so much memory, on which a sample takes a tenth of a millisecond; a large network."""
    large = layer("fully_connected", outputs=4096)
    norm = [layer("batch_norm")] if normalised else []
    network = chain(layer("feature_input", channels=4096), large, *norm, large, large, large)
    gpus = tuple(Device(f"cuda:{i}", "Fast GPU", int(gib * 2**30)) for i in range(2))
    machine = DeviceInventory(8, memory_bytes=2**30, devices=gpus, backends=("gloo", "nccl"))
    asked = EnvironmentOptions(target="multi-gpu", **environment)
    project = Project(network=network, environment=asked, training=TrainingOptions(mini_batch_size=batch))
    rows = forecasts(project, machine, lambda samples, device, threads: 1e-4 * samples if device != "cpu" else None)
    return {forecast.name: forecast for forecast in rows if forecast.target.endswith("gpu")}


def test_the_advice_does_not_contradict_what_auto_takes() -> None:
    one = Forecast("cpu", "", 1, 2**20, 0.0105, 2**30)
    alike = Forecast("multi-cpu", "data-parallel", 2, 2**20, 0.01, 2**29)
    faster = Forecast("multi-cpu", "data-parallel", 2, 2**20, 0.006, 2**29)
    assert best_of([one, alike], "cpu") is one
    assert advice([one, alike], "cpu") == (
        "Use cpu: about 10.5 ms per step; multi-cpu, data-parallel with 10 ms is faster by less than such a prediction "
        "can tell. The environment auto takes it, too."
    )
    assert best_of([one, faster], "cpu") is faster
    assert advice([one, faster], "cpu").endswith(
        "The environment auto begins with cpu; in a longer run it tries several processes and keeps the faster."
    )
    assert advice([one], "multi-gpu").endswith("The environment auto takes multi-gpu.")


def test_what_one_device_cannot_hold_is_divided() -> None:
    """64 M weights: 256 MiB, with gradients and momentum 768 MiB."""
    rows = with_room(0.6)
    whole, parts, stages = (rows[f"multi-gpu, {name}"] for name in ("data-parallel", "fully-sharded", "pipeline"))
    assert [forecast.fits for forecast in (whole, parts, stages)] == [False, True, True]
    assert stages.memory_bytes < parts.memory_bytes < whole.memory_bytes
    assert stages.note == "experimental"
    # Not even one sample fits: nothing can be tried, and what is experimental goes last.
    assert {forecast.seconds for forecast in rows.values()} == {None}
    assert advice(list(rows.values())) == (
        "Use multi-gpu, fully-sharded: a step could not be timed, 517 MiB per worker. "
        "Not expected to fit: multi-gpu, data-parallel needs 773 MiB of 614 MiB."
    )


def test_a_pipeline_takes_as_many_turns_as_pieces_and_workers_less_one() -> None:
    rows = with_room(4, pipeline_pieces=8)
    # 16 samples of 128 a piece, half of the work a stage, nine turns; and what crosses.
    least = 9 * 16e-4 / 2
    seconds = rows["multi-gpu, pipeline"].seconds
    assert seconds is not None
    assert least < seconds < 1.5 * least
    assert rows["multi-gpu, fully-sharded"].memory_bytes > rows["multi-gpu, pipeline"].memory_bytes
    offloaded = with_room(4, strategy="fully-sharded", cpu_offload=True)["multi-gpu, fully-sharded"]
    assert offloaded.memory_bytes < rows["multi-gpu, fully-sharded"].memory_bytes / 2
    refused = with_room(4, strategy="pipeline", stages="fc_2: 3")
    assert "multi-gpu, pipeline" not in refused


def test_other_numbers_are_advised_only_where_nothing_else_fits() -> None:
    rows = with_room(4, normalised=True)
    assert rows["multi-gpu, pipeline"].note.endswith("takes the statistics of each piece")
    assert not rows["multi-gpu, pipeline"].is_exact
    assert "pipeline" not in advice(list(rows.values()))
    tight = [forecast for forecast in with_room(0.45, normalised=True).values() if forecast.strategy != "local-sgd"]
    assert "what gives the numbers of one worker is not expected to fit" in advice(tight)


def test_a_share_that_does_not_fit_is_tried_with_fewer_samples() -> None:
    """Of 16,384 samples each GPU gets half, of which its memory holds fewer."""
    tried: list[int] = []
    network = chain(layer("feature_input", channels=4096), layer("fully_connected", outputs=4096))
    gpus = tuple(Device(f"cuda:{i}", "Fast GPU", 2**29) for i in range(2))
    machine = DeviceInventory(2, memory_bytes=2**40, devices=gpus, backends=("nccl",))

    def probe(samples: int, device: str, threads: int) -> float:
        tried.append(samples)
        return 1e-6 * samples

    options = TrainingOptions(mini_batch_size=2**16)
    rows = {
        forecast.name: forecast for forecast in forecasts(Project(network=network, training=options), machine, probe)
    }
    assert rows["gpu"].seconds == 1e-6 * 2**16
    assert max(tried[1:]) < 2**16


def test_a_busy_machine_is_told_with_what_keeps_it_busy() -> None:
    assert disturbance(0.2, 2) == disturbance(1.0, 64) == ""
    assert disturbance(2.3, 2, ["Run 5 · adam, 0.01 (digits)"]) == (
        "The machine is busy: other programs take 2.0 of 2 cores. The times cannot be compared: repeat "
        "this once the machine rests. At work: Run 5 · adam, 0.01 (digits)."
    )
