"""Random numbers that follow from seed, epoch and sample."""

import pytest
import torch

from netwright.engine.data.loading.counter_rng import DRAWS, CounterRng

MASK = 2**64 - 1


def mixed(x: int) -> int:
    """SplitMix64's finaliser in whole numbers of 64 bits."""
    x &= MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def test_the_mixing_is_that_of_splitmix64() -> None:
    gamma = 0x9E3779B97F4A7C15
    assert mixed(gamma) == 0xE220A8397B1DCDAF, "the first number of SplitMix64 with the seed 0, as published"
    start = mixed(mixed(7 ^ 0x6175676D656E74) + 3 * gamma)
    each = mixed(start + 41 * gamma)
    by_hand = [(mixed(each + (place + 1) * gamma) >> 40) / 2**24 for place in range(len(DRAWS))]
    draws = CounterRng(7, 3, torch.tensor([5, 41]))
    assert [float(draws.unit(name)[1]) for name in DRAWS] == by_hand


def test_a_sample_draws_the_same_whoever_is_beside_it() -> None:
    whole = CounterRng(1, 2, torch.arange(100))
    for numbers in (torch.tensor([17]), torch.tensor([99, 17, 0])):
        some = CounterRng(1, 2, numbers)
        for name in DRAWS:
            assert torch.equal(some.unit(name), whole.unit(name)[numbers])


@pytest.mark.parametrize("other", [(2, 2), (1, 3)], ids=["seed", "epoch"])
def test_another_seed_or_epoch_draws_others(other: tuple[int, int]) -> None:
    numbers = torch.arange(1000)
    one, two = CounterRng(1, 2, numbers), CounterRng(*other, numbers)
    for name in DRAWS:
        together = torch.stack([one.unit(name), two.unit(name)])
        assert abs(float(torch.corrcoef(together)[0, 1])) < 0.12
    assert not torch.equal(one.unit("rotation"), one.unit("scale"))


def test_numbers_are_spread_evenly() -> None:
    draws = CounterRng(0, 1, torch.arange(20_000))
    for name in DRAWS:
        counts = torch.histc(draws.unit(name), 10, 0.0, 1.0)
        assert counts.sum() == 20_000
        assert float((counts - 2000).abs().max()) < 250, "some six standard deviations"
    turned = draws.between("rotation", -20.0, 40.0)
    assert -20 <= float(turned.min()) < -19.9
    assert 39.9 < float(turned.max()) < 40
    assert float(draws.happens("x_reflection", 0.25).float().mean()) == pytest.approx(0.25, abs=0.02)
    assert not draws.happens("x_reflection", 0.0).any()
    assert draws.happens("x_reflection", 1.0).all()
