"""A training in this process, small enough for any test: a linear network of three classes, three steps per epoch."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from netwright.engine.core.types import features
from netwright.engine.data.loading.batches import BatchLoader, ResidentDataset, SampleOrder
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.project import user_code
from netwright.engine.project.bindings import alone
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.training import TrainingOptions, training_length
from netwright.engine.runs.events import Event
from netwright.engine.runs.requests import NOTHING, PendingRequests
from netwright.engine.training.best_model import BestModelTracker, NullStore
from netwright.engine.training.evaluation import Evaluator, metrics_for, named
from netwright.engine.training.hook_reports import HookReports
from netwright.engine.training.layer_statistics import LayerWatch, Watch
from netwright.engine.training.losses import loss_for
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.recorder import Clock, Recorder
from netwright.engine.training.reporter import Reporter
from netwright.engine.training.solvers import Solver
from netwright.engine.training.state import TrainingPlan
from netwright.engine.training.step import StepOptions, TrainStep
from netwright.engine.training.trainer import Outcome, Trainer, TrainerOptions
from netwright.engine.training.user_hooks import FileHooks, Run
from netwright.engine.user_code import registry, trust

STEPS_PER_EPOCH = 3
FACTS = DatasetInfo((InputInfo("x", features(2)),), {"training": 9, "validation": 9}, classes_of("a", "b", "c"))


class Kept:
    """An outbox."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def put(self, *events: Event) -> None:
        self.events += events


class Asks:
    """Requests that come one at each report."""

    def __init__(self, asked: Sequence[PendingRequests]) -> None:
        self._asked: Iterator[PendingRequests] = iter(asked)

    def pending(self) -> PendingRequests:
        return next(self._asked, NOTHING)


class Small:
    """The training of nine samples, with the files of code that its options name in a folder."""

    def __init__(self, folder: Path, epochs: int = 2, **given: Any) -> None:
        defaults = {"mini_batch_size": 3, "max_epochs": epochs, "validation_frequency": 2, "shuffle": "never"}
        self.options = TrainingOptions(**{**defaults, **given})
        files = user_code.files(self.options)
        registry.look(files, folder)
        if files:
            trust.grant(folder)
        torch.manual_seed(0)
        self.asked: Sequence[PendingRequests] = ()
        self.refusals: dict[str, str] = {}
        self.manual_backward = True
        self.network, self.outbox = nn.Linear(2, 3), Kept()
        self.part = ResidentDataset((torch.randn(9, 2),), (torch.randint(0, 3, (9,)),))
        self._folder, self._epochs = folder, epochs

    def run(self) -> Outcome:
        """Train it."""
        options, part, network = self.options, self.part, self.network
        group, clock, metrics = SingleProcess(), Clock(), metrics_for(options, FACTS, part.targets)
        model = TrainedModel(network, Single(network), Solver(options, network), group)
        loss = loss_for(options, alone(*classes_of("a", "b", "c")), part.targets)
        watch = Watch(
            network.parameters(),
            group,
            gradient_norm=options.watch_gradient_norm,
            layers=LayerWatch(network, {"fc": [""]}, {}),
            refusals=self.refusals,
        )
        step_options = StepOptions(
            user_step=user_code.target(options, "step_function"), watch=watch, manual_backward=self.manual_backward
        )
        step = TrainStep(model, loss, lambda step: 0.1 / (step + 1), options=step_options)
        steps = self._epochs * STEPS_PER_EPOCH
        recorder = Recorder(metrics, group, lambda: 0, clock)
        reporter = Reporter(metrics, recorder, self.outbox, Asks(self.asked), clock, steps, watch)
        keeper = BestModelTracker(
            model, options, named(options.objective_metric, metrics), NullStore(), has_validation=True
        )
        length = training_length(options, 9)
        reports = HookReports(self._folder, reporter.reported, is_first=True)
        run = Run(network, self._folder, length.epochs, 3, 0, 1, rate_at=step.learn_rate, clock=clock, reports=reports)
        hooks = FileHooks(options.hooks_file, run, group) if options.hooks_file else None
        plan = TrainingPlan(length, options.validation_frequency, 0, part, part)
        batches = BatchLoader(
            part, SampleOrder(9, 3, options.shuffle, 0), group, micro_batches=options.gradient_accumulation
        )
        evaluator, chosen = Evaluator(model, loss, metrics), TrainerOptions(hooks)
        return Trainer(plan, step, evaluator, batches, reporter, keeper, chosen).run()
