"""Explanations of small runs: against captum, scikit-learn and values computed by hand, and what is refused."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.inspection import partial_dependence as sklearn_dependence

from netwright.engine.analysis.activations import attention, reduced
from netwright.engine.analysis.embeddings import embedding, principal_components
from netwright.engine.analysis.explanation_files import explain_run
from netwright.engine.analysis.explanations import FOLDER, METHODS, Question, explain, subject_of
from netwright.engine.analysis.operations.explain import ExplainRequest
from netwright.engine.analysis.subject import Subject, rows_of
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.lowering.attention_maps import weights_of
from netwright.engine.models.open_model import open_model
from netwright.engine.project.project import Project
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.model_files import ModelChoice
from netwright.engine.runs.reported_pictures import ATTENTION, read_pictures
from netwright.engine.training.attention_recorder import GAP, side_by_side
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import train


def trained(folder: Path, network, data: dict, **training) -> Path:
    project = Project(network)
    done = train(
        replace(
            project,
            data=project.data.replace(**data),
            training=project.training.replace(**{"max_epochs": 1, **training}),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )
    return done.folder.path


def opened(path: Path) -> Subject:
    return Subject(open_model(path))


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on images of 1 × 8 × 8 in three classes: a stripe at one of three places."""
    folder = tmp_path_factory.mktemp("images")
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = generator.random((90, 1, 8, 8), np.float32) * 0.2
    x[np.arange(90), 0, 1 + 2 * y] += 1.0
    np.savez(folder / "a.npz", x=x, y=y)
    network = chain(
        layer("image_input", channels=1, size=8, normalization="none"),
        layer("conv2d", filters=4),
        layer("relu"),
        layer("max_pool2d"),
        layer("fully_connected", outputs=3),
        layer("softmax"),
    )
    return trained(folder, network, {"source": "arrays", "path": str(folder / "a.npz")}, max_epochs=3)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a linear network on a table: two columns of numbers, and one of three categories."""
    folder = tmp_path_factory.mktemp("table")
    a, b = np.random.default_rng(0).standard_normal((2, 120))
    rows = [f"{u:.5f},{v:.5f},{'pqr'[n % 3]},{2 * u + n % 3:.5f}" for n, (u, v) in enumerate(zip(a, b, strict=True))]
    (folder / "a.csv").write_text("\n".join(["a,b,kind,y", *rows]))
    network = chain(layer("feature_input", channels=5, normalization="none"), layer("fully_connected", outputs=1))
    data = {"source": "table", "path": str(folder / "a.csv"), "response": "y", "task": "numbers"}
    return trained(folder, network, data, max_epochs=5, initial_learn_rate=0.05)


@pytest.fixture(scope="module")
def sequences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a small transformer on sequences of five steps with four channels."""
    folder = tmp_path_factory.mktemp("sequences")
    x = np.random.default_rng(0).standard_normal((40, 5, 4)).astype(np.float32)
    np.savez(folder / "a.npz", x=x, y=np.arange(40) % 2)
    network = chain(
        layer("sequence_input", channels=4, length=5, normalization="none"),
        layer("self_attention", heads=2, mask="causal"),
        layer("transformer_encoder_layer", heads=2),
        layer("global_average_pool"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    return trained(folder, network, {"source": "arrays", "path": str(folder / "a.npz")})


# ---- checkpoints ----


def test_the_canvas_shows_the_checkpoint_of_another_iteration(tmp_path: Path) -> None:
    """Of a fitted line y = 2x, whose one weight rises with each epoch, and what a run kept no checkpoint of."""
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    np.savez(tmp_path / "a.npz", x=x, y=2 * x[:, 0])
    network = chain(layer("feature_input", channels=1, normalization="none"), layer("fully_connected", outputs=1))
    data = {"source": "arrays", "path": str(tmp_path / "a.npz"), "task": "numbers"}
    kept = {"checkpoint_unit": "epochs", "checkpoint_frequency": 1, "checkpoints_kept": 10}
    run = trained(tmp_path, network, data, max_epochs=3, **kept)
    folder = RunFolder(run)
    iterations = sorted(checkpoint.iteration for checkpoint in all_checkpoints(folder))
    assert len(iterations) == 3
    models = [open_model(ModelChoice(run, iteration=iteration)) for iteration in iterations]
    weights = [[float(value.sum()) for value in model.weights.values()] for model in models if model.weights]
    assert len({tuple(values) for values in weights}) == 3, "each epoch has its own"
    assert models[0].notes == (f"Weights of the checkpoint of iteration {iterations[0]:,}.",)
    assert len({model.hash for model in models}) == 3, "so that no answer about one is taken for another's"
    told = explain_run(ExplainRequest(model=run, method="thumbnails", iteration=iterations[0]))
    assert told.weights == f"checkpoints/{iterations[0]:09d}"
    first, second = (subject_of(ModelChoice(run, iteration=iteration)).data for iteration in iterations[:2])
    assert second is first, "a step of the scrubber opens no data again"
    with pytest.raises(UserError, match="cannot be used"):
        open_model(ModelChoice(run, iteration=iterations[-1] + 1))


# ---- images ----


def test_grad_cam_is_that_of_captum(images: Path) -> None:
    from captum import attr  # with matplotlib, which takes a second to import, in each process that collects this file

    subject = opened(images)
    found = explain(subject, Question("gradcam", layer="relu_1", class_name="2"))
    sample = subject.sample(0)
    plain = subject.module
    relu = plain.get_submodule(subject.trained.module_names[subject.layer("relu_1", lambda _: True, "").path][0])
    x = sample.inputs[0].clone().requires_grad_()
    cam = attr.LayerGradCam(plain, relu).attribute(x, target=2, relu_attributions=True)
    assert np.allclose(found.arrays["coarse"], cam[0, 0].detach().numpy(), atol=1e-6)
    assert found.arrays["heat"].shape == found.arrays["picture"].shape == (8, 8)
    assert found.arrays["heat"].min() >= 0
    assert found.told["sample"]["outputs"][0]["top"]


def test_integrated_gradients_and_occlusion_are_those_of_captum(images: Path) -> None:
    from captum import attr

    subject = opened(images)
    x = subject.sample(1).inputs[0]
    base = torch.zeros_like(x)
    found = explain(subject, Question("integrated_gradients", place=1, class_name="0"))
    own = attr.IntegratedGradients(subject.module).attribute(x, base, target=0, n_steps=50)
    assert np.allclose(found.arrays["heat"], own[0, 0].numpy(), atol=1e-5)
    hidden = explain(subject, Question("occlusion", place=1, class_name="0", window=3))
    own = attr.Occlusion(subject.module).attribute(x, (1, 3, 3), (1, 1, 1), base, target=0)
    assert np.allclose(hidden.arrays["heat"], own[0, 0].numpy(), atol=1e-5)
    with pytest.raises(UserError, match="larger than the sample: expected at most 8"):
        explain(subject, Question("occlusion", window=9))


def test_activations_are_what_the_layer_gives(images: Path) -> None:
    subject = opened(images)
    found = explain(subject, Question("activations", layer="conv_1"))
    weight = subject.module.state_dict()
    prefix = subject.trained.module_names[subject.layer("conv_1", lambda _: True, "").path][-1]
    x = subject.sample(0).inputs[0]
    own = torch.nn.functional.conv2d(x, weight[f"{prefix}.weight"], weight[f"{prefix}.bias"], padding=1)
    assert np.allclose(found.arrays["maps"], own[0].numpy(), atol=1e-6)
    assert found.told["receptive_field"] == {"sizes": [3, 3], "strides": [1.0, 1.0]}
    assert sum(found.told["histogram"]["counts"]) == 4 * 64
    filters = explain(subject, Question("filters"))
    assert np.allclose(filters.arrays["filters"], weight[f"{prefix}.weight"].numpy())


def test_maximum_activation_climbs(images: Path) -> None:
    subject = opened(images)
    found = explain(subject, Question("max_activation", class_name="1", steps=24))
    assert found.arrays["maps"].shape == (1, 8, 8)
    grey = torch.full((1, 1, 8, 8), 0.6)
    assert found.arrays["reached"][0] > float(subject.scores(subject.module)(grey)[0, 1])
    channels = explain(subject, Question("max_activation", layer="conv_1", steps=2))
    assert channels.told["names"] == [f"channel {number}" for number in (1, 2, 3, 4)]


def test_small_pictures_of_all_layers(images: Path) -> None:
    found = explain(opened(images), Question("thumbnails"))
    assert [found.told["arrays"][f"layer_{n}"] for n in range(5)] == [
        [1, 8, 8],
        [4, 8, 8],
        [4, 8, 8],
        [4, 4, 4],
        [1, 1, 3],
    ]
    assert all(array.dtype == np.uint8 for array in found.arrays.values())


def test_small_pictures_of_where_each_layer_looks_are_those_of_grad_cam(images: Path) -> None:
    subject = opened(images)
    found = explain(subject, Question("attributions"))
    by_path = {layer["path"]: found.arrays[f"layer_{n}"] for n, layer in enumerate(found.told["layers"])}
    cam = explain(subject, Question("gradcam"))
    coarse = cam.arrays["coarse"]
    wanted = np.rint(255 * (coarse - coarse.min()) / (coarse.max() - coarse.min()))
    picture = by_path[cam.told["layer_path"]]
    assert picture.shape == (1, *coarse.shape)
    assert np.abs(picture[0] - wanted).max() <= 1
    assert found.told["target"] == cam.told["target"]
    assert len(by_path) > 3, "the layers before and after it as well"


def test_an_embedding_has_the_scores_of_the_layer_before_the_last_decision(images: Path) -> None:
    subject = opened(images)
    found = explain(subject, Question("embedding"))
    assert found.told["layer"] == "pool_1"
    inputs, _ = subject.inputs_at(found.arrays["places"].tolist())
    path = found.told["layer_path"]
    rows = rows_of(subject.outputs_at(subject.answering, inputs, {path})[path]).double().numpy()
    method = PCA(2, svd_solver="full")
    own = method.fit_transform(rows)
    assert np.allclose(np.abs(found.arrays["points"]), np.abs(own), atol=1e-4)
    assert np.allclose(found.told["explained"], method.explained_variance_ratio_)
    labels = subject.data.targets[0][found.arrays["indices"]]
    assert (found.arrays["labels"] == labels).all()
    tsne = explain(subject, Question("embedding", reduction="tsne"))
    assert tsne.arrays["points"].shape == own.shape


def test_umap_is_asked_for_and_without_it_the_way_out_is_said(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = opened(images)
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(UserError, match="umap") as refused:
        embedding(subject, "", "umap")
    assert 'pip install "netwright[umap]"' in refused.value.hint
    asked = {}

    def make(**options: object) -> SimpleNamespace:
        asked.update(options)
        return SimpleNamespace(fit_transform=lambda rows: rows[:, :2])

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=make))
    found = embedding(subject, "", "umap")
    assert found.arrays["points"].shape[1] == 2
    assert asked == {"n_neighbors": min(15, found.told["samples"] - 1), "random_state": 0}


def test_principal_components_are_those_of_scikit_learn() -> None:
    rows = np.random.default_rng(1).standard_normal((30, 7))
    points, shares = principal_components(rows)
    method = PCA(2, svd_solver="full")
    assert np.allclose(points, method.fit_transform(rows))
    assert np.allclose(shares, method.explained_variance_ratio_)


# ---- tables ----


def test_integrated_gradients_of_a_linear_network_are_weight_times_difference(table: Path) -> None:
    subject = opened(table)
    found = explain(subject, Question("integrated_gradients", place=2))
    (weight,) = [value for name, value in subject.module.state_dict().items() if name.endswith("weight")]
    rows, _ = subject.inputs_at(subject.places(10**6))
    by_hand = (weight[0] * (rows[0][2] - rows[0].mean(0))).numpy()
    assert np.allclose(found.arrays["attribution"], by_hand, atol=1e-5)
    kind = next(one for one in found.told["features"] if one["name"] == "kind")
    assert kind["value"] == pytest.approx(by_hand[2:].sum(), abs=1e-5)
    hidden = explain(subject, Question("occlusion", place=2))
    assert [one["value"] for one in hidden.told["features"]] == pytest.approx(
        [one["value"] for one in found.told["features"]], abs=1e-5
    )


def test_an_unused_column_has_no_importance(table: Path) -> None:
    subject = opened(table)
    for name, value in subject.answering.state_dict().items():
        if name.endswith("weight"):
            value[0, 1] = 0.0  # the column b
    found = explain(subject, Question("permutation"), fresh=True)
    values = {one["name"]: one["value"] for one in found.told["features"]}
    assert values["b"] == 0.0
    assert values["a"] > 0.1
    assert found.told["features"][0]["name"] == "a"
    explain(opened(table), Question("permutation"), fresh=True)


def test_partial_dependence_is_that_of_scikit_learn(table: Path) -> None:
    subject = opened(table)
    found = explain(subject, Question("partial_dependence"))
    assert [one["name"] for one in found.told["columns"]] == ["a", "b", "kind"]
    assert found.told["columns"][2]["labels"] == ["p", "q", "r"]
    rows = subject.inputs_at(subject.places(10**6))[0][0].numpy().astype(np.float64)

    class Network(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
        def fit(self, x=None, y=None):
            self.fitted_ = True
            return self

        def predict(self, x):
            with torch.no_grad():
                return subject.answering(torch.from_numpy(x.astype(np.float32)))[:, 0].numpy().astype(np.float64)

    own = sklearn_dependence(Network().fit(), rows, [0], kind="average", method="brute", grid_resolution=24)
    assert np.allclose(found.arrays["grid_0"], own["grid_values"][0])
    assert np.allclose(found.arrays["mean_0"][:, 0], own["average"][0], atol=1e-5)


# ---- attention ----


def test_attention_weights_are_those_of_the_formula(sequences: Path) -> None:
    subject = opened(sequences)
    found = attention(subject, subject.sample(0), "")
    assert [one["heads"] for one in found.told["layers"]] == [2, 2]
    first = found.arrays["attention_0"]
    assert np.allclose(first.sum(2), 1, atol=1e-5)
    assert np.allclose(np.triu(first[0], 1), 0)  # causal
    module: Any = subject.answering.get_submodule(
        subject.trained.module_names[subject.layer("self_attention_1", lambda _: True, "").path][0]
    )
    x = subject.sample(0).inputs[0]
    q, k = (part(x)[0].unflatten(1, (2, 2)).transpose(0, 1) for part in (module.query, module.key))
    scores = (q @ k.transpose(1, 2) / 2**0.5).masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    assert np.allclose(first, scores.softmax(2).detach().numpy(), atol=1e-5)
    with pytest.raises(UserError, match="no attention layer"):
        attention(subject, subject.sample(0), "fc_9")


def test_a_run_keeps_the_attention_to_one_validation_sample_while_it_trains(sequences: Path) -> None:
    """At its end it is that of the network that is kept, for the same sample."""
    subject = Subject(open_model(sequences), "validation")
    found = attention(subject, subject.sample(0), "")
    pictures = read_pictures(sequences, ATTENTION)
    assert list(pictures) == [entry["name"] for entry in found.told["layers"]]
    for number, those in enumerate(pictures.values()):
        assert those[0].iteration == 0, "before the first step"
        last = np.asarray(Image.open(those[-1].file)) / 255
        expected = side_by_side(torch.from_numpy(found.arrays[f"attention_{number}"]))
        assert last.shape == (5, 2 * 5 + GAP)
        assert np.allclose(last, expected, atol=2 / 255)


def test_heads_stand_in_rows_and_are_as_bright_as_their_root() -> None:
    heads = torch.full((3, 4, 4), 0.25)
    heads[1] = torch.eye(4)
    picture = side_by_side(heads)
    assert picture.shape == (2 * 4 + GAP, 2 * 4 + GAP)
    assert np.allclose(picture[:4, :4], 1)
    assert np.allclose(picture[:4, 4 + GAP :], np.eye(4))
    assert np.allclose(picture[4 + GAP :, 4 + GAP :], 0.5), "no fourth head"
    assert max(side_by_side(torch.rand(8, 300, 300)).shape) <= 256


def test_masks_hide_keys() -> None:
    q = torch.randn(1, 1, 3, 2)
    hidden = weights_of(q, q, torch.tensor([True, True, False]))
    assert torch.allclose(hidden[..., 2], torch.zeros(1, 1, 3))
    added = weights_of(q, q, torch.tensor([0.0, 0.0, -torch.inf]))
    assert torch.allclose(hidden, added)


# ---- what is asked, and what is refused ----


def test_answers_are_kept_by_what_they_follow_from(images: Path) -> None:
    subject = opened(images)
    asked = Question("gradcam", place=3)
    first = explain(subject, asked)
    again = explain(opened(images), replace(asked, reduction="tsne", window=3))  # it takes neither
    assert (first.cached, again.cached) == (False, True)
    assert np.array_equal(first.arrays["heat"], again.arrays["heat"])
    assert first.told == again.told
    assert not explain(subject, replace(asked, place=4)).cached
    assert again.file is not None
    damaged = images / FOLDER / again.file.name
    damaged.write_bytes(b"no zip")
    assert not explain(subject, asked).cached


@pytest.mark.parametrize(
    ("run", "asked", "said"),
    [
        ("images", Question("permutation"), "permutation is for tables"),
        ("images", Question("attention"), "no attention layer. Use activations"),
        ("images", Question("gradcam", place=99), "expected a number from 0 to"),
        ("images", Question("gradcam", class_name="7"), 'no output "7"'),
        ("images", Question("gradcam", layer="conv_2"), 'no layer "conv_2".*conv_1'),
        ("images", Question("gradcam", layer="fc_1"), "'fc_1' is no layer with images"),
        ("images", Question("cam"), "no method 'cam'.*gradcam"),
        ("images", Question("embedding", reduction="mds"), "no reduction 'mds'"),
        ("table", Question("gradcam"), "for networks that take images; this one takes tables"),
        ("table", Question("filters"), "no 2-D convolution"),
        ("table", Question("partial_dependence", column="aa"), 'no column "aa"'),
        ("sequences", Question("max_activation"), "this one takes sequences. Use integrated_gradients or attention"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(run, asked, said, request: pytest.FixtureRequest) -> None:
    with pytest.raises(UserError, match=said):
        explain(opened(request.getfixturevalue(run)), asked)


def test_the_command_writes_pictures_tables_and_json(images: Path, table: Path, tmp_path: Path, capsys) -> None:
    def run(*arguments: object) -> int:
        return main(["explain", *map(str, arguments)])

    for path, method, name in (
        (images, "gradcam", "a.png"),
        (images, "filters", "b.png"),
        (table, "permutation", "c.csv"),
    ):
        assert run(path, "--method", method, "-o", tmp_path / name) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "c.csv").read_text().startswith("name,value,std\na,")
    capsys.readouterr()
    for path, method in ((images, "activations"), (images, "embedding"), (table, "partial_dependence")):
        assert run(path, "--method", method, "--json") == 0
        told = checked_output(capsys.readouterr().out)
        assert Path(told["file"]).is_file()
    picture = tmp_path / "new.png"
    picture.write_bytes((tmp_path / "b.png").read_bytes())
    assert run(images, "--method", "integrated_gradients", "--sample", picture, "--json") == 0
    assert json.loads(capsys.readouterr().out)["sample"]["file"] == str(picture)
    assert run(table, "--method", "partial_dependence", "-o", tmp_path / "d.png") == 2
    assert run(table, "--method", "permutation", "-o", tmp_path / "d.gif") == 2
    assert "Expected .png, .csv, .npz" in capsys.readouterr().err


def test_the_command_line_lists_all_methods() -> None:
    from netwright.engine.analysis import embeddings
    from netwright.engine.analysis.operations.explain import METHODS as LISTED
    from netwright.engine.analysis.operations.explain import REDUCTIONS

    assert [*LISTED, "sample", "thumbnails", "attributions"] == [*METHODS]
    assert (*embeddings.REDUCTIONS,) == REDUCTIONS


def test_large_maps_are_averaged_down_and_few_rows_stay() -> None:
    plane = np.arange(64.0).reshape(8, 8)
    assert np.allclose(reduced(plane, 4), plane.reshape(4, 2, 4, 2).mean((1, 3)))
    assert reduced(np.ones((2, 40)), 20).shape == (2, 20)
    assert reduced(np.ones((1, 100)), 32).shape == (1, 25)
    assert reduced(plane, 8) is plane
