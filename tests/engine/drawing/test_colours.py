import pytest

from netwright.engine.drawing import colours
from netwright.engine.network.layout import TONES


def test_both_schemes_name_the_same_things() -> None:
    assert list(colours.SCHEMES["light"]) == list(colours.SCHEMES["dark"])
    assert all(len(value) == 7 for scheme in colours.SCHEMES.values() for value in scheme.values())


def test_an_unknown_family_looks_like_a_utility() -> None:
    for scheme in colours.SCHEMES:
        assert colours.family("Nobody's", scheme) == colours.family("Utility", scheme)
        assert colours.family("Convolution", scheme) != colours.family("Utility", scheme)


def test_mixing_goes_from_the_ground_to_the_colour() -> None:
    assert colours.mixed("#ffffff", "#000000", 0) == "#000000"
    assert colours.mixed("#ffffff", "#000000", 1) == "#ffffff"
    assert colours.mixed("#ff0000", "#0000ff", 0.5) in ("#800080", "#7f007f")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_frames_and_comments_of_every_tone_can_be_read(scheme: str) -> None:
    assert tuple(colours.TONES) == TONES
    for tone in TONES:
        for toned in (colours.frame(tone, scheme), colours.comment(tone, scheme)):
            assert _contrast(toned.text, toned.fill) >= 4.5, (tone, toned)
            assert _contrast(colours.SCHEMES[scheme]["muted"], toned.fill) >= 3.0, (tone, toned)
            assert toned.line != toned.fill


def _contrast(one: str, other: str) -> float:
    """By WCAG 2.1."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [part / 255 for part in colours.parts(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
