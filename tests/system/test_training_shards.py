"""What is learned from shards: over the network by two workers, each of which reads its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.engine.data.sources.shard_files import jpeg, serving, write_tar
from tests.runs import Running, train


def project(path: str, **environment: object) -> Project:
    network = chain(
        layer("image_input", size=8, channels=3),
        layer("flatten"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    made = Project(network)
    data = made.data.replace(source="shards", path=path, loading="stream", shuffle_window=2, decoded_cache=0)
    training = made.training.replace(
        max_epochs=4, mini_batch_size=8, solver="adam", initial_learn_rate=0.01, shuffle="every-epoch"
    )
    chosen = made.environment.replace(**{"target": "cpu", "threads": 1, **environment})
    return replace(made, data=data, training=training, environment=chosen)


def write_shards(folder: Path) -> None:
    folder.mkdir()
    for shard in range(4):
        members = {}
        for number in range(20):
            members[f"{shard}/{number}.jpg"] = jpeg(number * 4 + 150 * (number % 2))
            members[f"{shard}/{number}.cls"] = (b"dark", b"bright")[number % 2]
        write_tar(folder / f"{shard}.tar", members)


def test_shards_of_a_server_train_one_worker_as_two(tmp_path: Path) -> None:
    write_shards(tmp_path / "served")
    with serving(tmp_path / "served") as server:
        path = f"{server.url}/{{0..3}}.tar"
        one = train(project(path), tmp_path / "one")
        two = train(project(path, target="multi-cpu", num_workers=2), tmp_path / "two")
        assert len(server.asked("GET")) == 4, "each shard is fetched once for both runs"
    assert one.result["test"]["accuracy"] >= 0.9
    assert two.losses == pytest.approx(one.losses, rel=1e-4)


def test_a_killed_worker_goes_on_within_a_window_of_shards(tmp_path: Path) -> None:
    write_shards(tmp_path / "shards")
    often = {"checkpoint_unit": "iterations", "checkpoint_frequency": 5, "deterministic": True}
    made = project(str(tmp_path / "shards"), target="multi-cpu", num_workers=2)
    made = replace(made, training=made.training.replace(**often))
    undisturbed = train(made, tmp_path / "undisturbed")
    with Running(made, tmp_path / "run", hold_at=10) as run:
        run.wait_for(lambda event: event["kind"] == "checkpoint" and event["iteration"] == 10)
        run.kill(run.workers[1])
        run.let_go()
        done = run.finish()
    assert [event["restarts"] for event in done.events("resumed")] == [1]
    assert done.losses == undisturbed.losses
    assert done.curve("validation", "loss") == undisturbed.curve("validation", "loss")
