"""The estimate of memory against what torch really keeps."""

from dataclasses import replace

import pytest
import torch

from netwright.engine.core.text import format_bytes
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import Analysis, analyse, frozen_parameters
from netwright.engine.network.arrangement import placed
from netwright.engine.network.blocks import group
from netwright.engine.network.layout import Layout
from netwright.engine.network.memory import (
    Memory,
    StepOptions,
    activation_bytes,
    all_known,
    optimizer_states,
    training_memory,
)
from netwright.engine.network.network import Network
from netwright.engine.project.check import memory_of
from netwright.engine.project.dataset_info import DatasetInfo, classes_of
from netwright.engine.project.options.solver import DEFAULT_RATES
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Solver
from tests.builders import add, chain, classifier, layer

BATCH = 5


def cnn() -> Network:
    return chain(
        layer("image_input", channels=3, size=12),
        layer("conv2d", filters=8),
        layer("batch_norm"),
        layer("relu"),
        layer("max_pool2d"),
        layer("conv2d", filters=4, padding=0),
        layer("relu"),
        layer("dropout"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def test_activations_are_what_leaves_the_modules_of_the_built_network() -> None:
    network = cnn()
    analysis = analyse(network)
    module = build(network, analysis)
    kept: list[int] = []
    for child in module.children():
        child.register_forward_hook(lambda _module, _given, output: kept.append(output.numel() * output.element_size()))
    module(torch.zeros(BATCH, 3, 12, 12))
    assert len(kept) == len(network)  # an input layer is an identity
    memory = training_memory(analysis, BATCH, 1)
    assert memory.activations == sum(kept)
    assert memory.is_whole


@pytest.mark.parametrize("solver", [solver for solver in DEFAULT_RATES if solver not in ("lbfgs", "lm")])
def test_weights_gradients_and_the_solvers_state_are_torchs(solver: str) -> None:
    network = cnn()
    analysis = analyse(network)
    module = build(network, analysis)
    options = TrainingOptions(solver=solver)
    stepper = Solver(options, module)
    module(torch.rand(BATCH, 3, 12, 12)).square().sum().backward()
    stepper.step(options.initial_learn_rate)
    parameters = list(module.parameters())
    state = stepper._optimizer.state_dict()["state"]
    tensors = [value for kept in state.values() for value in kept.values() if isinstance(value, torch.Tensor)]
    memory = training_memory(analysis, BATCH, optimizer_states(solver, options.momentum))
    assert memory.weights == sum(p.numel() * p.element_size() for p in parameters)
    assert memory.gradients == sum(p.grad.numel() * p.grad.element_size() for p in parameters if p.grad is not None)
    # A counter of steps, one number a parameter, is not worth a line in the estimate.
    assert memory.optimizer == sum(t.numel() * t.element_size() for t in tensors if t.dim() > 0)
    assert memory.total == memory.activations + 2 * memory.weights + memory.optimizer


def test_lbfgs_keeps_what_its_history_says() -> None:
    """Once it is full: a step and a change of the gradient for each, the direction and the gradient before."""
    module = torch.nn.Linear(5, 2)
    stepper = Solver(TrainingOptions(solver="lbfgs", history_size=3), module)

    def look() -> float:
        module.zero_grad()
        loss = (module(torch.eye(5)).exp().sum(1) - 1).square().sum()
        loss.backward()
        return float(loss.detach())

    for _ in range(8):
        stepper.step(1.0, look)
    (kept,) = stepper._optimizer.state.values()
    tensors = [*kept["old_dirs"], *kept["old_stps"], kept["d"], kept["prev_flat_grad"]]
    assert sum(t.numel() for t in tensors) == 12 * optimizer_states("lbfgs", history=3)


def test_without_momentum_sgd_keeps_nothing() -> None:
    assert optimizer_states("sgdm", 0.0) == 0
    assert training_memory(analyse(cnn()), 1, 0).optimizer == 0


def test_memory_grows_with_the_batch_only_where_it_should() -> None:
    analysis = analyse(classifier())
    one, many = training_memory(analysis, 1, 1), training_memory(analysis, 64, 1)
    assert many.activations == 64 * one.activations
    assert (many.weights, many.optimizer) == (one.weights, one.optimizer)


def test_indices_take_eight_bytes_and_unknown_lengths_are_not_counted() -> None:
    network = chain(layer("sequence_input", content="indices", length=7), layer("embedding"))
    facts = list(analyse(network).shapes.values())
    assert activation_bytes(facts[0], 2) == 2 * 7 * 8
    network = chain(layer("sequence_input", channels=2), layer("lstm", hidden_units=4, output_mode="last"))
    network, _ = add(network, layer("fully_connected", outputs=3), network.layer("lstm_1"))
    analysis = analyse(network)
    assert activation_bytes(next(iter(analysis.shapes.values())), 2) is None
    memory = training_memory(analysis, 2, 1)
    assert memory.activations == 2 * 4 * (4 + 3)
    assert not memory.is_whole
    assert memory.describe().startswith("at least ")


def test_behind_an_error_there_may_be_more() -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("lstm"), layer("relu"))
    assert training_memory(analyse(network), 1, 1).describe() == "at least 256 B at batch 1"


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (3_250_586, "3.1 MiB"),
        (29_360_128, "28 MiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 2**40, "5.0 TiB"),
        (2**70, "1,048,576 PiB"),
    ],
)
def test_bytes_in_words(count: int, words: str) -> None:
    assert format_bytes(count) == words


