"""One worker of a run: starts, trains, and reports how it ended."""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from netwright.engine.core import progress
from netwright.engine.core.errors import EXIT_DEFECT, EXIT_DONE, EXIT_RUN_FAILED, UserError, code_of
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.platform_files import inherited
from netwright.engine.data.loading.baseline import baselines
from netwright.engine.data.sources import bad_samples
from netwright.engine.hardware.accelerators import refusal_of
from netwright.engine.launch.channel import ReportPipe, RequestPipe
from netwright.engine.launch.outcome import OUT_OF_MEMORY
from netwright.engine.launch.placement_trial import choose_placement
from netwright.engine.launch.worker_process import begin
from netwright.engine.lowering.run_user_code import blame
from netwright.engine.parallel.process_group import ProcessGroup, is_peer_failure
from netwright.engine.parallel.worker_spec import WorkerSpec
from netwright.engine.runs.confusion import write_confusions
from netwright.engine.runs.events import Preparing, SampleSkipped
from netwright.engine.runs.folder import RunFolder
from netwright.engine.training import out_of_memory
from netwright.engine.training.builder import build_trainer
from netwright.engine.training.fast.accelerations import keep_freed_memory
from netwright.engine.training.job import join_process_group, load_job
from netwright.engine.training.trainer import NonFiniteLossError, Outcome

DETAIL_CHARACTERS = 4000
_NOT_DETERMINISTIC = re.compile(r"(\w+) does not have a deterministic implementation")

ENDS_AT_ONCE = True
"""As a forked worker does: see `TorchProcessGroup.close`."""


def work(spec: WorkerSpec) -> int:
    """Train in this process and return the exit code. Every end but a crash is reported."""
    reports = ReportPipe(spec.reports)
    try:
        with reports.heartbeat():
            outcome, group = _train(spec, reports)
    except Exception as error:  # whatever fails in a worker, the coordinator must know it
        traceback.print_exc()
        reports.send({"error": to_json(_describe(error, RunFolder(Path(spec.folder))))})
        return EXIT_RUN_FAILED
    # Before shutdown: whatever happens while the connections close, the run is complete.
    reports.send({"done": to_json(asdict(outcome)) if spec.rank == 0 else {}})
    group.close()
    return EXIT_DONE


def _describe(error: Exception, folder: RunFolder) -> dict[str, Any]:
    """Describe an error, and whose it is: the user's, the machine's, or ours."""
    detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
    description = {
        "exit_code": EXIT_RUN_FAILED,
        "defect": False,
        "is_peer_failure": is_peer_failure(error),
        "detail": detail,
    }
    if isinstance(error, NonFiniteLossError):
        return {**description, "cause": str(error), "detail": "", "remedy": "lower rate", "code": "non_finite_loss"}
    if isinstance(error, UserError):
        return {**description, "cause": str(error), "exit_code": error.exit_code, "detail": "", "code": error.code}
    text = str(error).strip().partition("\n")[0][:300]
    if out_of_memory.is_out_of_memory(error):
        sentence = f"There is not enough memory to train ({out_of_memory.short_text(error)})"
        explanation = out_of_memory.cause(folder, sentence, out_of_memory.location_of(error))
        description["is_peer_failure"] = False  # nccl may have said it, which takes memory of the device too
        return {
            **description,
            "cause": explanation.words,
            "detail": explanation.rows or detail,
            "offer": explanation.offer,
            "code": OUT_OF_MEMORY,
        }
    if isinstance(error, OSError):
        return {**description, "cause": f"A file could not be read or written: {text}.", "code": code_of(error)}
    if description["is_peer_failure"]:
        return {**description, "cause": f"The connection to another worker broke: {text}", "code": "worker_lost"}
    if (match := _NOT_DETERMINISTIC.search(text)) is not None:
        cause = (
            f"torch has no deterministic form of {match[1]} on this device, and the option deterministic asks for one"
        )
        cause += ". Train anew without it (training.deterministic), or on the CPU."
        return {**description, "cause": cause, "code": "not_deterministic"}
    if isinstance(error, torch.AcceleratorError):  # it comes late, so the place where it is met is seldom the cause
        way_out = "Train on the CPU (environment.target=cpu) to see where, or resume the run once it can be used again."
        return {**description, "cause": f"The device failed: {refusal_of(text)}. {way_out}", "code": "device_failed"}
    if where := blame(error):
        return {**description, "cause": f"The project's own code went wrong: {where}", "code": "user_code"}
    return {**description, "cause": f"{type(error).__name__}: {text}", "exit_code": EXIT_DEFECT, "defect": True}


PREPARING_S = 1.0
"""Time between two events on the data that is read before the training, in seconds."""


@contextmanager
def preparing_events(spec: WorkerSpec, reports: ReportPipe) -> Iterator[None]:
    """Context in which the first worker sends events on the data that it reads."""

    def tell(count: int, total: int, unit: str) -> None:
        if spec.rank == 0:
            reports.put(Preparing(done=count, total=total, unit=unit))

    with progress.listening(progress.Throttle(tell, PREPARING_S, PREPARING_S)):
        yield


def _train(spec: WorkerSpec, reports: ReportPipe) -> tuple[Outcome, ProcessGroup]:
    """Train and return the outcome, and the process group, which is still connected."""
    bad_samples.on_skipped(lambda sample, reason: reports.put(SampleSkipped(sample=sample, reason=reason)))
    with preparing_events(spec, reports):
        job = load_job(spec)
        if job.reuses_memory:
            keep_freed_memory()
        job = choose_placement(job, spec, reports)
        group = join_process_group(spec, job)
        job = replace(job, group=group)
        if group.rank == 0:  # the first worker sends events and takes requests for all
            job = replace(job, events=reports, requests=RequestPipe(spec.requests, spec.pending_requests))
        trainer = build_trainer(job)
    try:
        outcome = trainer.run()
    except NonFiniteLossError as error:
        if not error.is_group_broken:
            group.close()  # all workers raise it at the same step, and the first one has still to report and to save
        raise
    if group.rank == 0:
        evaluations = {"validation": outcome.validation, "test": outcome.test}
        tables = {name: evaluation.confusion for name, evaluation in evaluations.items() if evaluation is not None}
        write_confusions(Path(spec.folder), job.ordered_dataset.classes, tables)
        if (baseline_scores := baselines(job.data) if job.data is not None else None) is not None:
            outcome = replace(outcome, baselines=baseline_scores.write())
    return outcome, group


def main(arguments: list[str]) -> int:
    """Run a worker in an interpreter of its own."""
    spec = WorkerSpec.read(arguments[0])
    begin(spec)
    reports, requests, listener = map(inherited, (spec.reports, spec.requests, spec.listener))
    return work(replace(spec, reports=reports, requests=requests, listener=listener))
