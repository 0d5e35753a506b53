"""Edit frames and comments: pure functions from a layout to a new one, which raise `UserError` if impossible."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from math import ceil
from typing import Literal, NamedTuple, TypeVar

from netwright.engine.core.errors import UserError
from netwright.engine.network.edits import new_id
from netwright.engine.network.layout import (
    COUNT_LIMIT,
    NODE_HEIGHT,
    NODE_WIDTH,
    TEXT_LIMIT,
    TITLE_LIMIT,
    BoxSize,
    Comment,
    Frame,
    Layout,
    Position,
    Tone,
)

Kind = Literal["frame", "comment"]
Annotation = Frame | Comment
_Annotation = TypeVar("_Annotation", Frame, Comment)

TITLE_HEIGHT = 28.0
"""Height of the strip at the top of a frame that holds its title."""
ROOM = 24.0
"""Distance between a new frame and the layers in it."""
_GAP = 8.0
"""Distance between a frame and the layers beside it; the grid of the canvas."""
LEAST: BoxSize = (64.0, 48.0)
COMMENT_SIZE: BoxSize = (200.0, 88.0)


class Mark(NamedTuple):
    """Reference to a frame or a comment; both are numbered separately."""

    kind: Kind
    id: str


def every(layout: Layout) -> tuple[Annotation, ...]:
    """Return all frames or all comments, from back to front."""
    return (*layout.frames, *layout.comments)


def marks(layout: Layout) -> tuple[Mark, ...]:
    """Return references to all frames and comments, from back to front."""
    frames = (Mark("frame", frame.id) for frame in layout.frames)
    return (*frames, *(Mark("comment", comment.id) for comment in layout.comments))


def find(layout: Layout, mark: Mark) -> Annotation | None:
    """Return the frame or comment that a reference names, if it exists."""
    group: tuple[Annotation, ...] = layout.frames if mark.kind == "frame" else layout.comments
    return next((item for item in group if item.id == mark.id), None)


def words(annotation: Annotation) -> str:
    """Return the title of a frame or the text of a comment."""
    return annotation.title if isinstance(annotation, Frame) else annotation.text


def add_frame(layout: Layout, at: Position, size: BoxSize, title: str = "", tone: Tone = "grey") -> tuple[Layout, Mark]:
    """Return the layout with one more frame in front of the others, and a reference to it."""
    _refuse_more(layout.frames, "frames")
    id = new_id({frame.id for frame in layout.frames})
    frame = Frame(id, at, _at_least(size), _short_enough(title, TITLE_LIMIT, "title of a frame"), tone)
    return replace(layout, frames=(*layout.frames, frame)), Mark("frame", id)


def add_comment(
    layout: Layout, at: Position, text: str = "", size: BoxSize = COMMENT_SIZE, tone: Tone = "yellow"
) -> tuple[Layout, Mark]:
    """Return the layout with one more comment in front of the others, and a reference to it."""
    _refuse_more(layout.comments, "comments")
    id = new_id({comment.id for comment in layout.comments})
    comment = Comment(id, at, _at_least(size), _short_enough(text, TEXT_LIMIT, "text of a comment"), tone)
    return replace(layout, comments=(*layout.comments, comment)), Mark("comment", id)


def remove(layout: Layout, marks: Collection[Mark]) -> Layout:
    """Return the layout without these frames and comments; the layers in a frame stay."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")
    return replace(
        layout,
        frames=tuple(item for item in layout.frames if item.id not in frames),
        comments=tuple(item for item in layout.comments if item.id not in comments),
    )


def reword(layout: Layout, mark: Mark, text: str) -> Layout:
    """Return the layout with another title of a frame or text of a comment."""
    if mark.kind == "frame":
        title = _short_enough(" ".join(text.split()), TITLE_LIMIT, "title of a frame")
        return replace(layout, frames=tuple(replace(f, title=title) if f.id == mark.id else f for f in layout.frames))
    text = _short_enough(text, TEXT_LIMIT, "text of a comment")
    return replace(layout, comments=tuple(replace(c, text=text) if c.id == mark.id else c for c in layout.comments))


