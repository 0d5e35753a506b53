from engine.drawing import colours


def test_both_schemes_name_the_same_things() -> None:
    assert list(colours.LIGHT) == list(colours.DARK)
    assert all(len(value) == 7 for scheme in colours.SCHEMES.values() for value in scheme.values())


def test_an_unknown_family_looks_like_a_utility() -> None:
    assert colours.family("Nobody's") == colours.FAMILIES["Utility"]
    assert colours.family("Convolution") != colours.FAMILIES["Utility"]


def test_mixing_goes_from_the_ground_to_the_colour() -> None:
    assert colours.mixed("#ffffff", "#000000", 0) == "#000000"
    assert colours.mixed("#ffffff", "#000000", 1) == "#ffffff"
    assert colours.mixed("#ff0000", "#0000ff", 0.5) in ("#800080", "#7f007f")
