"""Where a network is cut into the stages of a pipeline."""

import random
from itertools import combinations, pairwise

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from netwright.engine.project import pipeline_stages
from netwright.engine.project.pipeline_stages import balanced_stages, stages_by_hand
from tests.builders import add, chain, layer


def fully_connected(*sizes: int) -> Network:
    """`input`, then for each size a layer with weights and one without."""
    types = [layer("feature_input", channels=sizes[0])]
    for size in sizes[1:]:
        types += [layer("fully_connected", outputs=size), layer("relu")]
    return chain(*types)


def with_skip() -> Network:
    """in, fc_1, tanh, fc_2, add (of tanh and fc_2), fc_3."""
    network, entering = add(Network.empty(), layer("feature_input", channels=4), name="into")
    network, first = add(network, layer("fully_connected", outputs=6), entering, name="fc_1")
    network, tanh = add(network, layer("tanh"), first, name="tanh")
    network, second = add(network, layer("fully_connected", outputs=6), tanh, name="fc_2")
    network, both = add(network, layer("addition"), tanh, second, name="sum")
    network, _ = add(network, layer("fully_connected", outputs=3), both, name="fc_3")
    return network


def names(network: Network, of: dict[str, int]) -> list[list[str]]:
    count = max(of.values()) + 1
    return [[network.layers[id].name for id in network.order if of[id] == number] for number in range(count)]


def test_equal_layers_are_dealt_out_equally() -> None:
    network = fully_connected(16, 16, 16, 16, 16)
    found = balanced_stages(network, analyse(network), 2)
    assert found.shares == pytest.approx((0.5, 0.5), abs=0.02)
    assert found.sentence == "2 stages: 5 and 4 layers (50 % and 50 % of the work)."


def test_the_largest_layer_is_alone_where_it_can_be() -> None:
    network = fully_connected(4, 8, 512, 2)
    found = balanced_stages(network, analyse(network), 3)
    learning = [sum(name.startswith("fc") for name in part) for part in names(network, dict(found.of))]
    assert learning == [1, 1, 1]


def test_a_cut_goes_past_layers_that_have_little_to_do() -> None:
    network = with_skip()
    found = balanced_stages(network, analyse(network), 2)
    first, second = names(network, dict(found.of))
    assert first[:3] == ["into", "fc_1", "tanh"]
    assert second[-1] == "fc_3"


def test_the_best_of_all_cuts_is_found() -> None:
    """Against trying every one."""
    drawn = random.Random(5)
    for _ in range(200):
        size, count = drawn.randint(3, 9), drawn.randint(1, 3)
        work, learns, crossing = [0], [0], [0]
        for _ in range(size):
            work.append(work[-1] + drawn.randint(0, 5))
            learns.append(learns[-1] + drawn.randint(0, 1))
            crossing.append(drawn.randint(0, 5))
        ways = []
        for cuts in combinations(range(1, size), count - 1):
            parts = list(pairwise((0, *cuts, size)))
            if all(learns[end] > learns[begin] for begin, end in parts):
                ways.append((max(work[end] - work[begin] for begin, end in parts), sum(crossing[cut] for cut in cuts)))
        if not ways:
            continue
        most = pipeline_stages._least_most(work, learns, count)
        found, bytes_crossing = pipeline_stages._cheapest_cuts(work, learns, crossing, count, most)
        assert (most, bytes_crossing) == min(ways)
        assert bytes_crossing == sum(crossing[cut] for cut in found)


def test_layers_follow_those_that_feed_them() -> None:
    network = with_skip()
    found = stages_by_hand(network, analyse(network), "fc_2: 2")
    assert names(network, dict(found.of)) == [["into", "fc_1", "tanh"], ["fc_2", "sum", "fc_3"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fc_2: 2, fc_3: 1", "fc_3 is in stage 1 and takes what sum of stage 2 gives. A connection leads to the same"),
        ("fc_2: 3", "stage 2 of 3 has no layer. Number the stages without gaps."),
        ("fc_2: 2, sum: 3, fc_3: 4", "stage 3 has no layer whose weights learn."),
        ("fc_9: 2", "there is no layer 'fc_9' to be in a stage. Did you mean"),
        ("fc_2 = 2", "such as conv_2: 2, received fc_2 = 2."),
    ],
)
def test_what_cannot_be_is_said(text: str, said: str) -> None:
    network = with_skip()
    with pytest.raises(UserError) as refused:
        stages_by_hand(network, analyse(network), text)
    assert said in str(refused.value)


def test_more_stages_than_layers_that_learn() -> None:
    network = with_skip()
    with pytest.raises(UserError, match="4 stages need as many layers whose weights learn; the network has 3"):
        balanced_stages(network, analyse(network), 4)
