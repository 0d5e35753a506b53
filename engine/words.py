"""Figures as people read them."""


def percent(share: float, places: int = 0) -> str:
    """A share of one in per cent, `places` behind the point, as in `4.2 %`."""
    return f"{100 * share:.{places}f} %"
