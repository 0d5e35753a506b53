"""Pruning: removed zeros change nothing, the smallest weights go first, and a pruned run goes on from what is left."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from netwright.engine.analysis.pruning import prune, select_channels
from netwright.engine.cli.main import main
from netwright.engine.core.errors import UserError
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.lowering.weights_folder import fill, load
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.channels import COUNTS
from netwright.engine.network.network import Network
from netwright.engine.project.file import load as load_project
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Solver
from tests.builders import add, chain, layer
from tests.json_schema import checked_output
from tests.runs import Done, train

TEMPLATES = Path(__file__).parents[3] / "resources" / "templates"


def branching() -> Network:
    """A network with each way that channels take: normalised, added, concatenated, by themselves, flattened."""
    found, x = add(Network.empty(), layer("image_input", channels=2, size=(6, 6)), name="x")
    found, a = add(found, layer("conv2d", filters=6), x, name="a")
    found, bn = add(found, layer("batch_norm"), a, name="bn")
    found, relu = add(found, layer("relu"), bn, name="relu")
    found, b = add(found, layer("conv2d", filters=6, kernel=(1, 1)), x, name="b")
    found, sums = add(found, layer("addition"), relu, b, name="add")
    found, deep = add(found, layer("grouped_conv2d"), sums, name="deep")
    found, c = add(found, layer("conv2d", filters=4), x, name="c")
    found, cat = add(found, layer("concatenation"), deep, c, name="cat")
    found, pool = add(found, layer("max_pool2d"), cat, name="pool")
    found, fc = add(found, layer("fully_connected", outputs=8), pool, name="fc_1")
    found, tanh = add(found, layer("tanh"), fc, name="tanh")
    return add(found, layer("fully_connected", outputs=3), tanh, name="fc_2")[0]


def built(network: Network) -> nn.Module:
    return build(network, analyse(network), logits=True).eval()


def test_removing_channels_that_are_zero_changes_no_output() -> None:
    torch.manual_seed(0)
    original = branching()
    module = built(original)
    state = {key: torch.randn_like(x) if x.is_floating_point() else x for key, x in module.state_dict().items()}
    for key in state:
        if key.endswith("running_var"):
            state[key] = state[key].abs() + 0.5
    # Half of the channels of each group give zero, wherever they go.
    zeroed = {"a": range(3), "bn": range(3), "b": range(3), "deep": range(3), "c": range(2), "fc_1": range(4)}
    for name, places in zeroed.items():
        for key in (f"{name}.weight", f"{name}.bias"):
            state[key][list(places)] = 0
    fill(module, state)
    pruned = prune(original, state, 0.5, structured=True)
    smaller = built(pruned.network)
    fill(smaller, pruned.weights)
    counts = {layer.name: getattr(layer.type, "filters", 0) for layer in pruned.network.layers.values()}
    assert (counts["a"], counts["b"], counts["c"]) == (3, 3, 2)
    assert pruned.network.by_name["fc_1"].type.write()["outputs"] == 4
    x = torch.randn(5, 2, 6, 6)
    assert torch.allclose(smaller(x), module(x), atol=1e-5)
    half = sum(p.numel() for p in smaller.parameters()) / sum(p.numel() for p in module.parameters())
    assert half < 0.5
    assert any("'fc_2' keeps all channels" in note for note in pruned.notes)


def narrow(network: Network) -> Network:
    """The network of a template with an eighth of its channels, at any depth."""
    for each in network.layers.values():
        count = COUNTS.get(each.type.key, "")
        if isinstance(each.type, Block):
            network = network.with_layer(replace(each, type=each.type.with_network(narrow(each.type.network))))
        elif count and getattr(each.type, count) > 16:
            type = each.type.replace(**{count: getattr(each.type, count) // 8})
            network = network.with_layer(replace(each, type=type))
        elif each.type.is_input:
            network = network.with_layer(replace(each, type=each.type.replace(size=(32, 32))))
    return network


def nested() -> Network:
    """A residual block, twice in a row, in a block that is there three times."""
    inside, x = add(Network.empty(), BlockInput(), name="x")
    inside, a = add(inside, layer("conv2d", filters=6), x, name="a")
    inside, bn = add(inside, layer("batch_norm"), a, name="bn")
    inside, relu = add(inside, layer("relu"), bn, name="relu")
    inside, b = add(inside, layer("conv2d", filters=4), relu, name="b")
    inside, sums = add(inside, layer("addition"), b, x, name="sum")
    inside, _ = add(inside, BlockOutput(), sums, name="y")
    around, x = add(Network.empty(), BlockInput(), name="x")
    around, two = add(around, Block(inside, repeat=2), x, name="two")
    around, _ = add(around, BlockOutput(), two, name="y")
    found, x = add(Network.empty(), layer("image_input", channels=3, size=(6, 6)))
    found, stem = add(found, layer("conv2d", filters=4), x, name="stem")
    found, stage = add(found, Block(around, repeat=3), stem, name="stage")
    return add(found, layer("fully_connected", outputs=3), stage, name="fc")[0]


@pytest.mark.parametrize(
    "name", ["resnet18", "resnet50", "vgg16", "mobilenet_v2", "efficientnet_b0", "densenet121", "googlenet", "unet", ""]
)
def test_channels_go_inside_blocks_as_if_they_were_zero(name: str) -> None:
    torch.manual_seed(0)
    original = narrow(load_project(TEMPLATES / f"{name}.netwright").project.network) if name else nested()
    module = built(original).double()
    state = module.state_dict()
    for key, x in state.items():
        if x.ndim > 1:
            x *= 6**0.5  # He: answers at the end of a deep network follow from its input
        elif x.is_floating_point():
            x.uniform_(0.5, 1) if key.endswith("running_var") else x.normal_()
    pruned = prune(original, state, 0.4, structured=True)
    smaller = built(pruned.network).double()
    fill(smaller, pruned.weights)
    names = prefixes(original, analyse(original))
    channels, removed, _ = select_channels(original, state, 0.4, names)
    for path, each in channels.layers.items():
        labels = channels.made.get(path) or (channels.inputs[path] or ((),))[0]
        places = [place for place, label in enumerate(labels) if channels.root(label) in removed]
        for key in state:
            if key.rpartition(".")[0] in names.get(path, ()) and key.endswith((".weight", ".bias")) and places:
                axis = each.type.key.startswith("transposed") and key.endswith(".weight")
                state[key].transpose(0, int(axis))[places] = 0
    x = torch.randn(2, 1 if name == "unet" else 3, *(32, 32) if name else (6, 6), dtype=torch.float64)
    expected = module(x)
    assert (smaller(x) - expected).abs().max() < 1e-6 * expected.std(0).max()
    kept = [sum(p.numel() for p in each.parameters()) for each in (smaller, module)]
    assert kept[0] < 0.6 * kept[1]
    assert {id: type(each.type) for id, each in original.layers.items()} == {
        id: type(each.type) for id, each in pruned.network.layers.items()
    }, "blocks stay"


def test_the_smallest_weights_of_all_layers_become_zero() -> None:
    found = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2))
    module = built(found)
    key = next(key for key in module.state_dict() if key.endswith("weight"))
    state = {**module.state_dict(), key: torch.tensor([[0.1, -4.0], [3.0, -0.2]])}
    pruned = prune(found, state, 0.5, structured=False)
    assert pruned.weights[key].tolist() == [[0.0, -4.0], [3.0, 0.0]]
    assert pruned.network is found


def test_what_cannot_be_pruned_is_refused_by_name() -> None:
    found = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2))
    state = built(found).state_dict()
    with pytest.raises(UserError, match=r"No channel of the network can be removed.*output"):
        prune(found, state, 0.5, structured=True)
    with pytest.raises(UserError, match="from 0 to below 1, received 1"):
        prune(found, state, 1.0, structured=False)


@pytest.mark.parametrize("solver", ["sgdm", "adam"])
def test_zeros_stay_while_the_rest_learns(solver: str) -> None:
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    with torch.no_grad():
        module.weight[0, 1] = 0
        module.bias.zero_()
    found = Solver(TrainingOptions(solver=solver), module, keeps_zeros=True)
    before = module.weight.detach().clone()
    for _ in range(3):
        module.zero_grad()
        module(torch.ones(4, 3)).square().sum().backward()
        found.step(0.01)
    assert module.weight[0, 1] == 0
    assert (module.weight != before).sum() == 5
    assert (module.bias != 0).all(), "a bias begins at zero and learns"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return table_run(tmp_path_factory.mktemp("pruned"))


def table_run(folder: Path) -> Done:
    """A short run on a table with two classes."""
    numbers = np.random.default_rng(0).standard_normal((200, 2))
    rows = [f"{a:.4f},{b:.4f},{'no' if a * b < 0 else 'yes'}" for a, b in numbers]
    (folder / "a.csv").write_text("\n".join(["a,b,y", *rows]))
    found = chain(
        layer("feature_input", channels=2),
        layer("fully_connected", outputs=8),
        layer("relu"),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(found)
    return train(
        replace(
            project,
            data=project.data.replace(source="table", path=str(folder / "a.csv")),
            training=project.training.replace(max_epochs=2, solver="adam", initial_learn_rate=0.05),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )


def test_a_pruned_project_goes_on_from_the_weights_that_are_left(
    done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "small.netwright"
    assert main(["prune", str(done.folder.path), "--amount", "0.5", "-o", str(to), "--json"]) == 0
    found = checked_output(capsys.readouterr().out)
    whole, half = found["rows"]
    assert (whole["amount"], half["amount"], found["split"]) == (0.0, 0.5, "test")
    assert whole["metrics"]["accuracy"] == done.result["test"]["accuracy"]
    assert half["nonzero"] == whole["nonzero"] - 16
    project = load_project(to).project
    assert project.weights.keep_zeros
    absolute = project.weights.replace(file=str(tmp_path / project.weights.file))
    data = project.data.replace(path=str(done.folder.path.parent / "a.csv"))
    again = train(replace(project, data=data).with_section("weights", absolute), tmp_path / "again")
    state, _ = load(again.folder.path / "last")
    assert sum(int((x == 0).sum()) for x in state.values() if x.ndim == 2) == 16
    assert main(["prune", str(done.folder.path), "-o", str(to)]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["prune", str(done.folder.path), "--structured", "--amounts", "0.5"]) == 0
    assert "amount" in capsys.readouterr().out
