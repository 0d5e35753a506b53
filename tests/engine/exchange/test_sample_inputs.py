import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features
from netwright.engine.exchange.sample_inputs import at_sizes, fitting_samples, random_samples
from netwright.engine.layers.base import LayerType
from netwright.engine.network.free_lengths import accepted_lengths
from netwright.engine.network.network import Network
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, numbers_of
from tests.builders import add, chain, layer


def sequences(*types: LayerType) -> Network:
    """A network for sequences of any length."""
    return chain(layer("sequence_input", channels=2), *types)


def test_random_samples_have_several_batches_and_lengths() -> None:
    shapes = [batch[0].shape for batch in random_samples(sequences(layer("relu")))]
    assert shapes == [(1, 7, 2), (2, 16, 2), (5, 7, 2)]


def test_random_samples_are_the_same_each_time() -> None:
    one, other = (list(random_samples(sequences(layer("relu")))) for _ in range(2))
    assert all(np.array_equal(a, b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))


def test_indices_are_whole_numbers_as_float32() -> None:
    for (array,) in random_samples(chain(layer("sequence_input", content="indices"))):
        assert array.dtype == np.float32
        assert set(np.unique(array)) <= {0.0, 1.0}


def test_lengths_are_those_the_network_takes() -> None:
    assert accepted_lengths(sequences(layer("conv1d", kernel=20, padding=0))) == (33, 64)
    assert accepted_lengths(sequences(layer("position_embedding", positions=3))) == (3, 2)
    assert accepted_lengths(sequences(layer("position_embedding", positions=1))) == (1,)
    with pytest.raises(UserError, match="no sequences of up to 4,096 steps"):
        accepted_lengths(sequences(layer("conv1d", kernel=20_000, padding=0)))


def test_samples_are_compared_at_several_batch_sizes() -> None:
    array = np.zeros((64, 3), np.float32)
    assert [len(batch[0]) for batch in at_sizes((array,))] == [1, 2, 5, 64]
    assert [len(batch[0]) for batch in at_sizes((array[:2],))] == [1, 2]


def test_samples_come_in_the_order_of_the_network() -> None:
    network, _ = add(Network.empty(), layer("feature_input", channels=2), name="one")
    network, _ = add(network, layer("feature_input", channels=3), name="two")
    facts = DatasetInfo((InputInfo("two", features(3)), InputInfo("one", features(2))), {}, numbers_of())
    one, two = fitting_samples(network, facts, (np.zeros((4, 3)), np.zeros((4, 2), np.float16)))
    assert (one.shape, two.shape) == ((4, 2), (4, 3))
    assert (one.dtype, two.dtype) == (np.float32, np.float64), "doubles may have more digits"
    with pytest.raises(UserError, match="'one' takes"):
        fitting_samples(network, None, (np.zeros((4, 3)), np.zeros((4, 2))))
