"""Builds the trainer of a job: network, data, loss, step, evaluation, checkpoints and reports, put together here."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial

import torch
from torch import fx, nn

from netwright.engine.core.text import format_percent
from netwright.engine.data.loading.augmentation import Augmentation, augmentation_for
from netwright.engine.data.loading.batches import Batch, BatchLoader, ResidentDataset, SampleOrder, as_tuple
from netwright.engine.data.loading.datasets import fed_inputs, make_dataset
from netwright.engine.hardware.utilization import peak_memory_bytes, release_memory, utilization_of
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.parallel import process_group
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.parallel.strategies.selection import form_of_data_parallel, strategy_for
from netwright.engine.parallel.strategies.strategy import State, Strategy
from netwright.engine.parallel.sync_batch_norm import Share
from netwright.engine.placement.batch_arithmetic import rate_factor
from netwright.engine.project import user_code
from netwright.engine.project.check_strategies import pieces_of_batch, stages_of
from netwright.engine.project.target_scale import fitted_outputs
from netwright.engine.project.training import TrainingLength, training_length, whole_batch_note
from netwright.engine.runs.checkpoint_files import Checkpoint, all_checkpoints, beside, place
from netwright.engine.runs.events import Message, Started
from netwright.engine.training.answer_recorder import recorder_for, watched_note
from netwright.engine.training.best_model import BestModelTracker, FolderStore, ModelStore, NullStore
from netwright.engine.training.checkpoint_schedule import expected_cost_s
from netwright.engine.training.checkpoints import HOOKS, CheckpointSaver, RandomStates
from netwright.engine.training.compilation import Step, accelerate, all_learn, choose_threads
from netwright.engine.training.distillation import Distillation, distillation_for
from netwright.engine.training.efficiency import Efficiency
from netwright.engine.training.evaluation import EvaluationOptions, Evaluator, confusion_for, metrics_for, named
from netwright.engine.training.gradient_checkpointing import CheckpointedNetwork
from netwright.engine.training.gradient_clipping import gradient_clip
from netwright.engine.training.hook_reports import HookReports
from netwright.engine.training.job import TrainingJob, double_inputs, initial_network, prepare_parameters, weights_note
from netwright.engine.training.layer_statistics import LAYERS_OF_SHARDED, LayerWatch, Watch
from netwright.engine.training.levenberg_marquardt import LevenbergMarquardt
from netwright.engine.training.losses import Loss, OutputAdapters, Scale, loss_for, normalised, scale_of
from netwright.engine.training.metrics import Metric
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.nan_check import nan_check_for
from netwright.engine.training.nan_diagnosis import NanDiagnosis
from netwright.engine.training.nan_replay import NanReplay
from netwright.engine.training.precision import Precision
from netwright.engine.training.recorder import Clock, Recorder
from netwright.engine.training.reporter import Reporter
from netwright.engine.training.solvers import Schedule, Solver, groups_by_name
from netwright.engine.training.state import TrainingPlan, limits_for, validation_steps
from netwright.engine.training.step import StepOptions, TrainStep
from netwright.engine.training.trainer import Trainer, TrainerOptions
from netwright.engine.training.user_hooks import FileHooks, Run
from netwright.engine.training.weight_averaging import BatchStatistics, average_for
from netwright.engine.training.weight_recorder import weight_recorder_for


def build_trainer(job: TrainingJob) -> Trainer:
    """Create the trainer of a job, restored from its checkpoint where it names one. A collective.

    Sends the first events of the run. Raises `UserError` where the project cannot be trained.
    """
    return TrainerBuilder(job).build()


class TrainerBuilder:
    """Creates the parts of a training, in the order in which they draw random numbers."""

    def __init__(self, job: TrainingJob, like: "TrainerBuilder | None" = None) -> None:
        """Build the initial network; `like` is a builder whose network is copied and whose data is shared instead."""
        self.job, self.options = job, job.options
        self.notes = list(job.notes)
        self.parameters: Mapping[str, ParameterOptions] = {}
        """Options of the parameters by name, once the network is prepared."""
        self._share = Share()
        self._doubles: frozenset[int] = frozenset()
        """Indices of the data's inputs that are float64."""
        if like is None:
            self.precision = Precision(self.options.fitting_precision, job.device, job.group)
            self.network = self.precision.network(initial_network(job))
            self.precision.begin()
            self._doubles = double_inputs(job, self.network) if job.data is not None else self._doubles
        else:
            self.precision, self.network = like.precision, copy.deepcopy(like.network)
            self.__dict__["training"] = like.training

    def build(self) -> Trainer:
        """Create the trainer."""
        job, options = self.job, self.options
        validation, test = self.split("validation"), self.split("test")
        self.notes += [*_loading_note(job), *weights_note(job), *watched_note(job), *self.precision.notes]
        self.notes += filter(None, [whole_batch_note(options, len(self.training))])
        self.notes += choose_threads(job, self.network, self.precision, self.training)
        metrics = metrics_for(options, job.ordered_dataset, self.training.targets, job.targets)
        batches = self.batches(self._augmentation(), job.shard_weights)
        num_parameters = sum(p.numel() for p in self.network.parameters())
        is_first = job.group.rank == 0
        store: ModelStore = NullStore()
        if is_first:
            store = folders = FolderStore(job.folder.path, job.manifest, job.preparation)
            folders.begin(self.network.state_dict())
        step = self.train_step(batches)
        self.network = step.model.network  # of a pipeline this worker's stage, so that the others can be freed
        tracker = BestModelTracker(
            step.model,
            options,
            named(options.objective_metric, metrics),
            store,
            has_validation=validation is not None,
        )
        plan = self._plan(validation, test, metrics)
        reporter = self._reporter(step, metrics, plan.limits.time_s)
        # From here on each worker draws random numbers of its own, for dropout.
        _seed_worker(job)
        clock = reporter.clock
        saver = CheckpointSaver(
            options,
            partial(beside, job.folder),
            now=lambda: clock.elapsed_s,
            rank=job.group.rank,
            size=job.group.size,
            cost_s=expected_cost_s(num_parameters),
        )
        diagnosis = NanDiagnosis(step, in_stages=job.has_stages)
        hooks, replay = self._hooks(reporter), self._nan_replay(step, diagnosis, batches, saver)
        trainer = Trainer(
            plan,
            step,
            self.evaluator(step, metrics),
            batches,
            reporter,
            tracker,
            TrainerOptions(hooks, saver, diagnosis, replay, recorder_for(job)),
        )
        # Names in the checkpoint file, in their order.
        saver.register(unit=step.model, schedule=self.schedule)
        saver.parts["keeper"] = tracker
        saver.register(random=RandomStates(job.group, job.device), reporter=reporter, trainer=trainer)
        if hooks is not None:
            saver.parts[HOOKS] = hooks
        if job.checkpoint >= 0:
            saver.restore(Checkpoint(place(job.folder, job.checkpoint), job.checkpoint))
        self.schedule.multiply(job.rate_factor)
        self._send_started(num_parameters, named("metric", metrics), trainer.length)
        return trainer

    def _plan(
        self, validation: ResidentDataset | None, test: ResidentDataset | None, metrics: Sequence[Metric]
    ) -> TrainingPlan:
        """Return the plan of the training: its length, and its validations."""
        options = self.options
        return TrainingPlan(
            self.length,
            validation_steps(options, self.length.steps_per_epoch),
            options.validation_patience,
            validation,
            test,
            schedule=self.schedule,
            release_memory=partial(release_memory, self.job.device),
            limits=limits_for(options, named(options.target_metric, metrics)),
        )

    @cached_property
    def training(self) -> ResidentDataset:
        """Return the training split on the device."""
        split = self.split("training")
        assert split is not None  # `prepare` refuses a project whose training split is empty
        return split

    @cached_property
    def length(self) -> TrainingLength:
        """Return batch size, steps per epoch and epochs."""
        return training_length(self.options, len(self.training))

    @cached_property
    def schedule(self) -> Schedule:
        """Return the learn rate of each step."""
        scale = rate_factor(self.job.project.environment, self.job.group.size)
        return Schedule(self.options, self.length.steps_per_epoch, self.length.total_steps, scale)

    @cached_property
    def loss(self) -> Loss:
        """Return the loss; of targets in their own units, or normalised where the options say so."""
        job, options = self.job, self.options
        loss = loss_for(options, job.targets, self.training.targets)
        if not options.normalize_targets:
            return loss
        return normalised(loss, self._scales)

    @cached_property
    def _scales(self) -> Mapping[int, Scale]:
        """Return the normalization of the numbers of each output, by its index."""
        job = self.job
        return {
            output: scale_of(self.network.get_submodule(job.module_names[id][0]), job.device)
            for output, id in fitted_outputs(job.project.network).items()
        }

    def _distillation(self) -> Distillation | None:
        """Return the distillation, and note it; None without a teacher."""
        options = self.options
        scales = self._scales if options.normalize_targets else {}
        distillation = distillation_for(self.job, self.precision, scales)
        if distillation is not None:
            weight = format_percent(options.distil_weight)
            self.notes.append(f"Learns from {options.distil_from}: {weight} of the training loss are its answers.")
        return distillation

    def batches(self, augmentation: Augmentation | None = None, shard_weights: Sequence[float] = ()) -> BatchLoader:
        """Create the batches of the training split."""
        job, options, training = self.job, self.options, self.training
        order = SampleOrder(
            len(training),
            self.length.batch,
            "never" if self.length.is_full_batch else options.shuffle,
            options.seed,
            keep_last=options.last_batch == "keep",
            lengths=training.longest if options.bucket_by_length else None,
            shards=_shards(job, len(training)),
            window=0 if job.project.data.source_type is None else job.project.data.source_type.window(job.project.data),
        )
        return BatchLoader(
            training,
            order,
            SingleProcess() if job.has_stages else job.group,  # all workers of a pipeline compute all samples
            cut=options.sequence_length == "shortest",
            micro_batches=pieces_of_batch(job.project.environment, options.gradient_accumulation, job.group.size),
            loads=shard_weights,
            transform=augmentation,
        )

    def train_step(self, batches: BatchLoader) -> TrainStep:
        """Create the model on its device, and the step that trains it. A collective."""
        job, options = self.job, self.options
        # Workers of local SGD have batch statistics of their own, too; those of a pipeline see all samples.
        is_apart = job.project.environment.strategy in ("local-sgd", "pipeline")
        prepare_parameters(job, self.network, SingleProcess() if is_apart else job.group, self._share)
        self.parameters = job.parameter_options(self.network)
        if job.has_stages:
            return self._pipeline_step()
        network = self.network.to(job.device)
        module, strategy = self._strategy(batches)
        statistics = BatchStatistics(network, self._share, self.precision, batches.one_pass)
        least_squares = (
            LevenbergMarquardt(options, network, self.parameters, job.group) if options.solver == "lm" else None
        )
        model = TrainedModel(
            network,
            strategy,
            least_squares or self._solver(network),
            job.group,
            self.precision,
            average=average_for(options, network, batches.order.steps_per_epoch, statistics, self.schedule),
            statistics=statistics if options.batch_normalization_statistics == "population" else None,
        )
        step_options = StepOptions(
            clip=gradient_clip(options, network.parameters(), job.group),
            user_step=user_code.target(options, "step_function"),
            nan_check=nan_check_for(options, network, job.group),
            distillation=self._distillation(),
            watch=self._watch(network, module),
            adapters=OutputAdapters(job.targets, mixes=options.mixes),
            manual_backward=not options.hooks_file and job.accelerations.uses("manual-backward"),
        )
        return TrainStep(model, self.loss, self.schedule, self._share, step_options)

    def _pipeline_step(self) -> TrainStep:
        """Create the same for this worker's pipeline stage."""
        from netwright.engine.parallel.strategies.pipeline import Pipeline
        from netwright.engine.training.pipeline_step import PipelineTrainStep

        job, options = self.job, self.options
        assert isinstance(self.network, fx.GraphModule)  # as it was built
        stages = stages_of(job.project.network, job.analysis, job.project.environment, job.group.size)
        groups = partial(groups_by_name, options=options, parameters=self.parameters)
        pipeline = Pipeline(self.network, stages.of, job.group, job.device, groups)
        stage = pipeline.module
        step_options = StepOptions(
            clip=gradient_clip(options, stage.parameters(), job.group, in_stages=True),
            nan_check=nan_check_for(options, stage, job.group),
            watch=self._watch(stage, stage),
            adapters=OutputAdapters(job.targets, mixes=options.mixes),
        )
        model = TrainedModel(stage, pipeline, self._solver(stage), job.group, self.precision)
        return PipelineTrainStep(model, self.loss, self.schedule, self._share, step_options)

    def _solver(self, network: nn.Module) -> Solver:
        """Create a solver as it is before the first step."""
        is_fused = self.job.accelerations.uses("fused-optimizers")
        keeps_zeros = self.job.project.weights.keep_zeros
        return Solver(self.options, network, self.parameters, fused=is_fused, keeps_zeros=keeps_zeros)

    def _strategy(self, batches: BatchLoader) -> tuple[nn.Module, Strategy]:
        """Choose the module to call in training, which may be recomputed or compiled, and the workers' strategy."""
        job, options, network = self.job, self.options, self.network
        environment, module = job.project.environment, network
        step = self._gradient_step(batches)
        if options.gradient_checkpointing != "off":
            assert isinstance(network, fx.GraphModule)  # as it was built
            module = CheckpointedNetwork(network, options.gradient_checkpointing, self._share)
        elif environment.strategy != "fully-sharded" and options.solver != "lm":
            module, note = accelerate(options.acceleration, network, step, job.group, job.device)
            self.notes += [note] if note else []
        replicates = environment.strategy in ("auto", "data-parallel") and not job.strategy and options.solver != "lm"
        learns = True
        if job.group.size > 1 and replicates and form_of_data_parallel(environment, job.device) == "ddp":
            # A user's own step may leave out any parameter, or none.
            learns = not options.step_function and all_learn(network, module, step, job.group, job.device)
        return module, strategy_for(
            environment,
            network,
            job.group,
            job.device,
            self._share,
            job.strategy,
            module,
            all_learn=learns,
            # DDP's static graph knows no micro-batches without all-reduce. User code may compute otherwise every step.
            is_static=options.gradient_accumulation == 1 and module is network and not user_code.has_code(job.project),
        )

    def _gradient_step(self, batches: BatchLoader) -> Step:
        """Return a function that computes the gradients of a module for the first micro-batch of the first batch."""
        precision, loss = self.precision, self.loss

        @cache
        def first() -> Batch:
            return next(next(iter(batches.of_epoch(1))).micro_batches())

        def step(module: nn.Module) -> None:
            torch.autograd.backward(loss(as_tuple(precision.call(module, *first().inputs)), first().targets))

        return step

    def evaluator(self, step: TrainStep, metrics: Sequence[Metric]) -> Evaluator:
        """Create the evaluation of the model on splits of the data."""
        job, options = self.job, self.options
        parts = job.group.size * options.gradient_accumulation
        if job.has_stages:
            parts = pieces_of_batch(job.project.environment, options.gradient_accumulation, job.group.size)
        evaluation = EvaluationOptions(
            confusion=confusion_for(job.ordered_dataset),
            adapters=step.adapters,
            shard_weights=() if job.has_stages else job.shard_weights,
            batch_size=max(64, 2 * -(-options.mini_batch_size // parts)),
        )
        if not job.has_stages:
            return Evaluator(step.model, self.loss, metrics, evaluation)
        from netwright.engine.training.pipeline_step import PipelineEvaluator

        return PipelineEvaluator(step.model, self.loss, metrics, evaluation)

    def _watch(self, network: nn.Module, module: nn.Module) -> Watch:
        """Create the record of gradients and layers; `module` is what training calls instead of the network."""
        job, options = self.job, self.options
        refusals = {}
        if options.solver == "lm":
            refusals["gradient_norm"] = "the solver lm computes a Jacobian of all samples, and no gradient"
        if job.has_stages:
            refusals["layers"] = "each worker of a pipeline has some of the layers, and only one worker records them"
        elif hasattr(module, "_orig_mod"):
            refusals["layers"] = "the layers of a compiled network cannot be recorded; use acceleration none"
        layers = None
        if job.group.rank == 0 and not job.has_stages:  # the first worker records layers for all
            types = {id: shapes.output for id, shapes in job.analysis.all_shapes() if shapes.outputs}
            channels = {id: type.dim("C") for id, type in types.items() if type.has("C")}
            is_sharded = job.group.size > 1 and job.project.environment.strategy == "fully-sharded"
            layers = LayerWatch(network, job.module_names, channels, remark=LAYERS_OF_SHARDED if is_sharded else "")
        weights, notes = weight_recorder_for(job, network, self.length, is_compiled=hasattr(module, "_orig_mod"))
        self.notes += notes
        return Watch(
            network.parameters(),
            # Squared norms of pipeline stages add up: no two workers have the same weight.
            SingleProcess() if job.has_stages else job.group,
            gradient_norm=options.watch_gradient_norm,
            layers=layers,
            watches_layers=options.watch_layers,
            refusals=refusals,
            weights=weights,
        )

    def split(self, name: str) -> ResidentDataset | None:
        """Return a split of the data on the device, or None where it is empty."""
        job = self.job
        if job.data is None or not job.dataset.samples.get(name):
            return None
        project = job.project
        split = make_dataset(
            job.data.split(name, self._doubles),
            project.network,
            job.analysis,
            job.dataset,
            project.training,
            job.targets,
            job.device,
            is_training=name == "training",
        )
        return self.precision.data(split)

    def _augmentation(self) -> Augmentation | None:
        """Return the random changes of training samples that the options ask for, if any."""
        job, training = self.job, self.training
        inputs = [facts for _, facts, _ in fed_inputs(job.project.network, job.dataset)]
        return augmentation_for(self.options, job.project.data, inputs, job.targets, training)

    def _send_started(self, num_parameters: int, metric: Metric, length: TrainingLength) -> None:
        """Send the first events of the run: what is trained where and for how long, and notes and warnings."""
        job, placement = self.job, self.job.info.placement
        notes = [*job.dataset.notes, *self.notes, *job.accelerations.notes(), *process_group.notes(job.group)]
        messages = [Message(severity="warning", text=warning[:1000]) for warning in job.dataset.warnings]
        messages += [Message(severity="note", text=note[:1000]) for note in notes]
        needs_validation = self.options.output_network == "best-validation" or self.options.validation_patience
        if needs_validation and not job.dataset.samples.get("validation"):
            text = "The data has no validation split: the last network is kept, and patience has no effect."
            messages.append(Message(severity="warning", text=text))
        started = Started(
            environment=placement.environment,
            hardware=placement.hardware,
            epochs=length.epochs,
            iterations=length.total_steps,
            steps_per_epoch=length.steps_per_epoch,
            metric=metric.name,
            samples=job.dataset.samples,
            parameters=num_parameters,
            sentence=placement.sentence[:1000],
            arithmetic=placement.arithmetic[:1000],
        )
        job.events.put(started, *messages)

    def _reporter(self, step: TrainStep, metrics: Sequence[Metric], time_limit_s: float) -> Reporter:
        """Create the reporter, which sends events and takes requests at report points."""
        job = self.job
        is_measured = job.group.size == 1 or job.device.type == "cpu"
        is_measured = is_measured and step.model.strategy.measures_communication
        clock = Clock(time_limit_s, lambda: job.group.communication_s if is_measured else math.nan)
        utilization = utilization_of(job.device, job.group.size)
        recorder = Recorder(metrics, job.group, partial(peak_memory_bytes, job.device), clock, job.device, utilization)
        steps, hardware, efficiency = self.length.total_steps, job.info.placement.hardware, None
        if job.group.rank == 0:
            efficiency = Efficiency(job.project.network, job.device, self.precision.name, hardware, job.group.size)
        return Reporter(metrics, recorder, job.events, job.requests, clock, steps, step.watch, efficiency)

    def _hooks(self, reporter: Reporter) -> FileHooks | None:
        """Create the calls of a user's hooks, if the project has any. Raises `UserError`."""
        job, length = self.job, self.length
        if not self.options.hooks_file:
            return None
        run = Run(
            self.network,
            job.folder.path,
            length.epochs,
            length.steps_per_epoch,
            job.group.rank,
            job.group.size,
            rate_at=self.schedule,
            clock=reporter.clock,
            reports=HookReports(job.folder.path, reporter.reported, is_first=job.group.rank == 0),
        )
        return FileHooks(self.options.hooks_file, run, job.group)

    def _nan_replay(
        self, step: TrainStep, diagnosis: NanDiagnosis, batches: BatchLoader, saver: CheckpointSaver
    ) -> NanReplay | None:
        """Create the search for where a non-finite loss came from, by replaying steps.

        None where a NaN check finds it at once, and for least squares, which move no weight by a non-finite value: the
        network as it is shows the layer.
        """
        job, options = self.job, self.options
        if options.non_finite_loss != "stop" or options.solver == "lm":
            return None

        def initial() -> tuple[State, Solver]:
            state = self.precision.network(initial_network(replace(job, checkpoint=-1))).state_dict()
            _seed_worker(job)
            return state, self._solver(step.model.network)

        return NanReplay(step, diagnosis, batches, saver.parts, initial, partial(all_checkpoints, job.folder))


def _loading_note(job: TrainingJob) -> list[str]:
    """Return how the data is loaded, where it is streamed or cannot be."""
    loading = job.info.loading
    return [loading.sentence()] if loading.is_streamed or loading.because else []


def _shards(job: TrainingJob, num_training: int) -> torch.Tensor | None:
    """Return the file that holds each training sample (N), where samples lie in several and are not cut further."""
    if (data := job.data) is None or data.shards is None or len(data.numbers["training"]) != num_training:
        return None
    return torch.from_numpy(data.shards[data.numbers["training"]])


def _seed_worker(job: TrainingJob) -> None:
    """Seed the random numbers of this worker."""
    torch.manual_seed(job.options.seed * 1_000_003 + 1 + job.group.rank)
