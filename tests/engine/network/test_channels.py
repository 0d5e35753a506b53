"""Channels followed through a network: what belongs together, and what stays."""

from netwright.engine.network.analysis import analyse
from netwright.engine.network.channels import channels_of
from netwright.engine.network.network import Network
from tests.builders import add, chain, layer


def test_channels_are_followed_through_flattening() -> None:
    found, x = add(Network.empty(), layer("image_input", channels=1, size=(2, 3)))
    found, one = add(found, layer("conv2d", filters=2), x)
    found, other = add(found, layer("fully_connected", outputs=4), one, name="fc")
    channels = channels_of(found, analyse(found))
    conv, fc = one.id, other.id
    first, second = channels.made[conv]
    assert channels.inputs[fc] == ((first,) * 6 + (second,) * 6,)
    assert "output 'fc'" in channels.why_kept(channels.made[fc][0])
    smaller = channels.without({channels.root(first)})
    assert smaller.layers[conv].type.write()["filters"] == 1


def test_an_addition_ties_channels() -> None:
    found, x = add(Network.empty(), layer("image_input", channels=1, size=(4, 4)))
    found, a = add(found, layer("conv2d", filters=3), x)
    found, b = add(found, layer("conv2d", filters=3), x)
    found, sums = add(found, layer("addition"), a, b)
    found, c = add(found, layer("conv2d", filters=2), sums)
    channels = channels_of(found, analyse(found))
    ids = {"a": a.id, "b": b.id, "c": c.id}
    assert [channels.root(x) for x in channels.made[ids["a"]]] == [channels.root(x) for x in channels.made[ids["b"]]]
    assert sorted(map(sorted, channels.groups())) == sorted([sorted([ids["a"], ids["b"]]), [ids["c"]]])


def test_a_layer_that_mixes_channels_is_named() -> None:
    found = chain(
        layer("image_input", channels=1, size=(4, 4)),
        layer("conv2d", filters=4),
        layer("layer_norm"),
        layer("fully_connected", outputs=2),
    )
    channels = channels_of(found, analyse(found))
    made = channels.made[next(id for id in found.layers if found.layers[id].type.key == "conv2d")]
    assert all("Layer normalisation" in channels.why_kept(label) for label in made)
