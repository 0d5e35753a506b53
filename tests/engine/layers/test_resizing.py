from fractions import Fraction
from math import floor

import pytest
import torch

from netwright.engine.core.errors import FieldErrors, ShapeError
from netwright.engine.core.types import Symbol, TensorType, features, image, sequence, volume
from netwright.engine.layers.base import LayerType
from tests.builders import layer
from tests.lowered import Lowered, assert_as_declared, run, sizes_of

T = Symbol("T")
INPUTS = {1: sequence(7, 2), 2: image(2, 7, 5), 3: volume(2, 4, 5, 3)}


def refusal(type: LayerType, x: TensorType) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        type.output(x)
    return caught.value


def place(i: int, n: int, m: int, coordinates: str) -> Fraction:
    """The place of the input that place i of the output is at, from the definition in the help."""
    if coordinates == "half-pixel":
        return (i + Fraction(1, 2)) * n / m - Fraction(1, 2)
    return Fraction(i * n, m) if coordinates == "asymmetric" else Fraction(i * (n - 1), max(1, m - 1))


def resized(x: torch.Tensor, m: int, coordinates: str, rounding: str) -> torch.Tensor:
    """The last axis, step by step from the definition; without a rounding, straight lines."""
    n, made = x.shape[-1], []
    for i in range(m):
        at = place(i, n, m, coordinates)
        if rounding:
            nearest = floor(at + Fraction(1, 2)) if rounding == "round" else floor(at)
            made.append(x[..., min(max(nearest, 0), n - 1)])
            continue
        low, share = floor(at), float(at - floor(at))
        one, other = (x[..., min(max(low + step, 0), n - 1)] for step in (0, 1))
        made.append(one * (1 - share) + other * share)
    return torch.stack(made, -1)


@pytest.mark.parametrize("coordinates", ["half-pixel", "align-corners", "asymmetric"])
@pytest.mark.parametrize("rounding", ["round", "floor", ""])
def test_places_are_those_of_the_definition(coordinates, rounding):
    method = {"method": "nearest", "rounding": rounding} if rounding else {"method": "linear"}
    for n in (1, 2, 3, 5, 6, 7, 12):
        x = torch.rand(2, n, 3)
        for m in (1, 2, 3, 4, 7, 9, 14, 15, 18):
            resize = layer("resize1d", by="size", size=m, coordinates=coordinates, **method)
            expected = resized(x.transpose(1, 2), m, coordinates, rounding).transpose(1, 2)
            found = run(resize, x, x=[sequence(n, 3)])
            assert torch.allclose(found, expected, rtol=0, atol=1e-5), f"{n} to {m}"


@pytest.mark.parametrize("values", [{}, {"method": "linear"}, {"method": "linear", "coordinates": "asymmetric"}])
@pytest.mark.parametrize("dims", [2, 3])
def test_axes_are_resized_one_after_the_other(values, dims):
    x = INPUTS[dims]
    size = [5, 8, 4][:dims]
    given = torch.rand(2, *sizes_of(x))
    expected = given
    for axis, m in zip(x.spatial, size, strict=True):
        rounding = "" if values else "round"
        moved = resized(expected.movedim(x.dim(axis), -1), m, values.get("coordinates", "half-pixel"), rounding)
        expected = moved.movedim(-1, x.dim(axis))
    found = run(layer(f"resize{dims}d", by="size", size=size, **values), given, x=[x])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("scale", "length"), [(2.0, 200), (0.29, 29), (0.5, 50), (1.005, 100), (0.01, 1)])
def test_the_size_is_rounded_down(scale, length):
    resize = layer("resize1d", scale=scale)
    assert resize.output(sequence(100, 2)) == sequence(length, 2)
    assert_as_declared(resize, sequence(100, 2))


@pytest.mark.parametrize(
    "values", [{"scale": 3}, {"method": "linear"}, {"coordinates": "asymmetric", "rounding": "floor"}]
)
def test_any_length_grows_by_a_whole_scale(values):
    resize = layer("resize1d", **values)
    assert resize.output(sequence(T, 2)) == sequence(Symbol("T'"), 2)
    given = torch.rand(2, 6, 2)
    open_, known = (Lowered(resize, sequence(steps, 2))(given) for steps in (T, 6))
    torch.testing.assert_close(open_, known)
    error = refusal(layer("resize1d", scale=1.5), sequence(T, 2))
    assert error.field == "scale"
    assert "not known before the network runs" in str(error)
    assert refusal(layer("resize1d", coordinates="asymmetric"), sequence(T, 2)).field == "coordinates"
    assert refusal(layer("resize1d", by="size"), sequence(T, 2)).field == "by"


