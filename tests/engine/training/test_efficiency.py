"""FLOP/s of a training from its layers, and their share of a peak that is measured once."""

import math
from pathlib import Path

import pytest
import torch

from netwright.engine.hardware import peak
from netwright.engine.network.analysis import analyse
from netwright.engine.training.efficiency import MEASURED_AFTER_S, Efficiency
from tests.builders import chain, layer

NETWORK = chain(layer("feature_input", channels=10), layer("fully_connected", outputs=20))
CPU = torch.device("cpu")


def test_a_step_counts_three_times_the_forward_pass_and_the_peak_of_all_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peak, "known_peak", lambda _: math.nan)
    asked: list[str] = []

    def rate(device: str, kind: str, seconds: float) -> float:
        asked.append(kind)
        return 1e6

    monkeypatch.setattr(peak, "matrix_rate", rate)
    monkeypatch.setattr("netwright.engine.training.efficiency.known_peak", lambda _: math.nan)
    found = Efficiency(NETWORK, CPU, "tf32", "a test's CPU", workers=2)
    forward = 2 * 10 * 20
    assert analyse(NETWORK).flops == forward
    assert found.flops_per_second(1000.0) == 3 * forward * 1000
    assert math.isnan(found.peak_share(1000.0))
    assert not found.is_due(MEASURED_AFTER_S - 0.1), "short runs do not pay for it"
    assert found.is_due(MEASURED_AFTER_S)
    found.measure()
    assert found.peak_share(1000.0) == pytest.approx(3 * forward * 1000 / 2e6)
    assert not found.is_due(100.0)
    assert asked == ["fp32"], "tf32 is a setting of float32 products"


def test_a_peak_is_measured_once_per_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peak, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(peak, "matrix_rate", lambda *_: 2e9)
    key, other = peak.peak_key(CPU, "fp32", "this"), peak.peak_key(CPU, "bf16", "this")
    assert math.isnan(peak.known_peak(key))
    assert peak.measure_peak(key, CPU, "fp32") == peak.known_peak(key) == 2e9
    assert math.isnan(peak.known_peak(other))
    peak._file().write_text("damaged")
    assert math.isnan(peak.known_peak(key))


def test_where_sizes_differ_by_sample_nothing_is_claimed() -> None:
    network = chain(layer("sequence_input", channels=3), layer("lstm"))
    found = Efficiency(network, CPU, "fp32")
    assert math.isnan(found.flops_per_second(10.0))
    assert not found.is_due(100.0)
