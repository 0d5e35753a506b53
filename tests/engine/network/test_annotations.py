import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import COUNT_LIMIT, TITLE_LIMIT, Comment, Frame, Layout
from tests.builders import classifier

LAYOUT = Layout(
    {"a": (40.0, 60.0), "b": (40.0, 140.0), "far": (900.0, 60.0)},
    (Frame("f", (0.0, 0.0), (300.0, 300.0), "Stem", "blue"), Frame("g", (20.0, 30.0), (220.0, 100.0))),
    (Comment("f", (30.0, 200.0), (100.0, 60.0), "Why"), Comment("c", (800.0, 0.0), (100.0, 60.0))),
)
F, G, NOTE, FAR = Mark("frame", "f"), Mark("frame", "g"), Mark("comment", "f"), Mark("comment", "c")


def test_a_frame_and_a_comment_of_the_same_id_are_two() -> None:
    assert annotations.marks(LAYOUT) == (F, G, NOTE, FAR)
    assert annotations.find(LAYOUT, F) is LAYOUT.frames[0]
    assert annotations.find(LAYOUT, NOTE) is LAYOUT.comments[0]
    gone = annotations.remove(LAYOUT, {F, FAR})
    assert annotations.marks(gone) == (G, NOTE)
    assert gone.positions is LAYOUT.positions


def test_added_ones_stand_before_the_others() -> None:
    layout, frame = annotations.add_frame(LAYOUT, (0, 0), (200, 100), "New", "red")
    assert layout.frames[-1] == Frame(frame.id, (0, 0), (200, 100), "New", "red")
    layout, comment = annotations.add_comment(layout, (5, 5), "Look")
    assert layout.comments[-1].id == comment.id
    assert annotations.words(layout.comments[-1]) == "Look"


def test_words_colours_and_sizes_change_one_thing_only() -> None:
    layout = annotations.reword(LAYOUT, F, "The  stem\nof it")
    assert [annotations.words(one) for one in layout.frames] == ["The stem of it", ""]
    assert layout.comments is LAYOUT.comments
    assert annotations.reword(LAYOUT, NOTE, "a\nb").comments[0].text == "a\nb"
    assert [one.tone for one in annotations.recolour(LAYOUT, {G, NOTE}, "red").frames] == ["blue", "red"]
    assert annotations.resize(LAYOUT, G, (8, 8), (500, 1)).frames[1].size == (500, annotations.LEAST[1])


def test_the_order_of_the_others_stays() -> None:
    assert annotations.marks(annotations.to_front(LAYOUT, {F})) == (G, F, NOTE, FAR)
    assert annotations.marks(annotations.to_back(LAYOUT, {G, FAR})) == (G, F, FAR, NOTE)


def test_what_stands_in_a_frame_goes_with_it() -> None:
    layers, along = annotations.standing_in(LAYOUT, {F})
    assert layers == {"a", "b"}
    assert along == {F, G, NOTE}
    assert annotations.standing_in(LAYOUT, {G}) == ({"a"}, {G})
    assert annotations.standing_in(LAYOUT, {NOTE}) == (frozenset(), {NOTE})
    moved = annotations.move(LAYOUT, {F, NOTE}, (10, -4))
    assert (moved.frames[0].at, moved.frames[1].at, moved.comments[0].at) == ((10, -4), (20, 30), (40, 196))


def test_a_frame_around_layers_has_room_for_its_title() -> None:
    at, size = annotations.around(LAYOUT, {"a", "b"})
    layout, mark = annotations.add_frame(LAYOUT, at, size)
    assert annotations.standing_in(layout, {mark})[0] == {"a", "b"}
    assert at[1] + annotations.TITLE_HEIGHT < 60
    with pytest.raises(UserError, match="Select the layers"):
        annotations.around(LAYOUT, ())


def test_copies_get_ids_of_their_own() -> None:
    frames, comments = annotations.part(LAYOUT, {F, FAR})
    layout, new = annotations.paste(LAYOUT, Layout({}, frames, comments), (32, 32))
    assert len(annotations.marks(layout)) == 6
    assert not new & {F, G, NOTE, FAR}
    assert layout.frames[-1].at == (32, 32)
    assert layout.frames[-1].title == "Stem"


def test_what_a_file_could_not_hold_is_refused() -> None:
    with pytest.raises(UserError, match="at most 200"):
        annotations.reword(LAYOUT, F, "x" * (TITLE_LIMIT + 1))
    many = Layout({}, tuple(Frame(str(n), (0, 0), (100, 100)) for n in range(COUNT_LIMIT)))
    with pytest.raises(UserError, match="2,000 frames"):
        annotations.add_frame(many, (0, 0), (100, 100))


def test_a_frame_in_a_tight_chain_opens_rows() -> None:
    chain = Layout({str(n): (40.0, 60.0 * n) for n in range(4)}, comments=(Comment("n", (400, 130), (90, 60)),))
    layout, mark = annotations.frame_around(chain, {"1", "2"})
    assert annotations.standing_in(layout, {mark})[0] == {"1", "2"}
    (frame,) = layout.frames
    assert layout.at("0") == (40, 0)
    assert frame.at[1] >= 42 + 8
    assert layout.at("1")[1] - frame.at[1] >= annotations.TITLE_HEIGHT + 8
    assert frame.at[1] + frame.size[1] + 8 <= layout.at("3")[1]
    assert layout.comments[0].at[1] > 130


def test_arranging_makes_room_for_frames_each_time_alike() -> None:
    network = classifier()
    ids = network.order[1:3]
    layout, mark = annotations.frame_around(arrange(network), set(ids), (), "Hidden")
    before = annotations.standing_in(layout, {mark})[0]
    again = arrange(network, layout)
    (frame,) = again.frames
    assert annotations.standing_in(again, {mark})[0] == before == set(ids)
    assert again.at(network.order[0])[1] + 42 < frame.at[1]
    assert frame.at[1] + frame.size[1] < again.at(network.order[3])[1]
    assert arrange(network, again) == again
