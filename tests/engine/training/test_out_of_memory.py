"""Memory that runs out, in words: where, and what helps with these options."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.memory import Memory
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training import out_of_memory
from tests.builders import chain, layer

CPU = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
CPU += "33554432 bytes. Error code 12 (Cannot allocate memory)"

GPU = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 79.10 GiB of which 1.25 GiB is "
GPU += "free. Including non-PyTorch memory, this process has 77.00 GiB memory in use."


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError(CPU), "another 32 MiB could not be had"),
        (torch.OutOfMemoryError(GPU), "another 2.50 GiB could not be had of the 79.10 GiB of GPU 1"),
        (RuntimeError("XPU out of memory. Tried to allocate 20.00 MiB."), "another 20.00 MiB could not be had"),
        (
            RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
            "CUBLAS_STATUS_ALLOC_FAILED",
        ),
        (MemoryError(), "out of memory"),
        (OSError(12, "Cannot allocate memory"), "Cannot allocate memory"),
    ],
)
def test_it_is_known_by_what_libraries_say(error: Exception, words: str) -> None:
    assert out_of_memory.is_out_of_memory(error)
    assert words in out_of_memory.short_text(error)
    assert not out_of_memory.is_out_of_memory(ValueError("shapes differ"))


class Greedy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise MemoryError


class Backwards(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        raise MemoryError


def test_the_place_is_a_layer_or_the_backward_pass() -> None:
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=3), layer("layer_norm"))
    module = build(network, analyse(network))
    x = torch.ones(4, 2)
    with pytest.raises(MemoryError) as caught:
        Backwards.apply(module(x)).sum().backward()
    assert out_of_memory.location_of(caught.value) == "in the backward pass"
    name = next(name for name, inner in module.named_modules() if isinstance(inner, nn.Linear))
    module.set_submodule(name, Greedy())
    with pytest.raises(MemoryError) as caught:
        module(x)
    assert out_of_memory.location_of(caught.value) == f"in the layer {name}"
    assert out_of_memory.location_of(MemoryError()) == ""


@pytest.mark.parametrize(
    ("options", "memory", "words", "pieces"),
    [
        ({}, Memory(64, 900, 10, 10, 10, True), "training.gradient_accumulation=2, or more", 2),
        ({"gradient_accumulation": 8}, Memory(64, 900, 10, 10, 10, True), "gradient_accumulation=16", 16),
        ({"gradient_accumulation": 64}, Memory(64, 900, 10, 10, 10, True), "A piece is one sample already", 0),
        ({}, Memory(64, 10, 900, 900, 900, True), "Most of it is for the weights", 0),
        ({"solver": "lm"}, Memory(64, 900, 10, 10, 10, True), "a solver that keeps less", 0),
    ],
)
def test_what_helps(options: dict[str, Any], memory: Memory, words: str, pieces: int) -> None:
    text, setting = out_of_memory.offer(TrainingOptions(**options), memory)
    assert words in text
    assert setting == (f"training.gradient_accumulation={pieces}" if pieces else "")


def test_a_project_that_cannot_be_read_hides_nothing(tmp_path: Path) -> None:
    found = out_of_memory.cause(RunFolder(tmp_path), "Memory ran out", "in the layer x")
    assert found.words.startswith("Memory ran out, in the layer x. Use a smaller mini-batch")
    assert (found.rows, found.offer) == ("", "")
