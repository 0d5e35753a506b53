from netwright.engine.network.arrangement import arrange, carried
from netwright.engine.network.layout import Comment, Frame, Layout
from tests.builders import classifier

WAS = {"a": (0.0, 0.0), "b": (0.0, 60.0), "c": (400.0, 300.0)}
NOW = {"a": (100.0, 0.0), "b": (100.0, 120.0), "c": (0.0, 600.0)}


def test_a_frame_stays_around_its_layers_as_far_as_it_was() -> None:
    old = Layout(WAS, frames=(Frame("f", (-16.0, -32.0), (208.0, 150.0)),))
    (frame,), _ = carried(old, NOW)
    assert frame.at == (84.0, -32.0)
    assert frame.size == (208.0, 210.0)


def test_what_holds_no_layer_goes_with_the_nearest() -> None:
    frames = (Frame("f", (600.0, 300.0), (50.0, 40.0)),)
    old = Layout(WAS, frames=frames, comments=(Comment("k", (200.0, 70.0), (80.0, 40.0), "why"),))
    (frame,), (comment,) = carried(old, NOW)
    assert frame.at == (200.0, 600.0)
    assert comment.at == (300.0, 130.0)
    assert comment.text == "why"


def test_arranging_keeps_frames_comments_and_what_is_in_blocks() -> None:
    network = classifier()
    inside = {next(iter(network.layers)): Layout({"inner": (5.0, 5.0)})}
    places = {id: (300.0, 90.0 * number) for number, id in enumerate(network.layers)}
    old = Layout(places, (Frame("f", (290.0, -10.0), (200.0, 160.0)),), (Comment("k", (0.0, 0.0), (9.0, 9.0)),), inside)
    layout = arrange(network, old)
    assert layout.inside == inside
    assert layout.frames[0].at == (-10.0, -10.0)
    assert layout.frames[0].size == (200.0, 130.0)
    assert layout.comments[0].at == (-300.0, 0.0)
    assert arrange(network, layout) == layout


def test_without_layers_nothing_moves() -> None:
    old = Layout({}, comments=(Comment("k", (1.0, 2.0), (9.0, 9.0)),))
    assert carried(old, {}) == (old.frames, old.comments)
