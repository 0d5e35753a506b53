"""The compiled network takes the network's place where it can be made, leaves no trace, and gives the same numbers."""

import pytest
import torch
from torch import nn

from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.selection import form_of_data_parallel, strategy_for
from netwright.engine.parallel.sync_batch_norm import Share
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.compilation import accelerate, all_learn

CPU = torch.device("cpu")


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


def step(module: nn.Module) -> None:
    torch.autograd.backward(module(torch.ones(5, 3)).sum())


@pytest.mark.parametrize("how", ["none", "auto"])
def test_on_a_cpu_nothing_is_compiled_unless_asked_for(how: str) -> None:
    model = network()
    assert accelerate(how, model, step, SingleProcess(), CPU) == (model, "")


def test_a_compiled_network_has_the_same_parameters_and_what_was_tried_left_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compiled by the backend that needs no C++ compiler; what becomes of it is torch's own affair."""
    real = torch.compile
    monkeypatch.setattr(torch, "compile", lambda module: real(module, backend="eager"))
    model, plain = network(), network()
    torch.manual_seed(7)
    called, note = accelerate("compile", model, step, SingleProcess(), CPU)
    assert called is not model
    assert note == ""
    assert all(p.grad is None for p in model.parameters())
    assert [p.data_ptr() for p in called.parameters()] == [p.data_ptr() for p in model.parameters()]
    torch.testing.assert_close(model.state_dict(), plain.state_dict(), rtol=0, atol=0)
    assert strategy_for(EnvironmentOptions(), model, SingleProcess(), CPU, Share(), module=called).module is called
    found = called(torch.arange(15.0).view(5, 3))
    torch.manual_seed(7)
    torch.testing.assert_close(found, plain(torch.arange(15.0).view(5, 3)))


def test_one_step_tells_whether_every_weight_gets_a_gradient_and_leaves_no_trace() -> None:
    class Looking(nn.Module):
        """Past what its second layer gives."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = network(), nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.first(x) + self.second(x).detach()

    model, plain = Looking(), Looking()
    plain.load_state_dict(model.state_dict())
    drawn = torch.get_rng_state()
    assert all_learn(model.first, model.first, step, SingleProcess(), CPU)
    assert not all_learn(model, model, step, SingleProcess(), CPU)
    model.second.requires_grad_(False)
    assert all_learn(model, model, step, SingleProcess(), CPU), "what is frozen is to get none"
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(p.grad is None for p in model.parameters())
    torch.testing.assert_close(model.state_dict(), plain.state_dict(), rtol=0, atol=0)


def test_gpus_wait_for_every_gradient_only_where_there_is_one() -> None:
    gpu, halves = torch.device("cuda:0"), EnvironmentOptions(target="multi-gpu", gradient_compression="fp16")
    assert form_of_data_parallel(EnvironmentOptions(), gpu) == "ddp"
    assert form_of_data_parallel(EnvironmentOptions(), gpu, all_learn=False) == "flat"
    assert form_of_data_parallel(halves, gpu, all_learn=False) == "ddp", "which alone compresses, and looks for them"


def test_where_it_cannot_be_compiled_the_run_goes_on_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(module: nn.Module) -> nn.Module:
        def fail(*inputs: torch.Tensor) -> torch.Tensor:
            raise RuntimeError("No working C++ compiler found")

        return fail  # type: ignore[return-value]  # it is only called

    monkeypatch.setattr(torch, "compile", broken)
    model = network()
    called, note = accelerate("compile", model, step, SingleProcess(), CPU)
    assert called is model
    assert "No working C++ compiler found" in note


def test_what_does_not_go_with_it_is_refused() -> None:
    options = TrainingOptions(acceleration="compile", gradient_checkpointing="auto")
    assert "acceleration" in {error.path for error in options.problems()}
