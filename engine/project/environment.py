"""Where a run executes: the section `environment` of the project file."""

from typing import Any

from engine.core.errors import FieldError, UserError
from engine.core.fields import Bool, Choice, Int, Text
from engine.core.list_fields import Floats, Ints
from engine.core.records import Record
from engine.project.pipeline_stages import read_stages

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
            "auto": "The fastest that is here",
            "cpu": "One process on the CPU",
            "multi-cpu": "Several processes on the CPU",
            "gpu": "One GPU",
            "multi-gpu": "Several GPUs of this machine, over nccl",
            "parallel": "A cluster, by a profile",
        },
        label="Execution environment",
        group="Environment",
        help="Where the run executes. Default auto. MATLAB: ExecutionEnvironment; torch: device, and torchrun",
    )
    num_workers = Int(
        0,
        low=0,
        high=1024,
        zero="auto",
        label="Workers",
        unit="workers",
        group="Environment",
        help="Processes that share each batch. Default auto: one per core, up to 8; a long run measures at its start "
        "whether fewer with more threads are faster. MATLAB: the workers of a pool; torch: torchrun --nproc-per-node",
        visible_when=_target("multi-cpu"),
    )
    devices = Ints(
        (),
        low=0,
        high=1023,
        label="Devices",
        group="Environment",
        help="Numbers of the GPUs to use. Default none: the first, or all for multi-gpu. torch: CUDA_VISIBLE_DEVICES; "
        "MATLAB: gpuDevice",
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
        help="CPU threads per worker. Default auto: an equal share of the cores. torch: set_num_threads; MATLAB: "
        "maxNumCompThreads",
        visible_when=_target("cpu", "multi-cpu"),
    )

    pin_workers = Bool(
        True,
        label="Keep workers to cores",
        group="Environment",
        help="Pin each worker to its own cores. Default on. "
        "Where the system cannot, or threads are more than cores, it has no effect. Off: for machines with other work",
        visible_when=_target("multi-cpu"),
    )
    worker_load = Choice(
        "equal",
        options=("equal", "measured", "by-hand"),
        notes={
            "equal": "Each worker gets as many samples",
            "measured": "In proportion to a short measure of each worker's device, taken when training starts",
            "by-hand": "In proportion to the weights below",
        },
        label="Shares of the batch",
        group="Environment",
        help="How many samples of each batch a worker gets. Default equal. For devices of unequal speed: the numbers "
        "learned stay the same. MATLAB: WorkerLoad",
        visible_when=_target(*SEVERAL),
    )
    worker_weights = Floats(
        (),
        low=0.0,
        label="Weights of the workers",
        group="Environment",
        help="One number per worker, in their order: 3, 1 gives the first three samples of four. Without a number of "
        "workers there are as many as weights. MATLAB: WorkerLoad",
        visible_when=_gives_loads,
    )
    learn_rate_scaling = Choice(
        "none",
        options=("none", "linear", "square-root"),
        notes={
            "none": "The learning rate is not scaled",
            "linear": "Times the number of workers",
            "square-root": "Times the root of the number of workers",
        },
        label="Learning rate by workers",
        group="Environment",
        help="Factor on the learning rate, relative to one worker. Default none, since the mini-batch size is "
        "that of all workers together and stays. For batches that were made larger for many workers: linear as in "
        "Goyal et al. 2017, square root for adam. torch and MATLAB have none",
        visible_when=_target(*SEVERAL, "parallel"),
    )
    strategy = Choice(
        "auto",
        options=STRATEGIES,
        notes={
            "auto": "Data parallel",
            "data-parallel": "Each worker holds the network and computes a part of each batch (torch: DDP)",
            "fully-sharded": "Each worker holds a part of the weights, and gets the others as they are needed "
            "(torch: FSDP2): less memory, more communication",
            "local-sgd": "Each worker goes its own way, and the weights are averaged every few iterations: less "
            "communication, other numbers",
            "pipeline": "Each worker holds a stage of the network, and a batch goes through in pieces: for networks "
            "that one device cannot hold; experimental",
        },
        label="Strategy",
        group="Environment",
        help="How several workers divide the work. Default auto. MATLAB has data parallel only",
        visible_when=_target("multi-cpu", "multi-gpu", "parallel"),
    )
    averaging_interval = Int(
        8,
        low=1,
        high=1_000_000,
        unit="iterations",
        group="Environment",
        help="Iterations between two averages of the weights. Default 8. With 1 it is data parallel for sgdm. "
        "Weights are also averaged before every validation",
        visible_when=_strategy("local-sgd"),
    )
    gradient_compression = Choice(
        "none",
        options=("none", "fp16"),
        notes={
            "none": "Gradients are summed as they are",
            "fp16": "Sent as halves: half the traffic, rounded",
        },
        removed={"power-sgd": "Use fp16, or the strategy local-sgd, which communicates less often."},
        group="Environment",
        help="Format in which workers exchange gradients. Default none. For slow connections; torch: DDP "
        "communication hooks",
        visible_when=_strategy("auto", "data-parallel"),
    )
    pipeline_pieces = Int(
        0,
        low=0,
        high=4096,
        zero="auto",
        unit="pieces",
        group="Environment",
        help="Pieces of a batch that are under way at once. Default auto: twice as many as workers, or as gradient "
        "accumulation says, if that is more. More keep the workers busier, and each is less work. Batch normalisation "
        "takes the statistics of each piece, as in gradient accumulation. torch: n_microbatches",
        visible_when=_strategy("pipeline"),
    )
    stages = Text(
        "",
        label="Stages",
        group="Environment",
        help="Which layer is in which stage, such as conv_2: 2, fc: 3, one stage per worker; the others are where the "
        "latest of those is that feed them. Empty: the stages get as equal parts of the work as can be. The "
        "canvas shows and changes them (View > Pipeline stages)",
        visible_when=_strategy("pipeline"),
    )
    cpu_offload = Bool(
        False,
        label="Keep weights on the CPU",
        group="Environment",
        help="Keeps weights and moments in CPU memory and moves them to the GPU as needed. Default off. torch: "
        "CPUOffloadPolicy",
        visible_when=_strategy("fully-sharded"),
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        found = []
        if len(set(self.devices)) != len(self.devices):
            found.append(FieldError("devices", f"each device can be named once, received {list(self.devices)}."))
        if self.target == "multi-cpu" and self.num_workers == 1:
            message = "multi-cpu needs at least 2 workers (auto: one per core). For one process choose cpu."
            found.append(FieldError("num_workers", message))
        if self.is_visible("worker_weights") and (wrong := self._wrong_weights()):
            found.append(FieldError("worker_weights", wrong))
        if self.is_visible("stages"):
            try:
                read_stages(self.stages)
            except UserError as error:
                found.append(FieldError("stages", str(error)))
        return found

    def _wrong_weights(self) -> str:
        count = self.num_workers if self.target == "multi-cpu" else len(self.devices)
        received = f"received {self.fields['worker_weights'].show(self.worker_weights) or 'none'}."
        if len(self.worker_weights) < 2 or min(self.worker_weights) == 0:
            return f"expected a number above 0 for each worker, such as 3, 1, {received}"
        if count and len(self.worker_weights) != count:
            return f"expected {count:,} numbers, one per worker, {received}"
        return ""
