"""What is learned where a sample has more than one response: class maps and labels of images; a class a step, numbers
and transcripts of sequences of different lengths. From the file on disk to the test split, each with an answer that can
be found; each run has several targets at once."""

from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.network.network import Network
from tests.builders import add, chain, layer
from tests.runs import train
from tests.system.test_training_kinds import project_of

RANDOM = np.random.default_rng(5)
FAST = {"solver": "adam", "initial_learn_rate": 0.03, "mini_batch_size": 20, "validation_frequency": 100}


def learned(
    folder: Path, network: Network, training: dict[str, Any], environment: dict[str, Any], **arrays: Any
) -> Any:
    np.savez(folder / "data.npz", **arrays)
    data = {"source": "arrays", "path": "data.npz", "ignored_value": 255}
    done = train(project_of(network, data, environment, {**FAST, **training}), folder / "run")
    assert done.result["state"] == "finished", done.result
    return done.result["test"]


def test_class_maps_and_labels_of_images_on_two_workers(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(100, 1, 8, 8)).astype(np.float32)
    x += np.repeat(RANDOM.normal(size=(100, 1, 1, 1)), 8, axis=3)
    y = np.digitize(x[:, 0], [-0.5, 0.5])
    y[:, 0] = 255  # whatever stands there does not count
    labels = np.stack([x.mean((1, 2, 3)) > 0, x.mean((1, 2, 3)) > 0.5], axis=1)
    network = chain(
        layer("image_input", channels=1, size=(8, 8)),
        layer("conv2d", filters=8, kernel=3, padding="same"),
        layer("relu"),
    )
    last = network.layers[network.order[-1]]
    network, mask = add(network, layer("conv2d", filters=3, kernel=1), last, name="scores")
    network, _ = add(network, layer("softmax"), mask, name="mask")
    network, pooled = add(network, layer("global_average_pool"), last)
    network, said = add(network, layer("fully_connected", outputs=2), pooled)
    network, _ = add(network, layer("sigmoid"), said, name="kind")
    training = {"max_epochs": 25, "output_losses": "mask: dice-cross-entropy, kind: auto * 0.5"}
    workers = {"target": "multi-cpu", "num_workers": 2}
    found = learned(tmp_path, network, training, workers, x=x, y_kind=labels, y_mask=y)
    assert found["accuracy"] > 0.9


def test_steps_and_transcripts_of_sequences_of_different_lengths(tmp_path: Path) -> None:
    """Each class of a transcript is a pulse of its own channel; each step is asked which pulse came last."""
    lengths = RANDOM.integers(5, 12, 120)
    x = RANDOM.normal(scale=0.05, size=(120, 12, 2)).astype(np.float32)
    text, counts = np.zeros((120, 3), int), RANDOM.integers(1, 4, 120)
    last = np.zeros((120, 12), int)
    for sample, count in enumerate(counts):
        places = np.sort(RANDOM.choice((lengths[sample] + 1) // 2, count, replace=False)) * 2
        text[sample, :count] = RANDOM.integers(0, 2, count)
        x[sample, places, text[sample, :count]] += 1
        for place, kind in zip(places, text[sample], strict=False):
            last[sample, place:] = kind + 1
    network = chain(layer("sequence_input", channels=2), layer("gru", hidden_units=12))
    remembered = network.layers[network.order[-1]]
    network, _ = add(network, layer("fully_connected", outputs=3), remembered, name="last")
    network, _ = add(network, layer("fully_connected", outputs=3), remembered, name="text")
    arrays = {"x": x, "x_lengths": lengths, "y_last": last, "y_text": text, "y_text_lengths": counts}
    found = learned(tmp_path, network, {"max_epochs": 30, "ctc_blank": "last"}, {}, **arrays)
    assert found["accuracy"] > 0.9
    assert found["loss"] < 1
