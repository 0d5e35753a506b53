import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.drawing.picture import elided, elided_detail, text_width


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


@pytest.mark.parametrize(
    ("text", "value", "room", "shown"),
    [
        ("ReLU", "", 40, "ReLU"),
        ("Fully connected · 1,000 outputs", "1,000 outputs", 31, "Fully connected · 1,000 outputs"),
        ("Fully connected · 1,000 outputs", "1,000 outputs", 26, "Fully con… · 1,000 outputs"),
        ("Image input · 3 × 224 × 224", "3 × 224 × 224", 14, "3 × 224 × 224"),
        ("Image input · 3 × 224 × 224", "3 × 224 × 224", 8, "3 × 224…"),
        ("Bypassed · 2-D convolution", "", 12, "Bypassed ·…"),
        ("8 filters", "8 filters", 9, "8 filters"),
    ],
)
def test_the_value_of_a_layer_is_never_cut_as_long_as_it_has_room(text: str, value: str, room: int, shown: str) -> None:
    assert elided_detail(text, value, room, len) == shown
