"""All checks of a project before training: its network, its options, and its data if known."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from netwright.engine.core.errors import UserError, plural
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import NO_LAYERS, Analysis, analyse, frozen_parameters, type_at
from netwright.engine.network.block import Block
from netwright.engine.network.blocks import Path, analysis_in, network_in
from netwright.engine.network.memory import Memory, StepOptions, all_known, optimizer_states, training_memory
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project import check_fixes, user_code
from netwright.engine.project.bindings import in_order, match_inputs
from netwright.engine.project.blocked_gradients import GRADIENTS, blocked_gradients
from netwright.engine.project.check_advice import advice
from netwright.engine.project.check_augmentation import augmentation_problems
from netwright.engine.project.check_fixes import with_channel_fix
from netwright.engine.project.check_inputs import input_problems, missing_inputs
from netwright.engine.project.check_lengths import length_problems, sequence_problems
from netwright.engine.project.check_outputs import (
    idle_inputs,
    loss_problems,
    nothing_learns,
    output_count_problem,
    output_problems,
    several_networks,
    several_outputs,
)
from netwright.engine.project.constants import constants_problems
from netwright.engine.project.data_loading import loading_problems
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.options.metric_options import METRICS, not_chosen
from netwright.engine.project.project import Project, block_paths, lifted, lowered, project_in
from netwright.engine.project.schedules import plateau_begin
from netwright.engine.project.stage_edits import stage_problems
from netwright.engine.project.starter import MAKE, starter
from netwright.engine.project.target_scale import target_scale_problems
from netwright.engine.project.training import TrainingOptions, batch_size, training_length, whole_batch_note
from netwright.engine.project.transferred_layers import FREEZE_NONE, freezing_problem, with_freezing
from netwright.engine.project.user_code import with_code_fix
from netwright.engine.user_code import registry

MOST_WEIGHTS = 5_000
"""Largest number of learnable parameters for Levenberg-Marquardt: an iteration solves for all weights at once, with
memory growing by their square and time by their cube."""
DATA = "data"
"""Field name of a problem with the data itself."""


@dataclass(frozen=True)
class CheckResult:
    """The analysis of the network, the problems of the whole project, errors first, and the dataset info, if known."""

    analysis: Analysis
    problems: tuple[Problem, ...]
    facts: DatasetInfo | None = None

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Return the problems that keep the project from training."""
        return tuple(p for p in self.problems if p.severity == "error")

    @property
    def option_warnings(self) -> tuple[Problem, ...]:
        """Return the warnings about training options; they do not keep a run from starting."""
        return tuple(p for p in self.problems if p.severity == "warning" and p.field.startswith("training."))

    @property
    def run_warnings(self) -> tuple[Problem, ...]:
        """Return the warnings that a run begins with: about training options, and about layers that do not learn."""
        blocked = (p for p in self.problems if p.severity == "warning" and p.field == GRADIENTS)
        return (*self.option_warnings, *blocked)

    @property
    def starter(self) -> Fix | None:
        """Return the edit that makes a first network for the data; None where there are layers, or no data."""
        if self.analysis.problems != NO_LAYERS:
            return None
        return next((p.fix for p in self.problems if p.fix is not None and p.fix.label == MAKE), None)

    def on_canvas(self) -> "CheckResult":
        """Return the result as an editor shows it: to have no layers yet is a note there, not a mistake."""
        if self.analysis.problems != NO_LAYERS:
            return self
        empty = tuple(replace(p, severity="note") if p in NO_LAYERS else p for p in self.problems)
        return replace(self, problems=empty)

    def refuse_errors(self) -> None:
        """Raise `UserError` with all errors, one per line, if there are any."""
        if self.errors:
            raise UserError.of_lines(describe(problem) for problem in self.errors[:20])


def check(project: Project, facts: DatasetInfo | None = None, refusal: str = "") -> CheckResult:
    """Check a project and return all its problems. Without dataset info, checks that depend on the data are omitted,
    with a note; `refusal` is the reason why it is missing although data is chosen: files that do not exist or cannot
    be read."""
    project = with_freezing(project)
    analysis = analyse(project.network)
    problems = [_with_channel_fix(project, analysis, problem) for problem in analysis.problems]
    if analysis.problems == NO_LAYERS and facts is not None:
        fix = starter(facts, project.data) or missing_inputs(project, facts)
        problems = [replace(problem, fix=fix) for problem in problems]
    problems += _option_problems(project)
    problems += stage_problems(project, analysis)
    problems += constants_problems(project.network, project.constants, registry.base())
    problems += blocked_gradients(project.network, analysis, has_data=project.data.source != "none")
    if facts is not None:
        problems += [*_data_problems(project, analysis, facts)]
    elif project.data.source == "none":
        note = "The project has no data yet. Choose a data source before training."
        problems.append(Problem("note", "", "", "data.source", note))
    elif refusal:
        is_untrusted = user_code.is_data_untrusted(project.data)
        problems.append(Problem("error", "", "", DATA, refusal, needs_trust=is_untrusted))
    problems += [*least_squares_problems(project, analysis, facts), *target_scale_problems(project, facts)]
    problems += [*_output_problems(project, analysis, facts), *_advice(project, analysis, facts)]
    rank = {"error": 0, "warning": 1, "note": 2}
    return CheckResult(analysis, tuple(sorted(problems, key=lambda p: rank[p.severity])), facts)


