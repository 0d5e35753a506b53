from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.picture import elided, text_width


def test_widths_are_those_of_the_font() -> None:
    assert text_width("conv_1", 10) == (500 + 556 + 556 + 500 + 556 + 556) / 100
    assert text_width("iii", 10) < text_width("mmm", 10)
    assert text_width("name", 10, bold=True) > text_width("name", 10)


@given(st.text(min_size=1, max_size=40), st.floats(20, 200))
def test_elided_text_has_room_and_keeps_both_ends(text: str, room: float) -> None:
    shown = elided(text, room, 11)
    if shown == text:
        assert text_width(text, 11) <= room
    else:
        assert text_width(text, 11) > room
        assert text_width(shown, 11) <= room
        first, dots, last = shown.partition("…")
        assert dots
        assert text.startswith(first)
        assert text.endswith(last)
