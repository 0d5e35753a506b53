from designer import placement
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
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


def test_copies_stand_beside_their_originals():
    layout = Layout({"a": (0.0, 0.0), "b": (32.0, 32.0)})
    assert placement.beside(layout, [(0.0, 0.0)]) == (64.0, 64.0)
    assert placement.beside(layout, [(500.0, 0.0)]) == (0.0, 0.0)


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