def describe(problem: Problem) -> str:
    """Return a problem as one line: `conv_1, kernel: The window reaches ...`."""
    where = ", ".join(part for part in (problem.name, problem.field) if part)
    return f"{where}: {problem.message}" if where else problem.message


def result_in(result: CheckResult, path: Path) -> CheckResult:
    """Return the part of a result inside a block, with ids as they are there; of its first copy."""
    problems = (lowered(problem, path) for problem in result.problems)
    return CheckResult(
        analysis_in(result.analysis, path), tuple(problem for problem in problems if problem), result.facts
    )


def memory_of(project: Project, analysis: Analysis, facts: DatasetInfo | None = None) -> Memory:
    """Return the memory of a training step with the project's options, over all workers. Full-batch solvers use the
    size of the training split; where it is not known, the mini-batch size as a lower bound."""
    options = project.training
    states = optimizer_states(options.solver, options.momentum, options.history_size, analysis.parameters)
    network = with_freezing(project).network
    frozen = frozen_parameters(network, analysis)
    samples = facts.samples.get("training") if facts else None
    is_known = all_known(network, analysis) and bool(samples or not options.is_full_batch)
    step = StepOptions(
        options.gradient_accumulation if options.solver != "lm" else 1,
        options.precision,
        options.gradient_checkpointing if options.solver != "lm" else "off",
        options.weight_averaging != "none",
    )
    batch = batch_size(options, samples)
    return training_memory(analysis, batch, states, frozen, is_all_known=is_known, step=step)


def metric_problems(options: TrainingOptions, facts: DatasetInfo) -> Iterator[Problem]:
    """Return the errors of the metrics, given the data."""
    metrics = options.metrics_for(facts.task)
    for name in metrics:
        if facts.task not in METRICS[name].tasks:
            fitting = ["auto", *(other for other, kind in METRICS.items() if facts.task in kind.tasks)]
            way_out = f"Use {', '.join(fitting[:-1])} or {fitting[-1]}."
            message = f"'{name}' does not fit data whose responses are {facts.task}. {way_out}"
            yield Problem("error", "", "", "training.metrics", message)
    for field in ("objective_metric", "target_metric"):
        name = getattr(options, field)
        if name in options.possible_metrics and name not in metrics:
            yield Problem("error", "", "", f"training.{field}", not_chosen(name, metrics))
    if "top-k" in metrics and options.top_k >= len(facts.classes) > 0:
        count = len(facts.classes)
        message = f"Of {count:,} classes the right one is always among {options.top_k:,}. Use at most {count - 1:,}."
        yield Problem("error", "", "", "training.top_k", message)


