"""Past autograd the same bits come out, and what is not known to do so stays with autograd."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import fx, nn

from netwright.engine.data.loading.batches import Batch
from netwright.engine.lowering.modules.normalization import Normalize
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.fast import manual_backward
from netwright.engine.training.fast.manual_backward import chain_backward
from netwright.engine.training.losses import Loss, SingleOutputLoss, cross_entropy, half_mse, huber, mse
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import StepOptions, TrainStep

CPU = torch.device("cpu")
SIZES = (32, 32, 7, 32, 7)
WEIGHTED = partial(cross_entropy, weight=torch.tensor([1.0, 3.0, 0.5]))
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "swish": nn.SiLU,
    "leaky relu": partial(nn.LeakyReLU, 0.2),
    "elu": partial(nn.ELU, 0.7),
    "gelu": nn.GELU,
    "gelu by tanh": partial(nn.GELU, "tanh"),
    "dropout": partial(nn.Dropout, 0.3),
    "nothing": partial(nn.Linear, 6, 6, bias=False),
}


def network(middle: Callable[[], nn.Module] = nn.ReLU) -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(Normalize(4, 1, 1), nn.Linear(4, 6), middle(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))


class EachLayer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return True


def as_built(model: nn.Module) -> fx.GraphModule:
    """A graph that calls each layer, as networks are built."""
    return fx.GraphModule(model, EachLayer().trace(model))


def batches(loss: Loss) -> list[Batch]:
    drawn = torch.Generator().manual_seed(2)
    is_classes = isinstance(loss, SingleOutputLoss) and loss.loss not in (half_mse, mse)
    made = []
    for size in SIZES:
        inputs = torch.randn(size, 4, generator=drawn)
        classes, numbers = torch.randint(0, 3, (size,), generator=drawn), torch.randn(size, 3, generator=drawn)
        made.append(Batch((inputs,), (classes if is_classes else numbers,), size, size))
    return made


def trained(
    model: nn.Module, loss: Loss, precision: Precision | None = None, *, manual_backward: bool = True
) -> tuple[list[torch.Tensor], TrainStep]:
    """What every step gives, and the weights behind the last."""
    solver = Solver(TrainingOptions(solver="adam", initial_learn_rate=0.01), model)
    trained_model = TrainedModel(model, Single(model), solver, SingleProcess(), precision)
    train = TrainStep(trained_model, loss, lambda step: 0.01, options=StepOptions(manual_backward=manual_backward))
    torch.manual_seed(3)
    found = []
    for step, batch in enumerate(batches(loss)):
        done = train(batch, step)
        found += [done.loss, *done.outputs]
    return [*found, *(p.detach() for p in model.parameters()), torch.get_rng_state()], train


def goes_past_autograd(train: TrainStep) -> bool:
    return train._manual_backward is not None and train._manual_backward.is_equal


@pytest.mark.parametrize("middle", LAYERS.values(), ids=LAYERS)
def test_a_training_is_the_same_to_the_bit(middle: Callable[[], nn.Module]) -> None:
    loss = SingleOutputLoss(cross_entropy)
    found, train = trained(as_built(network(middle)), loss)
    wanted, other = trained(network(middle), loss, manual_backward=False)
    assert goes_past_autograd(train)
    assert not goes_past_autograd(other)
    assert all(map(torch.equal, found, wanted))


@pytest.mark.parametrize("of_one", [WEIGHTED, half_mse, mse], ids=["weighted", "half-mse", "mse"])
def test_so_it_is_for_other_losses(of_one: Callable[..., torch.Tensor]) -> None:
    found, train = trained(network(), SingleOutputLoss(of_one))
    wanted, _ = trained(network(), SingleOutputLoss(of_one), manual_backward=False)
    assert goes_past_autograd(train)
    assert all(map(torch.equal, found, wanted))


def test_in_double_precision_and_with_frozen_layers_too() -> None:
    def half_frozen() -> nn.Module:
        model = network()
        model[1].requires_grad_(False)
        assert isinstance(model[3], nn.Linear)
        model[3].bias.requires_grad_(False)
        return model.double()

    def doubled(batch: Batch) -> Batch:
        return Batch((batch.inputs[0].double(),), batch.targets, batch.count, batch.total)

    loss, models = SingleOutputLoss(cross_entropy), [half_frozen(), half_frozen()]
    chain = chain_backward(models[0], loss)
    assert chain is not None
    batch = doubled(batches(loss)[0])
    answer = chain(batch)
    mean = loss((models[1](*batch.inputs),), batch.targets) / batch.total
    torch.autograd.backward(mean)
    assert torch.equal(answer.loss, mean.detach())
    for mine, theirs in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert (mine.grad is None) == (theirs.grad is None)
        if mine.grad is not None and theirs.grad is not None:
            assert torch.equal(mine.grad, theirs.grad)


@pytest.mark.parametrize("wrong", ["another bit", "another name"])
def test_kernels_that_do_something_else_are_not_used(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(gradient: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if wrong == "another name":
            raise AttributeError("threshold_backward")
        return gradient * (y > 0) * (1 + 2e-7)

    monkeypatch.setitem(
        manual_backward._MAKERS, nn.ReLU, lambda m: manual_backward._Activation(m, other, of_output=True)
    )
    found, train = trained(network(), SingleOutputLoss(cross_entropy))
    monkeypatch.undo()
    wanted, _ = trained(network(), SingleOutputLoss(cross_entropy), manual_backward=False)
    assert not goes_past_autograd(train)
    assert all(map(torch.equal, found, wanted))


def hooked() -> nn.Module:
    model = network()
    model[2].register_forward_hook(lambda module, given, output: 2 * output)
    return model


def shared() -> nn.Module:
    model = network()
    assert isinstance(model[3], nn.Linear)
    return nn.Sequential(model[1], model[2], model[3], model[4], model[3], model[4], model[5])


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return self.one(x) + self.two(x)


OTHERS: dict[str, Callable[[], nn.Module]] = {
    "normalised": partial(network, partial(nn.BatchNorm1d, 6)),
    "in place": partial(network, partial(nn.ReLU, inplace=True)),
    "all left out": partial(network, partial(nn.Dropout, 1.0)),
    "hooked": hooked,
    "shared": shared,
    "branches": lambda: as_built(Branches()),
    "on no CPU": lambda: network().to("meta"),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_what_is_not_known_stays_with_autograd(make: Callable[[], nn.Module]) -> None:
    assert chain_backward(network(), SingleOutputLoss(cross_entropy)) is not None
    assert chain_backward(make(), SingleOutputLoss(cross_entropy)) is None


@pytest.mark.parametrize("of_one", [huber, partial(cross_entropy, smoothing=0.1)], ids=["huber", "smoothing"])
def test_so_do_other_losses(of_one: Callable[..., torch.Tensor]) -> None:
    assert chain_backward(network(), SingleOutputLoss(of_one)) is None
    assert chain_backward(network(), lambda outputs, targets: of_one(outputs[0], targets[0])) is None


def test_so_does_what_is_rounded() -> None:
    _, train = trained(network(), SingleOutputLoss(cross_entropy), precision=Precision("bf16", CPU, SingleProcess()))
    assert not goes_past_autograd(train)


def test_pieces_add_up_in_the_usual_way() -> None:
    whole = batches(SingleOutputLoss(cross_entropy))[0]
    model, other = network(), network()
    loss, (_, train) = SingleOutputLoss(cross_entropy), trained(model, SingleOutputLoss(cross_entropy))
    other.load_state_dict(model.state_dict())
    train.compute_gradients(Batch(whole.inputs, whole.targets, 32, 32, (16, 16)))
    for piece in (slice(16), slice(16, 32)):
        torch.autograd.backward(loss((other(whole.inputs[0][piece]),), (whole.targets[0][piece],)) / 32)
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        assert torch.equal(mine.grad, theirs.grad)
