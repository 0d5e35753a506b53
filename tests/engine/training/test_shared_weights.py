"""Layers with one set of weights train as a module of torch that is called twice: every loss, and the weights."""

import pytest
import torch
from torch import nn

from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.lowering.module import build
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Network
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import classes_of
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.losses import loss_for
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep
from tests.builders import add, chain, layer

SAMPLES, BATCH, EPOCHS = 24, 8, 4


class ByHand(nn.Module):
    """A convolution and a normalisation that are called twice, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1, self.bn_1, self.fc_1 = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.Linear(75, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return scores: `x` is (N, 3, 5, 5)."""
        first = torch.tanh(self.conv_1(self.bn_1(x)))
        return self.fc_1(torch.tanh(self.conv_1(self.bn_1(first))).flatten(1))


def network() -> Network:
    made = chain(
        layer("image_input", channels=3, size=5, normalization="none"),
        *[layer("batch_norm"), layer("conv2d", filters=3), layer("tanh")] * 2,
        layer("fully_connected", outputs=3),
    )
    for name in ("conv", "bn"):
        made = edits.share_weights(made, [made.layer(f"{name}_1").id, made.layer(f"{name}_2").id])
    return made


def data() -> ResidentDataset:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(SAMPLES, 3, 5, 5, generator=generator)
    return ResidentDataset((x,), (torch.randint(0, 3, (SAMPLES,), generator=generator),))


@pytest.mark.parametrize("solver", ["sgdm", "adam"])
def test_losses_and_weights_are_those_of_a_module_that_is_called_twice(solver: str) -> None:
    torch.manual_seed(2)
    made = network()
    built, plain, part = build(made, analyse(made)), ByHand(), data()
    assert built.state_dict().keys() == plain.state_dict().keys()
    assert analyse(made).parameters == sum(p.numel() for p in plain.parameters())
    built.load_state_dict(plain.state_dict())
    settings = {"initial_learn_rate": 0.01, "l2_regularization": 0.0, "shuffle": "never", "mini_batch_size": BATCH}
    options = TrainingOptions(solver=solver, **settings)
    group = SingleProcess()
    model = TrainedModel(built, Single(built), Solver(options, built), group)
    step = TrainStep(model, loss_for(options, alone(*classes_of("a", "b", "c")), part.targets), lambda step: 0.01)
    loader = BatchLoader(part, SampleOrder(SAMPLES, BATCH, "never", 0), group)
    rules = {
        "sgdm": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    }
    optimizer = rules[solver](plain.parameters())
    for epoch in range(EPOCHS):
        for number, batch in enumerate(loader.of_epoch(epoch + 1)):
            rows = slice(number * BATCH, (number + 1) * BATCH)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(plain(part.inputs[0][rows]), part.targets[0][rows])
            loss.backward()
            optimizer.step()
            done = step(batch, epoch * len(range(0, SAMPLES, BATCH)) + number)
            assert float(done.loss) == pytest.approx(float(loss.detach()), rel=1e-6)
    for key, value in plain.state_dict().items():
        torch.testing.assert_close(built.state_dict()[key], value, rtol=1e-5, atol=1e-6)


def test_a_shared_block_is_one_module() -> None:
    inner, start = add(Network.empty(), BlockInput())
    inner, fc = add(inner, layer("fully_connected", outputs=4), start)
    inner, _ = add(inner, BlockOutput(), fc)
    made = chain(layer("feature_input", channels=4, normalization="none"))
    made, first = add(made, Block(inner), made.layer("feature_input_1"))
    made, second = add(made, Block(inner), first)
    made = edits.share_weights(made, [first.id, second.id])
    built = build(made, analyse(made))
    assert list(dict(built.named_parameters())) == ["block_1.fc_1.weight", "block_1.fc_1.bias"]
    x = torch.randn(2, 4)
    own = built.get_submodule("block_1.fc_1")
    assert torch.equal(built(x), own(own(x)))