def test_what_is_frozen_has_no_gradient_and_no_state() -> None:
    network = chain(layer("feature_input", channels=3), layer("fully_connected", outputs=5, frozen=True))
    network, _ = add(network, layer("fully_connected", outputs=2), network.layers["id2"])
    analysis = analyse(network)
    assert frozen_parameters(network, analysis) == 20
    memory = training_memory(analysis, 1, 2, frozen=20)
    assert (memory.weights, memory.gradients, memory.optimizer) == (4 * 32, 4 * 12, 8 * 12)


def test_without_facts_of_every_layer_sums_are_not_all_there_is() -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("relu"))
    whole = analyse(network)
    assert all_known(network, whole)
    (last,) = (one for one in network.layers.values() if one.type_key == "relu")
    partly = Analysis({id: facts for id, facts in whole.shapes.items() if id != last.id}, ())
    assert not partly.has_errors  # as with code that was not measured
    assert not all_known(network, partly)
    assert not training_memory(partly, 1, 1, is_all_known=False).is_whole


def test_inside_a_block_every_layer_counts() -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("conv2d"), layer("relu"))
    chosen = [one.id for one in network.layers.values() if one.type_key != "image_input"]
    network, _, id = group(network, placed(network, Layout()), chosen)
    analysis = analyse(network)
    assert all_known(network, analysis)
    inside = analysis.inside[id]
    (copy,) = inside.copies
    less = replace(copy, shapes=dict(list(copy.shapes.items())[:1]))
    assert not all_known(network, replace(analysis, inside={id: replace(inside, copies=(less,))}))


def test_pieces_hold_the_activations_of_one_of_them() -> None:
    analysis = analyse(cnn())
    whole, micro = training_memory(analysis, 10, 1), training_memory(analysis, 10, 1, step=StepOptions(micro_batches=4))
    assert micro.activations == training_memory(analysis, 3, 1).activations  # the largest micro-batch of 10 in 4
    assert (micro.weights, micro.optimizer, micro.batch) == (whole.weights, whole.optimizer, 10)
    assert not micro.is_rough


def test_double_precision_takes_twice_as_much() -> None:
    analysis = analyse(cnn())
    single, double = (training_memory(analysis, 2, 2, step=StepOptions(precision=name)) for name in ("fp32", "fp64"))
    assert double.total == 2 * single.total
    assert double.describe() == f"{format_bytes(2 * single.total)} at batch 2"


def test_half_precision_keeps_whole_weights_and_rounded_copies() -> None:
    analysis = analyse(cnn())
    single, half = (training_memory(analysis, 64, 2, step=StepOptions(precision=name)) for name in ("fp32", "bf16"))
    assert half.activations == single.activations // 2
    assert half.weights == single.weights * 3 // 2
    assert (half.gradients, half.optimizer) == (single.gradients, single.optimizer)
    assert half.describe().startswith("about ")


def test_an_average_is_another_set_of_weights() -> None:
    analysis = analyse(cnn())
    assert training_memory(analysis, 1, 1, step=StepOptions(has_average=True)).weights == 8 * analysis.parameters


def test_what_is_computed_again_is_not_held() -> None:
    network = chain(layer("feature_input", channels=4), *(layer("fully_connected", outputs=4) for _ in range(24)))
    analysis = analyse(network)
    usual, segments = (training_memory(analysis, 8, 1, step=StepOptions(recomputing=how)) for how in ("off", "auto"))
    assert segments.activations == round(usual.activations * 2 / 5)  # 25 layers
    assert segments.describe().startswith("about ")


def test_blocks_that_are_computed_again_hold_what_leaves_them_and_the_largest_inside() -> None:
    network = chain(layer("image_input", channels=1, size=8), layer("conv2d", filters=2), layer("relu"))
    chosen = [one.id for one in network.layers.values() if one.type_key != "image_input"]
    network, _, _ = group(network, placed(network, Layout()), chosen)
    memory = training_memory(analyse(network), 1, 1, step=StepOptions(recomputing="blocks"))
    assert memory.activations == 4 * 64 * (1 + 2 + 2 * 2)  # input, output of the block, two layers inside


def test_options_tell_how_much_memory_a_project_takes() -> None:
    network = cnn()
    analysis, facts = analyse(network), DatasetInfo((), {"training": 300}, classes_of("a", "b"))

    def of(facts: DatasetInfo | None, **options: object) -> Memory:
        return memory_of(Project(network=network, training=TrainingOptions(**options)), analysis, facts)

    assert of(facts).batch == 128
    full = of(facts, solver="lbfgs", gradient_accumulation=3)
    assert (full.batch, full.is_whole) == (300, True)
    assert full.activations == of(facts, mini_batch_size=100).activations
    assert of(None, solver="lbfgs").describe().startswith("at least ")
    assert of(facts, precision="bf16", weight_averaging="ema").is_rough
    assert of(facts, weight_averaging="ema").weights == 2 * of(facts).weights
