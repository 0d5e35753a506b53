"""Figures as people read them."""

from engine.core.text import format_percent


def test_a_share_in_per_cent() -> None:
    assert [format_percent(0.0), format_percent(0.416), format_percent(1.0), format_percent(0.042, 1)] == [
        "0 %",
        "42 %",
        "100 %",
        "4.2 %",
    ]