def test_what_resizing_refuses():
    assert "Expected an image" in str(refusal(layer("resize2d"), features(3)))
    assert refusal(layer("resize2d", scale=0.1), image(1, 9, 20)).field == "scale"
    assert layer("resize2d", method="cubic", coordinates="asymmetric").problems()[0].path == "coordinates"
    assert not layer("resize2d", method="cubic", coordinates="align-corners").problems()
    with pytest.raises(FieldErrors, match="one of nearest, linear"):
        layer("resize1d", method="cubic")


def test_cubic_passes_through_the_places_themselves():
    x = torch.rand(1, 1, 4, 4)
    found = run(
        layer("resize2d", by="size", size=7, method="cubic", coordinates="align-corners"), x, x=[image(1, 4, 4)]
    )
    torch.testing.assert_close(found[..., ::2, ::2], x)


@pytest.mark.parametrize("order", ["crd", "dcr"])
@pytest.mark.parametrize("block", [[2, 2], [2, 3], [1, 3]])
def test_depth_becomes_space_by_the_definition_and_back(order, block):
    h, w = block
    channels, x = 2, image(2 * h * w, 3, 4)
    given = torch.rand(2, *sizes_of(x))
    found = run(layer("depth_to_space2d", block=block, order=order), given, x=[x])
    assert found.shape == (2, channels, 3 * h, 4 * w)
    for c in range(channels):
        for a in range(h):
            for b in range(w):
                source = (c * h + a) * w + b if order == "crd" else (a * w + b) * channels + c
                assert torch.equal(found[:, c, a::h, b::w], given[:, source])
    back = layer("space_to_depth2d", block=block, order=order)
    wide = image(channels, 3 * h, 4 * w)
    assert back.output(wide) == x
    assert torch.equal(run(back, found, x=[wide]), given)
    assert_as_declared(layer("depth_to_space2d", block=block, order=order), x)
    assert_as_declared(back, wide)


def test_what_depth_and_space_refuse():
    error = refusal(layer("depth_to_space2d", block=[2, 3]), image(9, 2, 2))
    assert error.field == "block"
    assert "Use a multiple of 6 channels" in str(error)
    error = refusal(layer("space_to_depth2d"), image(1, 4, 5))
    assert "Axis W has 5, which cannot be divided by 2" in str(error)


def test_windows_of_an_image_by_the_definition():
    x = image(2, 5, 6)
    given = torch.rand(1, 2, 5, 6)
    values = {"kernel": [2, 3], "stride": [2, 1], "padding": [1, 0]}
    unfold = layer("unfold", **values)
    assert unfold.output(x) == sequence(3 * 4, 2 * 6)
    found = run(unfold, given, x=[x])
    padded = torch.nn.functional.pad(given, (0, 0, 1, 1))
    for i in range(3):
        for j in range(4):
            assert torch.equal(found[0, i * 4 + j], padded[0, :, 2 * i : 2 * i + 2, j : j + 3].flatten())
    fold = layer("fold", size=[5, 6], **values)
    assert fold.output(unfold.output(x)) == x
    ones = run(unfold, torch.ones(1, 2, 5, 6), x=[x])
    counts = run(fold, ones, x=[unfold.output(x)])
    torch.testing.assert_close(run(fold, found, x=[unfold.output(x)]), given * counts)
    assert counts.max() > 1
    assert_as_declared(unfold, x)
    assert_as_declared(fold, unfold.output(x))


def test_what_windows_refuse():
    assert refusal(layer("unfold", kernel=9), image(1, 4, 4)).field == "kernel"
    assert refusal(layer("fold", kernel=2), sequence(64, 6)).field == "kernel"
    error = refusal(layer("fold", size=8), sequence(9, 4))
    assert error.field == "size"
    assert "An image of 8 × 8 has 16 such windows (4 × 4), received a sequence of 9 steps" in str(error)
    assert "number of windows" in str(refusal(layer("fold"), sequence(T, 4)))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_a_size_may_be_that_of_another_input(dims):
    x, small = INPUTS[dims], INPUTS[dims].with_sizes(**dict.fromkeys(INPUTS[dims].spatial, 2))
    resize = layer(f"resize{dims}d", by="like")
    assert resize.input_ports() == ("in", "like")
    assert resize.output(small, x) == x
    assert_as_declared(resize, small, x)
    given = torch.rand(2, *sizes_of(small))
    same = layer(f"resize{dims}d", by="size", size=[x[axis] for axis in x.spatial])
    assert torch.equal(run(resize, given, torch.rand(2, *sizes_of(x)), x=[small, x]), run(same, given, x=[small]))
    with pytest.raises(ShapeError, match="Expected something of the same layout") as caught:
        resize.output(small, features(3))
    assert caught.value.port == "like"
