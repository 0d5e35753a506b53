"""Accelerations can be switched off, and one that does not work with this torch is left out with a note."""

import resource
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import psutil
import pytest
import torch
from torch import nn

from netwright.engine.core.errors import FieldErrors
from netwright.engine.core.fork import read_from_child
from netwright.engine.core.types import sequence
from netwright.engine.data.loading.loaded import LoadedData
from netwright.engine.hardware.utilization import release_memory
from netwright.engine.network.analysis import analyse
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo
from netwright.engine.project.project import ACCELERATIONS, Project, RunOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.fast import accelerations, fused_optimizers, manual_backward
from netwright.engine.training.fast.accelerations import Accelerations
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.losses import SingleOutputLoss, cross_entropy
from netwright.engine.training.solvers import Solver
from tests.builders import chain, layer


@pytest.fixture(autouse=True)
def checked_anew() -> Iterator[None]:
    for check in (fused_optimizers.refusal, manual_backward.refusal, accelerations.reuse_refusal):
        check.cache_clear()
    yield
    for check in (fused_optimizers.refusal, manual_backward.refusal, accelerations.reuse_refusal):
        check.cache_clear()


def names_used(options: RunOptions) -> list[str]:
    return [name for name in ACCELERATIONS if options.accelerates(name)]


def test_all_of_them_none_or_a_list() -> None:
    assert names_used(RunOptions()) == list(ACCELERATIONS)
    assert names_used(RunOptions(accelerations=("none",))) == []
    listed = RunOptions(accelerations="shared-memory, manual-backward")
    assert names_used(listed) == ["manual-backward", "shared-memory"]
    assert listed.problems() == []
    with pytest.raises(FieldErrors, match="one or more of all, none, manual-backward"):
        RunOptions(accelerations=("turbo",))


@pytest.mark.parametrize("word", ["all", "none"])
def test_all_and_none_stand_alone(word: str) -> None:
    (problem,) = RunOptions(accelerations=(word, "shared-memory")).problems()
    assert str(problem).startswith("accelerations: 'all' and 'none' stand alone")


def test_with_this_torch_all_work() -> None:
    used = Accelerations(RunOptions())
    assert [name for name in ACCELERATIONS if not used.uses(name)] == []
    assert used.notes() == []


@pytest.mark.parametrize("name", accelerations.CHECKS)
def test_what_is_switched_off_is_not_even_checked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerations, "CHECKS", {name: pytest.fail})
    assert not Accelerations(RunOptions(accelerations=("none",))).uses(name)


def without_backward_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(gradient: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        raise AttributeError("no threshold_backward")

    def relu(module: nn.Module) -> manual_backward.LayerBackward:
        return manual_backward._Activation(module, missing, of_output=True)

    monkeypatch.setitem(manual_backward._MAKERS, nn.ReLU, relu)


def with_other_backward_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(gradient: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return gradient * (y > 0) * (1 + 2e-7)

    def relu(module: nn.Module) -> manual_backward.LayerBackward:
        return manual_backward._Activation(module, other, of_output=True)

    monkeypatch.setitem(manual_backward._MAKERS, nn.ReLU, relu)


def without_fused_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "_fused_adamw_")


def with_other_fused_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "_fused_sgd_", lambda *args, **kwargs: None)


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "no backward kernel": (without_backward_kernel, "manual-backward"),
    "another backward kernel": (with_other_backward_kernel, "manual-backward"),
    "no fused kernel": (without_fused_kernel, "fused-optimizers"),
    "another fused kernel": (with_other_fused_kernel, "fused-optimizers"),
}


