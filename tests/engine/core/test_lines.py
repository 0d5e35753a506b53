"""Lines out of pieces, however those are cut."""

from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.process import LineBuffer


@given(st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"a", b"\n")), max_size=12))
def test_lines_are_those_of_the_whole(pieces: list[bytes]) -> None:
    buffer = LineBuffer()
    lines = [line for piece in pieces for line in buffer.take(piece)]
    assert lines == b"".join(pieces).split(b"\n")[:-1]


def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    buffer = LineBuffer(5)
    assert [buffer.take(piece) for piece in (b"abc", b"defg", b"hij", b"k\nlm", b"no\n")] == [
        [],
        [],
        [],
        [b"abcde"],
        [b"lmno"],
    ]
