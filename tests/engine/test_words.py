"""Figures as people read them."""

from engine.words import percent


def test_a_share_in_per_cent() -> None:
    assert [percent(0.0), percent(0.416), percent(1.0), percent(0.042, 1)] == ["0 %", "42 %", "100 %", "4.2 %"]
