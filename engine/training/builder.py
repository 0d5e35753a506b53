"""Builds the trainer of a job: network, data, loss, step, evaluation, checkpoints and reports, put together here."""

import contextlib
import copy
import gc
import math
from collections.abc import Sequence
from functools import cache, cached_property, partial

import psutil
import torch
from torch import fx, nn

from engine.data.augmentation import Augmentation, augmentation_for
from engine.data.batches import Batch, BatchLoader, ResidentDataset, SampleOrder, as_tuple
from engine.data.datasets import inputs_of, resident
from engine.hardware.threads import fastest
from engine.hardware.utilization import utilization_of
from engine.layers.weighted import ParameterOptions
from engine.parallel import process_group
from engine.parallel.process_group import SingleProcess
from engine.parallel.strategies.strategy import Strategy, form_of_data_parallel, strategy_for
from engine.parallel.sync_batch_norm import Share
from engine.placement.batch_arithmetic import rate_factor
from engine.project import user_code
from engine.project.check_strategies import pieces_of_batch, stages_of
from engine.project.target_scale import fitted_outputs
from engine.project.training import TrainingLength, training_length
from engine.project.user_code import has_code
from engine.runs.checkpoints import Checkpoint, all_checkpoints, beside, place
from engine.runs.events import Message, Started
from engine.training.best_model import BestModelTracker, CheckpointSaver, FolderStore, NullStore, nowhere
from engine.training.checkpoints import RandomStates
from engine.training.compilation import Step, accelerate, all_learn
from engine.training.evaluation import confusion_for, metrics_for, named
from engine.training.gradient_checkpointing import Recomputing
from engine.training.gradient_clipping import BatchStatistics, gradient_clip
from engine.training.job import TrainingJob, initial_network, prepare_parameters
from engine.training.layer_statistics import LayerWatch, Watch
from engine.training.levenberg_marquardt import LevenbergMarquardt
from engine.training.losses import Loss, OutputAdapters, loss_for, normalised, scale_of
from engine.training.metrics import Metric
from engine.training.nan_check import nan_check_for
from engine.training.nan_replay import NanReplay
from engine.training.precision import Precision
from engine.training.recorder import Clock, Recorder
from engine.training.reporter import Reporter
from engine.training.solvers import Schedule, Solver, groups_by_name
from engine.training.state import TrainingPlan, limits_for, validation_steps
from engine.training.step import Fittings, State, Unit
from engine.training.trainer import Trainer
from engine.training.user_code import FileHooks, Run
from engine.training.weight_averaging import average_for

