"""What cannot be watched is refused in words."""

from netwright.engine.project.training import TrainingOptions


def test_a_solver_without_a_gradient_has_no_norm_of_it() -> None:
    (problem,) = TrainingOptions(solver="lm", watch_gradient_norm=True, watch_layers=True).problems()
    assert problem.path == "watch_gradient_norm"
    assert "no gradient" in str(problem)
    assert not TrainingOptions(watch_gradient_norm=True, watch_layers=True).problems()
