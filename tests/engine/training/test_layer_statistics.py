"""What is watched beside the loss, against sums made by hand; and how seldom layers are looked at."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.runs.events import Event, Health, Points, Refused, Requested
from netwright.engine.runs.requests import PendingRequests
from netwright.engine.training.layer_statistics import LayerWatch, Watch, sizes_of_units
from tests.small_training import Small


class Now:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def network() -> nn.Sequential:
    """Of its three hidden units the first is dead, the others copy their input."""
    made = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 1, bias=False))
    made[0].weight.data = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    made[2].weight.data = torch.tensor([[1.0, 2.0, 3.0]])
    return made


LAYERS = {"in": (), "fc": ("0",), "relu": ("1",), "out": ("2",), "left_out": ("3",)}


def look(watch: Watch | LayerWatch, net: nn.Module, step: int) -> None:
    watch.before(step)
    net.zero_grad()
    net(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    watch.after()


def test_layers_are_seen_as_they_are() -> None:
    net = network()
    watch = LayerWatch(net, LAYERS, {}, Now())
    look(watch, net, 7)
    (event,) = watch.take()
    assert isinstance(event, Health)
    assert event.iteration == 7
    assert list(event.layers) == ["fc", "relu", "out"]
    norm, size, dead = event.layers["relu"]
    assert norm == -1, "it has no weights"
    assert size == pytest.approx(math.sqrt(30 / 6), rel=0.01)
    assert dead == pytest.approx(1 / 3, rel=0.01)
    last = net[2]
    assert isinstance(last, nn.Linear)
    weights = last.weight.grad
    assert weights is not None
    assert event.layers["out"][0] == pytest.approx(float(weights.norm()), rel=0.01)
    assert event.layers["out"][2] == 0
    assert watch.take() == []


def test_layers_are_looked_at_every_few_seconds_and_carry_no_hooks_between() -> None:
    net, now = network(), Now()
    watch = LayerWatch(net, LAYERS, {}, now)
    seen = []
    for step in range(1, 11):
        look(watch, net, step)
        assert not any(module._forward_hooks for module in net.modules())
        seen += [event.iteration for event in watch.take() if isinstance(event, Health)]
        now.time += 1.0
    assert seen == [1, 2, 3, 4, 6, 8, 10], "more often at first, for short runs"


def test_what_was_not_told_yet_is_not_measured_again() -> None:
    net, now = network(), Now()
    watch = LayerWatch(net, LAYERS, {}, now)
    look(watch, net, 1)
    now.time += 60
    look(watch, net, 2)
    assert [event.write()["iteration"] for event in watch.take()] == [1]


def test_layers_are_seen_that_compute_elsewhere_than_their_weights_are_kept() -> None:
    """As weights that are offloaded to the CPU; a device without numbers stands for the GPU."""

    class Elsewhere(nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input).to("meta")

    net = nn.Sequential(Elsewhere(2, 3))
    watch = LayerWatch(net, {"fc": ("0",), "never": ("",)}, {}, Now())
    watch.before(1)
    net(torch.ones(2, 2))
    net[0].weight.grad = torch.ones(3, 2)
    watch.after()
    assert watch._recorded is not None
    assert watch._recorded[2].device.type == "meta"


@pytest.mark.parametrize(("shape", "units"), [((4, 3), 1), ((4, 3, 5, 5), 1), ((4, 7, 3), 2), ((6,), 1)])
def test_units_lie_along_one_dimension(shape: tuple[int, ...], units: int) -> None:
    output = torch.randn(shape)
    if units < len(shape):
        output.select(units, 1).zero_()
    size, dead = sizes_of_units(output, units).tolist()
    assert size == pytest.approx(float(output.square().mean().sqrt()), rel=1e-5)
    assert dead == pytest.approx(1 / 3 if units < len(shape) else 0.0)


def test_outputs_that_are_no_numbers_or_that_overflow_half_precision() -> None:
    assert math.isnan(sizes_of_units(torch.tensor([[1.0, math.nan]]), 1)[0])
    assert sizes_of_units(torch.empty(0, 3), 1)[0] == -1
    size, _ = sizes_of_units(torch.full((100, 100), 6e4, dtype=torch.float16), 1)
    assert size == pytest.approx(6e4, rel=0.01)


def test_the_norm_is_that_of_all_gradients_together() -> None:
    net = network()
    watch = Watch(net.parameters(), SingleProcess(), gradient_norm=True)
    watch.before(1)
    net(torch.ones(2, 2)).sum().backward()
    square = watch.after()
    assert square is not None
    whole = torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None])
    assert float(square) == pytest.approx(float(whole.square().sum()))
    assert Watch(net.parameters(), SingleProcess()).after() is None


def told(small: Small, kind: type[Event]) -> list[Any]:
    return [event for event in small.outbox.events if isinstance(event, kind)]


def losses(small: Small) -> list[float]:
    return [loss for event in told(small, Points) if event.split == "training" for loss in event.values["loss"]]


def test_watching_begins_and_ends_on_request(tmp_path: Path) -> None:
    """What is learned stays the same to the bit. The network is one that trains without autograd where nobody looks."""
    plain = Small(tmp_path, epochs=200)
    plain.run()
    watched = Small(tmp_path, epochs=200)
    watched.asked = (
        PendingRequests.of({"do": "watch", "gradient_norm": 1, "layers": 1}),
        PendingRequests.of({"do": "watch", "layers": 0}),
    )
    watched.asked += (PendingRequests.of({"do": "watch", "gradient_norm": 0}),)
    watched.run()
    assert losses(watched) == losses(plain)
    done = [(event.what, event.value) for event in told(watched, Requested)]
    assert done == [("watch_gradient_norm", 1), ("watch_layers", 1), ("watch_layers", 0), ("watch_gradient_norm", 0)]
    begin, _, _, end = (event.iteration for event in told(watched, Requested))
    curves = [event for event in told(watched, Points) if event.split == "training"]
    assert [begin < event.first_step <= end for event in curves] == ["gradient_norm" in c.values for c in curves]
    assert all(norm > 0 for event in curves for norm in event.values.get("gradient_norm", ()))
    (seen,) = told(watched, Health)
    assert seen.iteration == begin + 1
    assert seen.layers["fc"][0] == pytest.approx(curves[1].values["gradient_norm"][0], rel=1e-2)


def test_what_cannot_be_watched_is_refused_in_words(tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.refusals = {"layers": "a stage has only some of them"}
    small.asked = (PendingRequests.of({"do": "watch", "layers": 1}),)
    small.run()
    (refused,) = told(small, Refused)
    assert (refused.what, refused.iteration, refused.reason) == ("watch_layers", 1, "a stage has only some of them")
    assert not told(small, Requested)


def test_what_was_watched_is_watched_after_a_checkpoint() -> None:
    watch, again = (Watch(network().parameters(), SingleProcess(), refusals={"layers": "no"}) for _ in range(2))
    watch.switch("gradient_norm", is_on=True)
    watch.switch("layers", is_on=True)
    again.load_state_dict(watch.state_dict())
    assert again.state_dict() == {"gradient_norm": True, "layers": False}
    again.load_state_dict({})
    assert again.state_dict()["gradient_norm"], "a checkpoint of before this could change says nothing"