def least_squares_problems(project: Project, analysis: Analysis, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return the problems of the Levenberg-Marquardt solver; empty for other solvers."""
    if project.training.solver != "lm":
        return
    if facts is not None and (why := _no_regression(facts)):
        yield Problem("error", "", "", "training.solver", f"The solver lm is for regressions; {why}. Choose another.")
    count = analysis.parameters - frozen_parameters(project.network, analysis)
    if count > MOST_WEIGHTS:
        message = (
            f"The solver lm solves for all weights at once and takes at most {MOST_WEIGHTS:,}; the network has "
            f"{count:,} that learn. Choose another solver, such as lbfgs, or make the network smaller."
        )
        yield Problem("error", "", "", "training.solver", message)
    yield from _dependent(project.network, analysis)


def _no_regression(facts: DatasetInfo) -> str:
    first, *others = facts.targets
    if others:
        return f"it takes one target, and the data has {len(facts.targets)}"
    if first.task != "numbers":
        return f"the responses of the data are {first.task}"
    return (
        "" if first.per == "sample" else f"it takes numbers for each sample, and the data has some for each {first.per}"
    )


def _dependent(network: Network, analysis: Analysis) -> Iterator[Problem]:
    """Return problems of layers whose output for a sample depends on more than it and the weights; each outer
    layer once."""
    ids: set[str] = set()
    for path, _ in analysis.all_shapes():
        type, (outer, *_) = type_at(network, path), path.split("/")
        if outer not in ids and (why := _why_dependent(type)):
            ids.add(outer)
            message = (
                f"The solver lm differentiates each sample by itself, but {type.label} {why}. Choose another solver."
            )
            yield Problem("error", outer, network.layers[outer].name, "", message)


def _why_dependent(type: LayerType) -> str:
    if type.key == "batch_norm":
        return "takes its statistics over the batch"
    if type.random and getattr(type, "dropout", getattr(type, "probability", 1.0)) > 0:
        return "draws at random"
    return ""


def _with_channel_fix(project: Project, analysis: Analysis, problem: Problem) -> Problem:
    *path, id = problem.path
    network, inner_analysis = network_in(project.network, path), analysis_in(analysis, path)
    here = with_code_fix(network, replace(problem, layer=id))
    fix = with_channel_fix(network, inner_analysis, here).fix
    return replace(problem, fix=lifted(project, path, replace(problem, layer=id, fix=fix)).fix) if fix else problem


def _advice(project: Project, analysis: Analysis, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return the warnings about the network and the contents of its blocks; a message without a layer's name appears
    once."""
    messages: set[str] = set()
    for path in ((), *block_paths(project.network)):
        for problem in advice(project_in(project, path), analysis_in(analysis, path), facts):
            if problem.message not in messages:
                messages.add(problem.message)
                yield lifted(project, path, problem)


def _option_problems(project: Project) -> Iterator[Problem]:
    for error in project.option_problems():
        yield Problem("error", "", "", error.path, error.message)
    if (problem := freezing_problem(project)) is not None:
        yield problem
    yield from user_code.problems(project.training)
    has_blocks = any(isinstance(layer.effective_type, Block) for layer in project.network.layers.values())
    if project.training.gradient_checkpointing == "blocks" and not has_blocks:
        message = "The network has no blocks, so nothing is recomputed and no memory is saved. Choose auto, or off."
        yield Problem("warning", "", "", "training.gradient_checkpointing", message)
    if project.training.is_changed("checkpoint_frequency") and project.training.checkpoint_unit == "auto":
        message = "The interval has no unit, and no effect: set checkpoint_unit to epochs, iterations or seconds."
        yield Problem("warning", "", "", "training.checkpoint_frequency", message)


def _data_problems(project: Project, analysis: Analysis, facts: DatasetInfo) -> Iterator[Problem]:
    network = project.network
    yield from (Problem("warning", "", "", DATA, warning) for warning in facts.warnings)
    yield from input_problems(project, analysis, facts)
    is_masked = project.training.sequence_padding == "masked"
    yield from length_problems(network, analysis, match_inputs(network, facts), is_masked=is_masked)
    yield from sequence_problems(project, facts)
    yield from augmentation_problems(project, facts, analysis)
    training = facts.samples.get("training", 0)
    if not training:
        message = "The training split has no samples. Lower the shares of validation and test, or add samples."
        yield Problem("error", "", "", DATA, message)
    if note := whole_batch_note(project.training, training):
        fix = check_fixes.option(f"Set to {training:,}", mini_batch_size=training)
        yield Problem("note", "", "", "training.mini_batch_size", note, fix)
    yield from _warmup_problem(project.training, training)
    if project.training.target_metric != "none" and not facts.samples.get("validation"):
        message = "The target is looked for at validations; the data has no validation split. Set a share for it."
        yield Problem("error", "", "", "training.target_metric", message)
    if plateau_begin(project.training, 1) is not None and not facts.samples.get("validation"):
        message = "The plateau schedule follows validations; the data has no validation split. Set a share for it."
        yield Problem("error", "", "", "training.schedule", message)
    yield from loading_problems(project, facts)
    yield from loss_problems(project, analysis, facts)
    yield from metric_problems(project.training, in_order(project.network, facts))


def _warmup_problem(options: TrainingOptions, samples: int) -> Iterator[Problem]:
    """Return a problem if the run ends before its warm-up does."""
    total = training_length(options, samples).total_steps if samples else 0
    if options.is_visible("warmup_iterations") and 0 < total <= options.warmup_iterations:
        message = (
            f"The run has {plural(total, 'iteration')} and ends within the warm-up of {options.warmup_iterations:,}: "
            "the learn rate only rises."
        )
        yield Problem("warning", "", "", "training.warmup_iterations", message)


def _output_problems(project: Project, analysis: Analysis, facts: DatasetInfo | None) -> Iterator[Problem]:
    """Return the problems of the network's outputs. Without data any single output is accepted."""
    network = project.network
    yield from idle_inputs(network)
    if (problem := several_networks(network, facts)) is not None:
        yield problem
        return
    ports = network.output_ports
    if any(port.layer not in analysis.shapes for port in ports):
        return  # a broken chain has been reported already
    if (problem := nothing_learns(network, analysis, facts)) is not None:
        yield replace(problem, fix=FREEZE_NONE) if project.weights.freeze_up_to else problem
    if (problem := several_outputs(network, analysis, facts)) is not None:
        yield problem
    elif facts is not None:
        if (problem := output_count_problem(network, facts)) is not None:
            yield problem
        else:
            yield from output_problems(project, analysis, facts)