def recolour(layout: Layout, marks: Collection[Mark], tone: Tone) -> Layout:
    """Return the layout with these frames and comments in another colour."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")
    return replace(
        layout,
        frames=tuple(replace(item, tone=tone) if item.id in frames else item for item in layout.frames),
        comments=tuple(replace(item, tone=tone) if item.id in comments else item for item in layout.comments),
    )


def resize(layout: Layout, mark: Mark, at: Position, size: BoxSize) -> Layout:
    """Return the layout with a frame or comment of another size; the contents of a frame stay where they are."""
    size = _at_least(size)
    if mark.kind == "frame":
        return replace(
            layout, frames=tuple(replace(f, at=at, size=size) if f.id == mark.id else f for f in layout.frames)
        )
    return replace(
        layout, comments=tuple(replace(c, at=at, size=size) if c.id == mark.id else c for c in layout.comments)
    )


def move(layout: Layout, marks: Collection[Mark], step: Position) -> Layout:
    """Return the layout with these at other positions; the contents of a frame stay (see `standing_in`)."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")

    def moved(item: _Annotation) -> _Annotation:
        return replace(item, at=(item.at[0] + step[0], item.at[1] + step[1]))

    return replace(
        layout,
        frames=tuple(moved(item) if item.id in frames else item for item in layout.frames),
        comments=tuple(moved(item) if item.id in comments else item for item in layout.comments),
    )


def to_front(layout: Layout, marks: Collection[Mark]) -> Layout:
    """Return the layout with these in front of the others of their kind."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")
    return replace(
        layout,
        frames=tuple(sorted(layout.frames, key=lambda item: item.id in frames)),
        comments=tuple(sorted(layout.comments, key=lambda item: item.id in comments)),
    )


def to_back(layout: Layout, marks: Collection[Mark]) -> Layout:
    """Return the layout with these behind the others of their kind."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")
    return replace(
        layout,
        frames=tuple(sorted(layout.frames, key=lambda item: item.id not in frames)),
        comments=tuple(sorted(layout.comments, key=lambda item: item.id not in comments)),
    )


def standing_in(layout: Layout, marks: Collection[Mark]) -> tuple[frozenset[str], frozenset[Mark]]:
    """Return the items that move along with these: themselves, the layers and comments whose centre is in one of the
    frames, and the smaller frames that lie entirely in one."""
    frames = [frame for frame in layout.frames if Mark("frame", frame.id) in marks]
    layers: set[str] = set()
    along = set(marks)
    for frame in frames:
        layers.update(id for id, at in layout.positions.items() if _holds(frame, at, (NODE_WIDTH, NODE_HEIGHT)))
        along.update(Mark("comment", item.id) for item in layout.comments if _holds(frame, item.at, item.size))
        along.update(Mark("frame", item.id) for item in layout.frames if is_within(item, frame.at, frame.size))
    return frozenset(layers), frozenset(along)


def is_within(annotation: Annotation, at: Position, size: BoxSize) -> bool:
    """Return whether an item lies entirely inside a box."""
    (x, y), (width, height) = annotation.at, annotation.size
    return at[0] <= x and at[1] <= y and x + width <= at[0] + size[0] and y + height <= at[1] + size[1]


def _holds(frame: Frame, at: Position, size: BoxSize) -> bool:
    x, y = at[0] + size[0] / 2, at[1] + size[1] / 2
    return frame.at[0] <= x <= frame.at[0] + frame.size[0] and frame.at[1] <= y <= frame.at[1] + frame.size[1]


def around(layout: Layout, ids: Collection[str], marks: Collection[Mark] = ()) -> tuple[Position, BoxSize]:
    """Return corner and size of a frame around layers, comments and frames, with a margin. Raises `UserError` for an
    empty selection."""
    boxes = [(*layout.at(id), NODE_WIDTH, NODE_HEIGHT) for id in ids]
    boxes += [(*item.at, *item.size) for mark in marks if (item := find(layout, mark)) is not None]
    if not boxes:
        raise UserError("Select the layers that the frame is to go around.")
    left, top = min(x for x, _, _, _ in boxes) - ROOM, min(y for _, y, _, _ in boxes) - ROOM - TITLE_HEIGHT
    right, bottom = max(x + w for x, _, w, _ in boxes) + ROOM, max(y + h for _, y, _, h in boxes) + ROOM
    return (left, top), (right - left, bottom - top)


def frame_around(
    layout: Layout, ids: Collection[str], marks: Collection[Mark] = (), title: str = "", tone: Tone = "grey"
) -> tuple[Layout, Mark]:
    """Return the layout with a frame around layers, comments and frames, behind those frames; items too close above
    and below are moved away. Raises `UserError` for an empty selection."""
    layout, mark = add_frame(layout, *around(layout, ids, marks), title, tone)
    if any(item.kind == "frame" for item in marks):
        layout = to_back(layout, {mark})
    return make_room(layout, mark, ids), mark


