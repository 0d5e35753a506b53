import pytest

from netwright.designer import placement
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Comment, Frame, Layout
from tests.builders import chain, layer


def test_places_are_on_the_grid():
    assert placement.snapped((13.0, -3.0)) == (16.0, 0.0)


def test_a_free_place_stays_as_it_is():
    assert placement.free_place(Layout({"a": (0.0, 0.0)}), (0.0, 100.0)) == (0.0, 100.0)


def test_a_taken_place_moves_to_the_right_until_it_is_free():
    layout = Layout({"a": (0.0, 0.0), "b": (placement.COLUMN, 8.0)})
    x, y = placement.free_place(layout, (20.0, 0.0))
    assert y == 0.0
    assert all(abs(x - at[0]) >= NODE_WIDTH or abs(y - at[1]) >= NODE_HEIGHT for at in layout.positions.values())


def overlaps(one, other):
    return abs(one[0] - other[0]) < NODE_WIDTH and abs(one[1] - other[1]) < NODE_HEIGHT


def moved_by(shift, layout):
    return [(x + shift[0], y + shift[1]) for x, y in layout.positions.values()]


@pytest.mark.parametrize("flow", ["down", "right"])
@pytest.mark.parametrize("spacing", [(0.0, 60.0), (272.0, 0.0), (32.0, 32.0), (200.0, 48.0)])
def test_copies_lie_on_nothing(flow, spacing):
    clip = Layout({str(i): (i * spacing[0], i * spacing[1]) for i in range(6)}, flow=flow)
    around = {f"other {i}": (i * 300.0, 400.0 - i * 90.0) for i in range(5)}
    layout = clip.moved(around)
    after = moved_by(placement.beside(layout, clip), clip)
    assert not any(overlaps(one, other) for one in after for other in layout.positions.values())
    again = layout.moved({f"copy {i}": at for i, at in enumerate(after)})
    later = moved_by(placement.beside(again, clip), clip)
    assert not any(overlaps(one, other) for one in later for other in again.positions.values())


def test_copies_of_a_chain_stand_beside_it_and_what_was_cut_comes_back_to_its_place():
    chained = Layout({str(i): (0.0, i * 60.0) for i in range(8)})
    assert placement.beside(chained, chained.part({"3", "4"})) == (184.0, 0.0)
    assert placement.beside(chained.without({"3", "4"}), chained.part({"3", "4"})) == (0.0, 0.0)
    level = Layout({str(i): (i * 272.0, 0.0) for i in range(8)}, flow="right")
    assert placement.beside(level, level.part({"3", "4"})) == (0.0, 56.0)
    wide = Layout({str(i): (i * 184.0, 0.0) for i in range(8)})
    assert placement.beside(wide, wide.part({"0"})) == (0.0, 56.0), "not behind seven others"


def test_copies_lie_on_no_comment_and_frames_on_no_frame():
    comment = Comment("c", (184.0, 0.0), (200.0, 88.0), "Why?")
    layout = Layout({"a": (0.0, 0.0), "below": (0.0, 56.0)}, comments=(comment,), flow="down")
    assert placement.beside(layout, Layout({"a": (0.0, 0.0)})) == (392.0, 0.0)
    framed = Layout(frames=(Frame("f", (0.0, 0.0), (400.0, 300.0)),))
    assert placement.beside(framed, framed) == (408.0, 0.0)
    assert placement.beside(framed, Layout({"a": (40.0, 40.0)})) == (0.0, 0.0), "a layer may lie in a frame"


def test_inserting_moves_only_what_follows_and_only_if_it_must():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    image, relu, softmax = network.layers
    (first, _) = network.connections
    tight = Layout({image: (0.0, 0.0), relu: (0.0, 60.0), softmax: (0.0, 120.0)})
    after = placement.inserted(network, tight, first, "new", (10.0, 30.0))
    assert after.positions == {image: (0.0, 0.0), "new": (0.0, 60.0), relu: (0.0, 120.0), softmax: (0.0, 180.0)}
    wide = Layout({image: (0.0, 0.0), relu: (0.0, 200.0), softmax: (0.0, 260.0)})
    after = placement.inserted(network, wide, first, "new", (300.0, 90.0))
    assert after.at("new") == (304.0, 88.0)
    assert after.at(relu) == (0.0, 200.0)
