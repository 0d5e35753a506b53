from dataclasses import replace

from netwright.engine.core.types import features
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from netwright.engine.project.target_scale import fitted_outputs
from tests.builders import chain, layer

ENDS = layer("feature_input", channels=4), layer("fully_connected", outputs=2)
FITTED = layer("inverse_norm", numbers="fitted")


def facts(targets: tuple[TargetInfo, ...] = numbers_of(2)) -> DatasetInfo:
    samples = {"training": 200, "validation": 10, "test": 10}
    return DatasetInfo((InputInfo("x", features(4)),), samples, targets)


def project(network: Network, *, is_on: bool = True) -> Project:
    made = Project(network)
    return replace(made, training=made.training.replace(normalize_targets=is_on))


def told(made: Project, known: DatasetInfo | None = None) -> list[Problem]:
    return [p for p in check(made, known).problems if "normal" in p.message + p.field or "fitted" in p.message]


def test_a_fitted_layer_at_the_end_is_all_that_is_needed() -> None:
    network = chain(*ENDS, FITTED)
    assert fitted_outputs(network) == {0: "id3"}
    for is_on in (True, False):
        assert not told(project(network, is_on=is_on), facts())


def test_without_one_it_is_offered() -> None:
    made = project(chain(*ENDS))
    assert [p.severity for p in told(made)] == ["warning"]
    (problem,) = told(made, facts())
    assert (problem.severity, problem.field) == ("error", "training.normalize_targets")
    assert problem.fix is not None
    mended = problem.fix.edit(made)
    assert not told(mended, facts())
    assert [mended.network.layers[id].name for id in fitted_outputs(mended.network).values()] == ["inverse_norm_1"]
    assert told(project(chain(*ENDS, layer("inverse_norm"))), facts()), "its numbers are given, not fitted"


def test_a_fitted_layer_that_does_not_give_responses_is_refused() -> None:
    (problem,) = told(project(chain(ENDS[0], FITTED, ENDS[1]), is_on=False))
    assert (problem.severity, problem.name, problem.field) == ("error", "inverse_norm_1", "numbers")
    assert "must be the last layer" in problem.message
    inside = Block(chain(layer("block_input"), FITTED, layer("block_output")))
    (problem,) = told(project(chain(*ENDS, inside), is_on=False))
    assert "Move it behind the block" in problem.message


def test_classes_have_no_units() -> None:
    made, known = project(chain(*ENDS, FITTED)), facts(classes_of("a", "b"))
    (problem,) = told(made, known)
    assert problem.fix is not None
    (after,) = told(problem.fix.edit(made), known)
    assert after.name == "inverse_norm_1"
    assert after.fix is not None
    assert not told(after.fix.edit(problem.fix.edit(made)), known)
    assert (problem.field, "no units" in problem.message) == ("training.normalize_targets", True)
    (problem,) = told(project(chain(*ENDS, FITTED), is_on=False), facts(classes_of("a", "b")))
    assert (problem.name, problem.field) == ("inverse_norm_1", "numbers")


def test_it_does_not_go_with_levenberg_marquardt() -> None:
    options = Project(chain(*ENDS)).training.replace(normalize_targets=True, solver="lm")
    assert [error.path for error in options.problems()] == ["normalize_targets"]


def test_large_responses_are_told_before_the_loss_becomes_infinite() -> None:
    known = facts((replace(numbers_of(2)[0], largest=670_000.0),))
    made = project(chain(*ENDS), is_on=False)
    (problem,) = told(made, known)
    assert (problem.severity, problem.field) == ("warning", "training.normalize_targets")
    assert problem.message.startswith("The responses reach 670,000: ")
    assert problem.fix is not None
    mended = problem.fix.edit(made)
    assert mended.training.normalize_targets
    assert fitted_outputs(mended.network)
    assert not told(mended, known)
    assert not told(project(chain(*ENDS, layer("inverse_norm")), is_on=False), known), "given units are meant"


def test_a_fitted_layer_alone_does_not_keep_a_large_loss_small() -> None:
    known = facts((replace(numbers_of(2)[0], largest=670_000.0),))
    made = project(chain(*ENDS, layer("inverse_norm", numbers="fitted")), is_on=False)
    (problem,) = told(made, known)
    assert problem.fix is not None
    mended = problem.fix.edit(made)
    assert mended.training.normalize_targets
    assert mended.network == made.network


def test_what_is_large_depends_on_the_solver() -> None:
    known = facts((replace(numbers_of(2)[0], largest=250.0),))
    made = project(chain(*ENDS), is_on=False)
    assert told(made, known)
    for solver in ("adam", "lm"):
        assert not told(replace(made, training=made.training.replace(solver=solver)), known)
