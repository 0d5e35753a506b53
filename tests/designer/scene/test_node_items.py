from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from netwright.designer.scene.node_items import Index
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH

places = st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))


@given(st.dictionaries(st.sampled_from("abcdefghij"), places), st.dictionaries(st.sampled_from("abcdefghij"), places))
def test_it_answers_as_looking_at_all_layers_would(first, then):
    index = Index()
    for id, at in [*first.items(), *then.items()]:
        index.put(id, at)
    for id in list(first)[::2]:
        index.drop(id)
    expected = {**first, **then}
    for id in list(first)[::2]:
        del expected[id]
    area = QRectF(-500, -300, 900, 700)
    inside = {
        id
        for id, (x, y) in expected.items()
        if x <= 400 and y <= 400 and x + NODE_WIDTH >= -500 and y + NODE_HEIGHT >= -300
    }
    assert set(index.inside(area)) == inside
    for x, y in expected.values():
        found = index.at(x + 20, y + 20)
        assert found is not None
        left, top = expected[found]
        assert left <= x + 20 <= left + NODE_WIDTH
        assert top <= y + 20 <= top + NODE_HEIGHT
    assert index.positions == expected


def test_there_is_nothing_beside_the_layers():
    index = Index()
    index.put("a", (0.0, 0.0))
    assert index.at(-1, 20) is None
    assert index.at(NODE_WIDTH + 1, 20) is None
    assert index.is_free(-40, 10, -1, 20)
    assert index.is_free(10, NODE_HEIGHT + 1, 50, NODE_HEIGHT + 15)
    assert not index.is_free(-40, 10, 0, 20)
    assert not index.is_free(-40, -40, NODE_WIDTH + 40, NODE_HEIGHT + 40), "it lies within the area"
