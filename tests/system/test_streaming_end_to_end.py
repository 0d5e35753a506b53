"""Runs whose data is streamed, beside the same ones that hold it: the same numbers to the bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.runs import Done, Running, train


def pictures(folder: Path, count: int = 30, size: int = 12) -> None:
    drawn = np.random.default_rng(5)
    for name in ("cat", "dog"):
        (folder / "pets" / name).mkdir(parents=True)
        for index in range(count):
            numbers = drawn.integers(0, 256, (size, size, 3), dtype=np.uint8)
            Image.fromarray(numbers).save(folder / "pets" / name / f"{index:02d}.png")


def seeing() -> Network:
    return chain(
        layer("image_input", size=8, channels=3, normalization="zscore"),
        layer("conv2d", filters=4, kernel=3),
        layer("batch_norm"),
        layer("relu"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )


def project(loading: str, environment: dict | None = None, **options: object) -> Project:
    made = Project(seeing())
    data = made.data.replace(source="images", path="pets", image_size=8, loading=loading, decoded_cache=0)
    training = made.training.replace(max_epochs=2, mini_batch_size=8, shuffle="every-epoch", **options)
    chosen = made.environment.replace(**{"target": "cpu", "threads": 1, **(environment or {})})
    return replace(made, data=data, training=training, environment=chosen)


def figures(done: Done) -> tuple[object, ...]:
    return done.losses, done.curve("validation", "loss"), done.result["test"]


def test_streamed_pictures_give_the_numbers_of_those_in_memory_to_the_bit(tmp_path: Path) -> None:
    pictures(tmp_path)
    held = train(project("memory"), tmp_path / "held")
    read = train(project("stream"), tmp_path / "read")
    assert figures(read) == figures(held)
    assert [e["text"] for e in read.events("message") if e["text"].startswith("Streamed while training")]
    weights = [(run.folder.path / "best" / "weights.safetensors").read_bytes() for run in (held, read)]
    assert weights[0] == weights[1]


def test_a_picture_that_is_damaged_ends_the_run_in_words(tmp_path: Path) -> None:
    pictures(tmp_path)
    (tmp_path / "pets" / "dog" / "07.png").write_bytes(b"no picture")
    made = project("stream")
    strict = replace(made, data=made.data.replace(bad_samples="fatal"))
    done = train(strict, tmp_path / "run", end="failed")
    assert "dog/07.png: it is not a picture" in done.result["reason"]
    assert done.exit_code == 2


def test_with_skip_one_worker_and_two_learn_the_same_without_the_damaged_pictures(tmp_path: Path) -> None:
    pictures(tmp_path)
    for name in ("dog/07.png", "dog/08.png", "cat/29.png"):
        (tmp_path / "pets" / name).write_bytes(b"no picture")
    one = skipping(project("auto"))
    two = skipping(project("auto", {"target": "multi-cpu", "num_workers": 2}))
    alone, together = train(one, tmp_path / "one"), train(two, tmp_path / "two")
    assert {event["sample"] for event in alone.events("sample_skipped")} == {"dog/07.png", "dog/08.png", "cat/29.png"}
    assert sorted(alone.result["skipped_samples"]["samples"]) == sorted(together.result["skipped_samples"]["samples"])
    assert len(together.events("sample_skipped")) == 3, "each once, whoever met it"
    np.testing.assert_allclose(together.losses, alone.losses, rtol=1e-4)


def test_a_picture_that_is_damaged_while_two_workers_train_does_not_end_the_run(tmp_path: Path) -> None:
    pictures(tmp_path)
    made = skipping(project("stream", {"target": "multi-cpu", "num_workers": 2}))
    made = replace(made, training=made.training.replace(max_epochs=100_000))
    with Running(made, tmp_path / "run") as run:
        run.wait_for_training()
        damaged = [f"{name}/{number:02d}.png" for name in ("cat", "dog") for number in (3, 11)]
        for name in damaged:
            (tmp_path / "pets" / name).write_bytes(b"no picture")
        for _ in damaged:
            run.wait_for_kind("sample_skipped")
        run.wait_for_kind("epoch")
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.result["skipped_samples"]["count"] == 4
    assert {name for name, _ in done.result["skipped_samples"]["samples"]} == set(damaged)
    assert np.isfinite(done.losses).all()


def skipping(made: Project) -> Project:
    return replace(made, data=made.data.replace(bad_samples="skip", validation_share=0.0, test_share=0.0))


def test_two_workers_stream_arrays_with_the_numbers_of_those_in_memory(tmp_path: Path) -> None:
    drawn = np.random.default_rng(1)
    x = drawn.normal(size=(50, 9, 3)).astype(np.float32)
    lengths = drawn.integers(2, 10, 50)
    np.savez(tmp_path / "steps.npz", x=x, x_lengths=lengths, y=drawn.normal(size=50).astype(np.float32))
    network = chain(
        layer("sequence_input", channels=3, normalization="zscore"),
        layer("lstm", hidden_units=5, output_mode="last"),
        layer("fully_connected", outputs=1),
    )
    made = project("memory", {"target": "multi-cpu", "num_workers": 2})
    made = replace(made, network=network, data=made.data.replace(source="arrays", path="steps.npz"))
    held = train(made, tmp_path / "held")
    read = train(replace(made, data=made.data.replace(loading="stream")), tmp_path / "read")
    assert figures(read) == figures(held)