def make_room(layout: Layout, mark: Mark, ids: Collection[str]) -> Layout:
    """Return the layout with those layers moved that stand above or below the layers `ids` and touch the frame around
    them: space is opened there, so that no other layer hides the title."""
    frame = next((item for item in layout.frames if mark == ("frame", item.id)), None)
    inside = [layout.at(id)[1] for id in ids]
    if frame is None or not inside:
        return layout
    first, last = min(inside), max(inside) + NODE_HEIGHT
    top, bottom = frame.at[1], frame.at[1] + frame.size[1]
    left, right = frame.at[0] - _GAP, frame.at[0] + frame.size[0] + _GAP
    others = [at for id, at in layout.positions.items() if id not in ids and left - NODE_WIDTH < at[0] < right]
    near = [y + NODE_HEIGHT + _GAP for _, y in others if y + NODE_HEIGHT <= first and y + NODE_HEIGHT + _GAP > top]
    under = [y - _GAP for _, y in others if y >= last and y - _GAP < bottom]
    if under:
        layout = _opened(layout, last, _whole(bottom - min(under)), mark)
    if near:
        lack = _whole(max(near) - top)
        layout = move(_opened(layout, first, lack, mark), {mark}, (0.0, lack))
    return layout


def _opened(layout: Layout, from_y: float, lack: float, without: Mark) -> Layout:
    """Return the layout with everything that begins at or below a height moved down; a frame across that height
    grows."""
    places = {id: (x, y + lack) for id, (x, y) in layout.positions.items() if y >= from_y}
    below = [
        mark for mark in marks(layout) if mark != without and (item := find(layout, mark)) and item.at[1] >= from_y
    ]
    across = [
        item
        for item in layout.frames
        if ("frame", item.id) != without and item.at[1] < from_y < item.at[1] + item.size[1]
    ]
    layout = move(layout.moved(places), below, (0.0, lack))
    for item in across:
        layout = resize(layout, Mark("frame", item.id), item.at, (item.size[0], item.size[1] + lack))
    return layout


def _whole(lack: float) -> float:
    return ceil(lack / _GAP) * _GAP


def part(layout: Layout, marks: Collection[Mark]) -> tuple[tuple[Frame, ...], tuple[Comment, ...]]:
    """Return the layout of these frames and comments only, as copying needs it."""
    frames, comments = _ids(marks, "frame"), _ids(marks, "comment")
    return (
        tuple(item for item in layout.frames if item.id in frames),
        tuple(item for item in layout.comments if item.id in comments),
    )


def paste(layout: Layout, clip: Layout, step: Position) -> tuple[Layout, frozenset[Mark]]:
    """Return the layout with the frames and comments of another one added at an offset and under new ids; and
    references to them."""
    added: set[Mark] = set()
    for frame in clip.frames:
        _refuse_more(layout.frames, "frames")
        id = new_id({item.id for item in layout.frames})
        at = (frame.at[0] + step[0], frame.at[1] + step[1])
        layout = replace(layout, frames=(*layout.frames, replace(frame, id=id, at=at)))
        added.add(Mark("frame", id))
    for comment in clip.comments:
        _refuse_more(layout.comments, "comments")
        id = new_id({item.id for item in layout.comments})
        at = (comment.at[0] + step[0], comment.at[1] + step[1])
        layout = replace(layout, comments=(*layout.comments, replace(comment, id=id, at=at)))
        added.add(Mark("comment", id))
    return layout, frozenset(added)


def _ids(marks: Iterable[Mark], kind: Kind) -> set[str]:
    return {mark.id for mark in marks if mark.kind == kind}


def _refuse_more(there: Collection[Annotation], kind: str) -> None:
    if len(there) >= COUNT_LIMIT:
        raise UserError(f"There are {len(there):,} {kind} already, as many as a network may have. Remove some first.")


def _short_enough(text: str, limit: int, field: str) -> str:
    if len(text) > limit:
        raise UserError(f"The {field} has at most {limit:,} characters, received {len(text):,}. Shorten it.")
    return text


def _at_least(size: BoxSize) -> BoxSize:
    return max(size[0], LEAST[0]), max(size[1], LEAST[1])
