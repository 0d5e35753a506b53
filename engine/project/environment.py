"""Where a run executes: the section `environment` of the project file."""

from typing import Any

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import Bool, Choice, Int, Text
from netwright.engine.core.list_fields import Floats, Ints
from netwright.engine.core.records import Record
from netwright.engine.project.pipeline_stages import read_stages

STRATEGIES = ("auto", "data-parallel", "fully-sharded", "local-sgd", "pipeline")
TARGETS = ("auto", "cpu", "multi-cpu", "gpu", "multi-gpu", "parallel")
SEVERAL = ("multi-cpu", "multi-gpu")
"""Targets that use several workers on this machine."""


def _target(*names: str) -> Any:
    return lambda options: options.target in names


def _gives_loads(options: Any) -> bool:
    return options.target in SEVERAL and options.worker_load == "by-hand"


def _strategy(*names: str) -> Any:
    return lambda options: options.target not in ("auto", "cpu", "gpu") and options.strategy in names


class EnvironmentOptions(Record):
    """The execution environment and its few numbers. What they come to here is `environments.choose`'s answer."""

    target = Choice(
        "auto",
        options=TARGETS,
        notes={
            "auto": "The fastest available",
            "cpu": "One process on the CPU",
            "multi-cpu": "Several processes on the CPU",
            "gpu": "One GPU",
            "multi-gpu": "Several GPUs of this machine, over nccl",
            "parallel": "A cluster with a profile",
        },
        label="Execution environment",
        group="Environment",
        help="Devices and processes on which the run executes. Default auto",
        matlab="ExecutionEnvironment",
        torch="device, and torchrun",
    )
    cluster = Text(
        "",
        label="Cluster",
        group="Environment",
        help="Name of the cluster profile. Default empty: your default one. `netwright-engine cluster list` shows them",
        matlab="parcluster, ClusterProfile",
        visible_when=_target("parallel"),
    )
    num_workers = Int(
        0,
        low=0,
        high=1024,
        zero="auto",
        label="Workers",
        unit="workers",
        group="Environment",
        help="Processes that share each batch. Default auto: one per core, up to 8; a long run measures at its "
        "start whether fewer with more threads are faster. On a cluster: as many as its profile says",
        matlab="the workers of a pool",
        torch="torchrun --nproc-per-node",
        visible_when=_target("multi-cpu", "parallel"),
    )
    min_workers = Int(
        0,
        low=0,
        high=1024,
        zero="auto",
        label="Fewest workers",
        unit="workers",
        group="Environment",
        help="Number of workers with which a run on a cluster starts or goes on where it has no room for all. Default "
        "auto: all of them. The global batch stays the same",
        matlab="SpmdEnabled",
        torch="torchrun --nnodes=MIN:MAX",
        visible_when=_target("parallel"),
    )
    devices = Ints(
        (),
        low=0,
        high=1023,
        label="Devices",
        group="Environment",
        help="Numbers of the GPUs to use. Default none: the first, or all for multi-gpu",
        matlab="gpuDevice",
        torch="CUDA_VISIBLE_DEVICES",
        visible_when=_target("gpu", "multi-gpu"),
    )
    threads = Int(
        0,
        low=0,
        high=1024,
        zero="auto",
        label="Threads per worker",
        unit="threads",
        group="Environment",
        help="CPU threads per worker. Default auto: an equal share of the cores",
        matlab="maxNumCompThreads",
        torch="set_num_threads",
        visible_when=_target("cpu", "multi-cpu"),
    )

    pin_workers = Bool(
        True,
        label="Keep workers to cores",
        group="Environment",
        help="Pins each worker to its own cores. Default on. Without effect if the system does not support it or "
        "threads outnumber cores. Turn off on machines with other work",
        visible_when=_target("multi-cpu"),
    )
    worker_load = Choice(
        "equal",
        options=("equal", "measured", "by-hand"),
        notes={
            "equal": "Equal number of samples per worker",
            "measured": "In proportion to the measured speed; of each worker's device, when training starts",
            "by-hand": "In proportion to the weights below",
        },
        label="Shares of the batch",
        group="Environment",
        help="Division of each batch among the workers. Default equal. For devices of unequal speed. The results do "
        "not change",
        matlab="WorkerLoad",
        visible_when=_target(*SEVERAL),
    )
    worker_weights = Floats(
        (),
        low=0.0,
        label="Weights of the workers",
        group="Environment",
        help="Weight per worker: 3, 1 gives the first 3 of 4. Default none. Their number sets the number of workers "
        "if that is auto",
        matlab="WorkerLoad",
        visible_when=_gives_loads,
    )
    learn_rate_scaling = Choice(
        "none",
        options=("none", "linear", "square-root"),
        notes={
            "none": "1: not scaled",
            "linear": "Number of workers",
            "square-root": "Square root of the number of workers",
        },
        label="Learn rate by workers",
        group="Environment",
        help="Factor on the learn rate, relative to one worker. Default none, since the mini-batch is divided "
        "among the workers. For batches enlarged with the number of workers: linear as in Goyal et al. "
        "2017, square root for adam",
        matlab="none",
        torch="none",
        visible_when=_target(*SEVERAL, "parallel"),
    )
    strategy = Choice(
        "auto",
        options=STRATEGIES,
        notes={
            "auto": "Data parallel",
            "data-parallel": "Each worker computes a part of each batch; it holds the whole network (torch: DDP)",
            "fully-sharded": "Each worker holds a shard of the weights; it gathers the others on demand (torch: "
            "FSDP2): less memory, more communication",
            "local-sgd": "Workers train separately and average weights; every few iterations: less communication, "
            "other numbers",
            "pipeline": "Each worker holds a stage of the network; batches pass in micro-batches: for networks that "
            "one device cannot hold. Experimental",
        },
        label="Strategy",
        group="Environment",
        help="Division of the work among several workers. Default auto",
        matlab="data parallel only",
        torch="DDP, FSDP2, pipelining",
        visible_when=_target("multi-cpu", "multi-gpu", "parallel"),
    )
    averaging_interval = Int(
        8,
        low=1,
        high=1_000_000,
        unit="iterations",
        group="Environment",
        help="Iterations between two averages of the weights. Default 8. 1 is data parallel for sgdm. Weights "
        "are also averaged before every validation",
        visible_when=_strategy("local-sgd"),
    )
    gradient_compression = Choice(
        "none",
        options=("none", "fp16"),
        notes={
            "none": "No compression",
            "fp16": "Half precision: half the traffic, rounded",
        },
        removed={"power-sgd": "Use fp16, or the strategy local-sgd, which communicates less often."},
        group="Environment",
        help="Format of the gradients that workers exchange. Default none. For slow connections",
        torch="DDP communication hooks",
        visible_when=_strategy("auto", "data-parallel"),
    )
    pipeline_pieces = Int(
        0,
        low=0,
        high=4096,
        zero="auto",
        unit="pieces",
        group="Environment",
        help="Number of micro-batches in flight. Default auto: twice the number of workers, or gradient "
        "accumulation if larger. More keep the workers busier but are smaller. Batch normalisation uses the "
        "statistics of each micro-batch, as in gradient accumulation",
        matlab="none",
        torch="n_microbatches",
        visible_when=_strategy("pipeline"),
    )
    stages = Text(
        "",
        label="Stages",
        group="Environment",
        help="Pipeline stage per layer: conv_2: 2, fc: 3. Default empty: stages of about equal work. One stage per "
        "worker. Unlisted layers join the latest stage among their inputs. The canvas shows and changes them (View > "
        "Lens > Stages)",
        matlab="none",
        torch="pipe_split",
        visible_when=_strategy("pipeline"),
    )
    cpu_offload = Bool(
        False,
        label="Keep weights on the CPU",
        group="Environment",
        help="Keeps weights and moments in CPU memory. Default off. They are moved to the GPU as needed",
        torch="CPUOffloadPolicy",
        visible_when=_strategy("fully-sharded"),
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        errors = []
        if len(set(self.devices)) != len(self.devices):
            errors.append(FieldError("devices", f"each device can be named once, received {list(self.devices)}."))
        if self.target == "multi-cpu" and self.num_workers == 1:
            message = "multi-cpu needs at least 2 workers (auto: one per core). For one process choose cpu."
            errors.append(FieldError("num_workers", message))
        if self.is_visible("worker_weights") and (wrong := self._wrong_weights()):
            errors.append(FieldError("worker_weights", wrong))
        if self.is_visible("stages"):
            try:
                read_stages(self.stages)
            except UserError as error:
                errors.append(FieldError("stages", str(error)))
        return errors

    def _wrong_weights(self) -> str:
        count = self.num_workers if self.target == "multi-cpu" else len(self.devices)
        received = f"received {self.fields['worker_weights'].show(self.worker_weights) or 'none'}."
        if len(self.worker_weights) < 2 or min(self.worker_weights) == 0:
            return f"expected a number above 0 for each worker, such as 3, 1, {received}"
        if count and len(self.worker_weights) != count:
            return f"expected {count:,} numbers, one per worker, {received}"
        return ""