@pytest.mark.parametrize(("damage", "name"), BROKEN.values(), ids=BROKEN)
def test_one_that_does_not_work_is_left_out_with_a_note(
    damage: Callable[[pytest.MonkeyPatch], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(monkeypatch)
    used = Accelerations(RunOptions())
    assert [other for other in ACCELERATIONS if not used.uses(other)] == [name]
    (note,) = used.notes()
    assert note.startswith(f"The acceleration {name} is not used: ")
    assert note.endswith(".")


def test_trying_the_kernels_draws_no_random_numbers_of_the_run() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    assert manual_backward.refusal() == ""
    assert torch.equal(torch.get_rng_state(), before)


def test_without_the_kernels_a_chain_stays_with_autograd(monkeypatch: pytest.MonkeyPatch) -> None:
    chain, loss = nn.Sequential(nn.Linear(2, 3)), SingleOutputLoss(cross_entropy)
    assert manual_backward.manual_backward(chain, loss) is not None
    manual_backward.refusal.cache_clear()
    without_backward_kernel(monkeypatch)
    assert manual_backward.manual_backward(chain, loss) is None


@pytest.mark.parametrize("solver", ["sgdm", "adam", "adamw"])
def test_switched_off_the_solver_takes_the_public_optimizer(solver: str) -> None:
    options = TrainingOptions(solver=solver)
    assert isinstance(Solver(options, nn.Linear(2, 2), fused=False)._optimizer, torch.optim.Optimizer)
    assert not isinstance(Solver(options, nn.Linear(2, 2))._optimizer, torch.optim.Optimizer)


def faults_of_a_step(*, keeps: bool) -> int:
    """Return the pages that the system has to clear for the last of equal steps, each of which frees 128 MiB."""

    def measure() -> bytes:
        if keeps:
            accelerations.keep_freed_memory()
        torch.set_num_threads(1)  # a forked child has no threads of OpenMP
        for _ in range(40):  # until the heap has its room for both blocks
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            torch.ones(2**24).add(1)
        return str(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before).encode()

    return int(read_from_child(measure, 60) or b"-1")


@pytest.mark.skipif(bool(accelerations.reuse_refusal()), reason="memory is kept by glibc alone")
def test_memory_that_a_step_frees_is_there_for_the_next_one() -> None:
    assert faults_of_a_step(keeps=False) > 1000
    assert 0 <= faults_of_a_step(keeps=True) < 100


@pytest.mark.skipif(bool(accelerations.reuse_refusal()), reason="memory is kept by glibc alone")
def test_a_pause_gives_back_what_was_kept() -> None:
    def measure() -> bytes:
        accelerations.keep_freed_memory()
        torch.set_num_threads(1)
        torch.ones(2**26)
        kept = psutil.Process().memory_info().rss
        release_memory(torch.device("cpu"))
        return str(kept - psutil.Process().memory_info().rss).encode()

    assert int(read_from_child(measure, 60) or b"-1") > 2**27


@pytest.mark.parametrize("library", [object(), None], ids=["another C library", "Windows"])
def test_without_glibc_memory_is_not_kept_and_a_note_says_so(
    library: object | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: None) -> object:
        if library is None:
            raise TypeError("a name is needed")
        return library

    monkeypatch.setattr("ctypes.CDLL", load)
    used = Accelerations(RunOptions())
    assert not used.uses("memory-reuse")
    assert used.notes() == ["The acceleration memory-reuse is not used: it needs Linux with the C library glibc."]


@pytest.mark.parametrize("lengths", [None, (3, 7)])
def test_memory_is_reused_on_the_cpu_where_every_batch_has_the_same_size(lengths: tuple[int, int] | None) -> None:
    network = chain(layer("sequence_input", channels=2), layer("lstm", hidden_units=3))
    facts = DatasetInfo((InputInfo("x", sequence(7, 2), lengths=lengths),), {"training": 9}, ())
    data = cast(LoadedData, SimpleNamespace(facts=facts))
    job = TrainingJob(Project(network), analyse(network), torch.device("cpu"), data)
    assert job.reuses_memory == (lengths is None)
    assert not replace(job, device=torch.device("cuda:0")).reuses_memory
    assert not replace(job, project=Project(network, run=RunOptions(accelerations=("none",)))).reuses_memory