LAYERS_OF_SHARDED = (
    "Of the layers outputs and dead units are shown, but no gradients: each worker has a shard of each gradient, and "
    "only the first one records layers. The norm of all gradients together can be watched (watch_gradient_norm)."
)


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
        self._share = Share()
        if like is None:
            self.precision = Precision(self.options.fitting_precision, job.device, job.group)
            self.network = self.precision.network(initial_network(job))
            self.precision.begin()
        else:
            self.precision, self.network = like.precision, copy.deepcopy(like.network)
            self.__dict__["training"] = like.training

    def build(self) -> Trainer:
        """Create the trainer."""
        job, options = self.job, self.options
        validation, test = self._split("validation"), self._split("test")
        self.notes += [*_loading_note(job), *self.precision.notes, *self._choose_threads()]
        metrics = metrics_for(options, job.ordered_dataset, self.training.targets)
        batches = self.batches(self._augmentation(), job.shard_weights)
        num_parameters = sum(p.numel() for p in self.network.parameters())
        unit = self.unit(batches, metrics)
        self.network = unit.network  # of a pipeline this worker's stage, so that the others can be freed
        tracker = BestModelTracker(
            unit,
            options,
            named(options.objective_metric, metrics),
            FolderStore(job.folder.path, job.manifest) if job.folder and job.group.rank == 0 else NullStore(),
            has_validation=validation is not None,
        )
        job.accelerations.uses("garbage-timing")  # asked here for its note, used by the worker
        self.notes += [*job.accelerations.notes(), *process_group.notes(job.group)]
        job.events.put(self._started(num_parameters, named("metric", metrics)), *self._messages())
        plan = TrainingPlan(
            self.length,
            validation_steps(options, self.length.steps_per_epoch),
            options.validation_patience,
            validation,
            test,
            pace=self.schedule,
            release=partial(_release_memory, job.device),
            limits=limits_for(options, named(options.target_metric, metrics)),
        )
        reporter = self._reporter(unit, plan)
        # From here on each worker draws random numbers of its own, for dropout.
        _seed_worker(job)
        hooks = self._hooks(reporter.clock)
        saver = CheckpointSaver(options, partial(beside, job.folder) if job.folder and job.group.rank == 0 else nowhere)
        replay = self._nan_replay(unit, batches, saver)
        trainer = Trainer(plan, unit, batches, reporter, tracker, hooks, saver, replay)
        random = RandomStates(job.group, job.device)
        saver.register(
            unit=unit, schedule=self.schedule, keeper=tracker, reporter=reporter, trainer=trainer, random=random
        )
        if hooks is not None:
            saver.register(hooks=hooks)
        if job.folder and job.checkpoint >= 0:
            saver.go_on(Checkpoint(place(job.folder, job.checkpoint), job.checkpoint))
        self.schedule.multiply(job.rate_factor)
        return trainer

    @cached_property
    def training(self) -> ResidentDataset:
        """Return the training split on the device."""
        split = self._split("training")
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
        scales = {
            output: scale_of(self.network.get_submodule(job.module_names[id][0]), job.device)
            for output, id in fitted_outputs(job.project.network).items()
        }
        return normalised(loss, scales)

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
        )
        return BatchLoader(
            training,
            order,
            SingleProcess() if job.has_stages else job.group,  # all workers of a pipeline compute all samples
            cut=options.sequence_length == "shortest",
            micro_batches=pieces_of_batch(job.project.environment, options.gradient_accumulation, job.group.size),
            loads=shard_weights,
            change=augmentation,
        )

    def unit(self, batches: BatchLoader, metrics: Sequence[Metric]) -> Unit:
        """Create what trains and evaluates the network, on the device. A collective."""
        job, options, network = self.job, self.options, self.network
        # Workers of local SGD have batch statistics of their own, too; those of a pipeline see all samples.
        is_apart = job.project.environment.strategy in ("local-sgd", "pipeline")
        prepare_parameters(job, network, SingleProcess() if is_apart else job.group, self._share)
        parameters = job.parameter_options(network)
        if job.has_stages:
            return self._pipeline_unit(parameters, metrics)
        network.to(job.device)
        called, strategy = self._strategy(batches)
        statistics = BatchStatistics(network, self._share, self.precision, batches.one_pass)
        solver = partial(Solver, options, network, parameters, fused=job.accelerations.uses("fused-optimizers"))
        return Unit(
            network,
            strategy,
            LevenbergMarquardt(options, network, parameters, job.group) if options.solver == "lm" else solver(),
            self.loss,
            metrics,
            job.group,
            share=self._share,
            rate=self.schedule,
            fittings=Fittings(
                clip=gradient_clip(options, network.parameters(), job.group),
                custom_step=user_code.target(options, "step_function"),
                precision=self.precision,
                average=average_for(options, network, batches.order.steps_per_epoch, statistics),
                population=statistics if options.batch_normalization_statistics == "population" else None,
                ends=OutputAdapters(job.targets, mixes=options.mixes),
                most_at_once=self._evaluation_batch(job.group.size * options.gradient_accumulation),
                guard=nan_check_for(options, network, job.group),
                loads=job.shard_weights,
                watch=self._watch(network, called),
                new_solver=solver,
                confusion=confusion_for(job.ordered_dataset) if job.data is not None else None,
                manual_backward=not options.hooks_file and job.accelerations.uses("manual-backward"),
            ),
        )

    def _strategy(self, batches: BatchLoader) -> tuple[nn.Module, Strategy]:
        """Choose what is called in training: the network, recomputed or compiled; and how workers share a step."""
        job, options, network = self.job, self.options, self.network
        environment, called = job.project.environment, network
        step = self._gradient_step(batches)
        if options.gradient_checkpointing != "off":
            assert isinstance(network, fx.GraphModule)  # as it was built
            called = Recomputing(network, options.gradient_checkpointing, self._share)
        elif environment.strategy != "fully-sharded" and options.solver != "lm":
            called, note = accelerate(options.acceleration, network, step, job.group, job.device)
            self.notes += [note] if note else []
        replicates = environment.strategy in ("auto", "data-parallel") and not job.strategy and options.solver != "lm"
        learns = True
        if job.group.size > 1 and replicates and form_of_data_parallel(environment, job.device) == "ddp":
            # Of a user's own step nothing is known.
            learns = not options.step_function and all_learn(network, called, step, job.group, job.device)
        return called, strategy_for(
            environment,
            network,
            job.group,
            job.device,
            self._share,
            job.strategy,
            called,
            all_learn=learns,
            # DDP's static graph knows no micro-batches without all-reduce. User code may compute otherwise every step.
            is_static=options.gradient_accumulation == 1 and called is network and not has_code(job.project),
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

    def _pipeline_unit(self, parameters: dict[str, ParameterOptions], metrics: Sequence[Metric]) -> Unit:
        """Create the same for this worker's pipeline stage."""
        from engine.parallel.strategies.pipeline import Pipeline
        from engine.training.pipeline_step import StagedUnit

        job, options, network = self.job, self.options, self.network
        assert isinstance(network, fx.GraphModule)  # as it was built
        stages = stages_of(job.project.network, job.analysis, job.project.environment, job.group.size)
        groups = partial(groups_by_name, options=options, parameters=parameters)
        pipeline = Pipeline(network, stages.of, job.group, job.device, groups)
        stage = pipeline.module
        solver = partial(Solver, options, stage, parameters, fused=job.accelerations.uses("fused-optimizers"))
        pieces = pieces_of_batch(job.project.environment, options.gradient_accumulation, job.group.size)
        return StagedUnit(
            pipeline,
            solver(),
            self.loss,
            metrics,
            job.group,
            share=self._share,
            rate=self.schedule,
            fittings=Fittings(
                clip=gradient_clip(options, stage.parameters(), job.group, in_stages=True),
                precision=self.precision,
                ends=OutputAdapters(job.targets, mixes=options.mixes),
                most_at_once=self._evaluation_batch(pieces),
                guard=nan_check_for(options, stage, job.group),
                new_solver=solver,
                watch=self._watch(stage, stage),
                confusion=confusion_for(job.ordered_dataset) if job.data is not None else None,
            ),
        )

    def _evaluation_batch(self, parts: int) -> int:
        """Return how many samples are evaluated together where a batch is computed in so many parts."""
        return max(64, 2 * -(-self.options.mini_batch_size // parts))

    def _watch(self, network: nn.Module, called: nn.Module) -> Watch:
        """Create the record of gradients and layers; `called` is what training calls instead of the network."""
        job, options = self.job, self.options
        refusals = {}
        if options.solver == "lm":
            refusals["gradient_norm"] = "the solver lm takes the error of each sample apart, and has no gradient"
        if job.has_stages:
            refusals["layers"] = "each worker of a pipeline has some of the layers, and one alone looks at them"
        elif hasattr(called, "_orig_mod"):
            refusals["layers"] = "a compiled network shows nothing of its layers; use acceleration none"
        layers = None
        if job.group.rank == 0 and not job.has_stages:  # the first worker records layers for all
            types = {id: shapes.output for id, shapes in job.analysis.all_shapes() if shapes.outputs}
            channels = {id: type.dim("C") for id, type in types.items() if type.has("C")}
            layers = LayerWatch(network, job.module_names, channels)
        is_sharded = job.group.size > 1 and job.project.environment.strategy == "fully-sharded"
        return Watch(
            network.parameters(),
            # Squared norms of pipeline stages add up: no two workers have the same weight.
            SingleProcess() if job.has_stages else job.group,
            gradient_norm=options.watch_gradient_norm,
            layers=layers,
            watches_layers=options.watch_layers,
            refusals=refusals,
            remark=LAYERS_OF_SHARDED if is_sharded else "",
        )

    def _split(self, name: str) -> ResidentDataset | None:
        """Return a split of the data on the device, or None where it is empty."""
        job = self.job
        if job.data is None or not job.dataset.samples.get(name):
            return None
        project = job.project
        split = resident(
            job.data.split(name),
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
        """Return the random changes of training images that the options ask for, if any."""
        job, training = self.job, self.training
        inputs = [facts for _, facts, _ in inputs_of(job.project.network, job.dataset)]
        return augmentation_for(self.options, job.project.data, inputs, training.span, job.targets, len(training))

    def _choose_threads(self) -> list[str]:
        """Time a step with one thread and with all of this worker's, keep the faster number, and return what to say.

        A copy of the network computes it, before random numbers are seeded, so the run is not affected. Nothing is
        measured where the project sets the number; where the run must repeat bit for bit, since the load of the moment
        would decide; and where several workers each run a line search, since another number of threads rounds
        differently and one of them might search longer than the others.
        """
        job, options, place = self.job, self.options, self.job.places[self.job.group.rank]
        searches = options.is_full_batch and len(job.places) > 1
        is_set = job.project.environment.threads or options.deterministic or job.info.threads_are_chosen
        if job.device.type != "cpu" or place.threads == 1 or is_set or searches or job.has_stages:
            return []
        network = copy.deepcopy(self.network)
        prepare_parameters(job, network, SingleProcess(), Share())
        loss = loss_for(options, job.targets, self.training.targets)
        inputs, targets = self.training.at(slice(max(1, place.samples // options.gradient_accumulation)))

        def step() -> None:
            torch.autograd.backward(loss(as_tuple(self.precision.call(network, *inputs)), targets))

        chosen, seconds = fastest((1, place.threads), torch.set_num_threads, step)
        if chosen == place.threads:
            return []
        one_ms, all_ms = (1000 * seconds[n] for n in (1, place.threads))
        return [
            f"Computing with 1 thread: for this network and the load of now a step takes {one_ms:.1f} ms with it and "
            f"{all_ms:.1f} ms with {place.threads}."
        ]

    def _started(self, num_parameters: int, metric: Metric) -> Started:
        """Return the first event of a run."""
        job = self.job
        return Started(
            environment=job.info.placement.environment,
            hardware=job.info.placement.hardware,
            epochs=self.length.epochs,
            iterations=self.length.total_steps,
            steps_per_epoch=self.length.steps_per_epoch,
            metric=metric.name,
            samples=job.dataset.samples,
            parameters=num_parameters,
            sentence=job.info.placement.sentence[:1000],
            arithmetic=job.info.placement.arithmetic[:1000],
        )

    def _messages(self) -> list[Message]:
        """Return the notes and warnings that follow it."""
        notes = (*self.job.dataset.notes, *self.notes)
        messages = [Message(severity="note", text=note[:1000]) for note in notes]
        needs_validation = self.options.output_network == "best-validation" or self.options.validation_patience
        if needs_validation and not self.job.dataset.samples.get("validation"):
            text = "The data has no validation split: the last network is kept, and patience has no effect."
            messages.append(Message(severity="warning", text=text))
        return messages

    def _reporter(self, unit: Unit, plan: TrainingPlan) -> Reporter:
        """Create what sends events and takes requests, at report points."""
        job = self.job
        is_measured = unit.measures_communication and (job.group.size == 1 or job.device.type == "cpu")
        clock = Clock(plan.limits.time_s, lambda: job.group.communication_s if is_measured else math.nan)
        utilization = utilization_of(job.device, job.group.size)
        memory = partial(_memory_bytes, job.device)
        recorder = Recorder(unit.metrics, job.group, memory, clock, job.device, utilization)
        total_steps = self.length.total_steps
        return Reporter(unit.metrics, recorder, job.events, job.requests, clock, total_steps, unit.watch)

    def _hooks(self, clock: Clock) -> FileHooks | None:
        """Create the calls of a user's hooks, if the project has any."""
        job = self.job
        if job.folder is None or not self.options.hooks_file:
            return None
        run = Run(
            self.network,
            job.folder.path,
            self.length.epochs,
            self.length.steps_per_epoch,
            job.group.rank,
            job.group.size,
            rate_at=self.schedule,
            clock=clock,
        )
        return FileHooks(self.options.hooks_file, run, job.group)

    def _nan_replay(self, unit: Unit, batches: BatchLoader, saver: CheckpointSaver) -> NanReplay | None:
        """Create the search for where a non-finite loss came from, by replaying steps.

        None where a NaN check finds it at once, and for least squares, which move no weight by a non-finite value: the
        network as it is shows the layer.
        """
        job, options = self.job, self.options
        if job.folder is None or options.non_finite_loss != "stop" or options.solver == "lm":
            return None

        def initial() -> State:
            state = self.precision.network(initial_network(job)).state_dict()
            _seed_worker(job)
            return state

        return NanReplay(unit, batches, job.group, saver.pieces, initial, partial(all_checkpoints, job.folder))


def _loading_note(job: TrainingJob) -> list[str]:
    """Return how the data is loaded, where it is streamed or cannot be."""
    loading = job.info.loading
    return [loading.sentence()] if loading.is_streamed or loading.because else []


def _seed_worker(job: TrainingJob) -> None:
    """Seed the random numbers of this worker."""
    torch.manual_seed(job.options.seed * 1_000_003 + 1 + job.group.rank)


def _release_memory(device: torch.device) -> None:
    """Return cached memory to the system or device."""
    gc.collect()
    if device.type != "cpu":
        with contextlib.suppress(RuntimeError):  # not every kind of device can
            torch.accelerator.empty_cache()


def _memory_bytes(device: torch.device) -> int:
    """Return the peak memory of the device, or the memory of this process now."""
    if device.type in ("cuda", "xpu"):
        return torch.accelerator.max_memory_allocated(device)
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(psutil.Process().memory_info().rss)
