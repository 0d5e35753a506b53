"""Every fix that is offered, on generated networks: it does not fail, and the problem is gone."""

from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.network.network import Layer, Network
from netwright.engine.project.check import check
from netwright.engine.project.project import Project
from tests.builders import add, layer

WIDTHS = st.sampled_from([2, 3, 5])
STEPS = st.sampled_from(
    ["feature_input", "fully_connected", "softmax", "dropout", "relu", "batch_norm", "addition", "concatenation"]
)


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Vectors that go through layers of all kinds that the advice looks at, in several branches and parts."""
    network, first = add(Network.empty(), layer("feature_input", channels=draw(WIDTHS)))
    layers: list[Layer] = [first]
    for key in draw(st.lists(STEPS, max_size=10)):
        values = {"feature_input": "channels", "fully_connected": "outputs"}
        type = layer(key, **({values[key]: draw(WIDTHS)} if key in values else {}))
        # The last layer is taken more often than others, so that chains grow.
        feeds = [draw(st.sampled_from([*layers, *layers[-1:] * 4])) for _ in type.input_ports()]
        network, added = add(network, type, *feeds)
        layers.append(added)
    project = Project(network)
    return project.with_section("training", project.training.replace(mini_batch_size=draw(st.sampled_from([1, 128]))))


@given(projects())
def test_each_fix_removes_its_problem(project: Project) -> None:
    for problem in check(project).problems:
        if problem.fix is not None:
            after = check(problem.fix.edit(project)).problems
            assert problem not in after, problem.fix.label


@given(projects())
def test_fixing_one_after_the_other_comes_to_an_end(project: Project) -> None:
    """No fix brings back what another one repaired."""
    for _ in range(40):
        fixes = [problem.fix for problem in check(project).problems if problem.fix is not None]
        if not fixes:
            return
        project = fixes[0].edit(project)
    raise AssertionError([problem.message for problem in check(project).problems])
