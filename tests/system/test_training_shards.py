"""What is learned from shards: over the network by two workers, each of which reads its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.project.project import Project
from tests.builders import chain, layer
from tests.engine.data.sources.shard_files import jpeg, serving, write_tar
from tests.runs import train


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


def test_shards_of_a_server_train_one_worker_as_two(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    for shard in range(4):
        members = {}
        for number in range(20):
            members[f"{shard}/{number}.jpg"] = jpeg(number * 4 + 150 * (number % 2))
            members[f"{shard}/{number}.cls"] = (b"dark", b"bright")[number % 2]
        write_tar(tmp_path / "served" / f"{shard}.tar", members)
    with serving(tmp_path / "served") as server:
        path = f"{server.url}/{{0..3}}.tar"
        one = train(project(path), tmp_path / "one")
        two = train(project(path, target="multi-cpu", num_workers=2), tmp_path / "two")
        assert len(server.asked("GET")) == 4, "each shard is fetched once for both runs"
    assert one.result["test"]["accuracy"] >= 0.9
    assert two.losses == pytest.approx(one.losses, rel=1e-4)
