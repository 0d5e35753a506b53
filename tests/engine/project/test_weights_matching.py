from collections.abc import Mapping, Sequence

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.project.weights_layouts import Source
from netwright.engine.project.weights_matching import LayerMatch, MatchReport, Shape, Side, fits, match

OWN = Side(
    {
        "image.shift": (1,),
        "image.scale": (1,),
        "conv_1.weight": (8, 1, 3, 3),
        "conv_1.bias": (8,),
        "bn.weight": (8,),
        "bn.num_batches_tracked": (),
        "fc_2.weight": (3, 8),
        "fc_2.bias": (3,),
    },
    {"i": ("image",), "c": ("conv_1",), "b": ("bn",), "f": ("fc_2",)},
    frozenset({"image.shift", "image.scale"}),
)


def given(shapes: Mapping[str, Shape], **layers: Sequence[str]) -> Side:
    return Side(shapes, layers)


def pairs(report: MatchReport) -> dict[str, tuple[str, str]]:
    return {one.key: (one.source.key, one.how) for one in report.matched}


def states(report: MatchReport) -> dict[str, str]:
    return {layer.name: layer.state for layer in report.layers}


RENAMED = {"stem.weight": (8, 1, 3, 3), "stem.bias": (8,), "bn.weight": (8,), "head.weight": (3, 8), "head.bias": (3,)}


def test_layers_are_found_by_id_after_they_were_renamed() -> None:
    report = match(OWN, given(RENAMED, c=["stem"], b=["bn"], f=["head"]))
    assert pairs(report)["conv_1.weight"] == ("stem.weight", "layer")
    assert states(report) == {"conv_1": "loaded", "bn": "loaded", "fc_2": "loaded"}
    assert (report.missing, report.left_over) == ((), ())
    assert report.sentence() == "3 layers loaded."


def test_a_new_layer_starts_fresh_even_where_its_name_is_there() -> None:
    shapes = {**RENAMED, "fc_2.weight": (3, 8), "fc_2.bias": (3,)}
    report = match(OWN, given(shapes, c=["stem"], b=["bn"], old=["fc_2"], h=["head"]))
    assert states(report)["fc_2"] == "fresh"
    assert set(report.left_over) == {"fc_2.weight", "fc_2.bias", "head.weight", "head.bias"}


def test_a_layer_of_another_shape_starts_fresh_as_a_whole() -> None:
    shapes = {**RENAMED, "stem.weight": (8, 3, 3, 3)}
    report = match(OWN, given(shapes, c=["stem"], b=["bn"], f=["head"]))
    assert "conv_1.bias" not in pairs(report)
    why = "conv_1.weight is 8 × 1 × 3 × 3 here, 8 × 3 × 3 × 3 in the file"
    assert LayerMatch("c", "conv_1", "fresh", why) in report.layers
    assert [one.key for one in report.other_shape] == ["conv_1.weight"]


def test_ids_that_are_equal_by_chance_do_not_count() -> None:
    other = {"a.weight": (3, 8), "a.bias": (3,), "z.weight": (8, 1, 3, 3), "conv_1.weight": (8, 1, 3, 3)}
    report = match(OWN, given(other, c=["a"], b=["z"], f=["conv_1"]))
    assert pairs(report) == {"conv_1.weight": ("conv_1.weight", "name")}
    assert states(report) == {"conv_1": "partly", "bn": "fresh", "fc_2": "fresh"}


def test_layers_are_found_after_they_were_grouped() -> None:
    own = Side({"body.conv_1.weight": (2, 2), "fc.weight": (3, 2)}, {"k/c": ("body.conv_1",), "f": ("fc",)})
    report = match(own, given({"conv_1.weight": (2, 2), "fc.weight": (3, 2)}, c=["conv_1"], f=["fc"]))
    assert states(report) == {"body/conv_1": "loaded", "fc": "loaded"}


def test_keys_of_another_program_are_found_by_name_without_what_all_begin_with() -> None:
    shapes = {f"module._orig_mod.{key}": shape for key, shape in OWN.shapes.items()}
    report = match(OWN, given(shapes))
    assert pairs(report)["fc_2.bias"] == ("module._orig_mod.fc_2.bias", "name")
    assert set(states(report).values()) == {"loaded"}


def test_the_users_names_go_first_for_one_key_or_a_whole_layer() -> None:
    names = [("conv_1", "stem"), ("fc_2.weight", "head.weight"), ("bn.weight", "")]
    report = match(OWN, given(RENAMED), names)
    assert pairs(report) == {
        "conv_1.weight": ("stem.weight", "map"),
        "conv_1.bias": ("stem.bias", "map"),
        "fc_2.weight": ("head.weight", "map"),
    }
    assert report.missing == ("bn.weight", "fc_2.bias")


@pytest.mark.parametrize(
    ("name", "file_name", "said"),
    [
        ("conv_2", "stem", r"the network has no 'conv_2'.*"),
        ("conv_1", "steam", r"the file has no 'steam.weight'\. Did you mean 'stem.weight'"),
        ("fc_2.weight", "stem.weight", "'fc_2.weight' is 3 × 8, 'stem.weight' in the file 8 × 1 × 3 × 3"),
    ],
)
def test_names_that_are_not_there_are_refused(name: str, file_name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        match(OWN, given(RENAMED), [(name, file_name)])


def test_weights_of_another_network_are_refused() -> None:
    report = match(OWN, given({"x.weight": (4, 4)}))
    assert report.matched == ()
    with pytest.raises(UserError, match=r"No weight of .* belongs to this network.*weights\.map"):
        report.refuse_nothing()
    clash = match(OWN, given({"fc_2.weight": (9, 8)}))
    with pytest.raises(UserError, match=r"fc_2\.weight is 3 × 8 here, 9 × 8 in the file"):
        clash.refuse_nothing()


def test_measured_numbers_are_taken_where_they_are_there() -> None:
    report = match(OWN, given(dict(OWN.shapes), i=["image"], c=["conv_1"], b=["bn"], f=["fc_2"]))
    assert states(report)["image"] == "loaded"


@pytest.mark.parametrize(
    ("shape", "file_shape", "parts", "is_fitting"),
    [
        ((3, 8), (3, 8), 1, True),
        ((3, 8), (3, 8, 1, 1), 1, True),
        ((197, 8), (1, 197, 8), 1, True),
        ((3, 8), (8, 3), 1, False),
        ((4, 8), (12, 8), 3, True),
        ((4, 8), (13, 8), 3, False),
        ((1,), (), 3, False),
    ],
)
def test_axes_of_size_1_do_not_count(shape: Shape, file_shape: Shape, parts: int, is_fitting: bool) -> None:
    assert fits(shape, file_shape, parts) is is_fitting


def test_a_report_tells_counts_and_the_first_keys() -> None:
    report = match(OWN, given(RENAMED))
    said = report.write()
    assert said["counts"] == {"matched": 1, "other_shape": 0, "missing": 4, "left_over": 4}
    assert said["matched"] == [["bn.weight", "bn.weight", "name"]]
    assert report.record()["fresh_layers"] == ["conv_1", "fc_2"]
    assert Source("a") == Source("a", 0, 1)
