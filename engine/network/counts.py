"""Numbers as short as a picture needs them."""

_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


def short_count(number: int) -> str:
    """A count in at most five characters and a letter: 584, 9,216, 15.7 k, 1.2 M."""
    for limit, letter in _STEPS:
        if number >= limit * (1 if letter == "k" else 0.99995):
            value = number / (1e3 if letter == "k" else limit)
            return f"{value:.1f} {letter}" if value < 99.95 else f"{value:,.0f} {letter}"
    return f"{number:,}"
