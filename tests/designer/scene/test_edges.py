import pytest

from netwright.engine.network.layer_table import short_count


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (584, "584"),
        (9_216, "9,216"),
        (15_690, "15.7 k"),
        (99_960, "100 k"),
        (999_960, "1.0 M"),
        (1_234_567, "1.2 M"),
        (123_456_789, "123 M"),
        (7_000_000_000, "7.0 G"),
    ],
)
def test_counts_are_short(number, shown):
    assert short_count(number) == shown
