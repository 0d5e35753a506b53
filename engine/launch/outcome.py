"""Outcome of a run: its result record, causes of failures, and its bottleneck (data, communication or computing)."""

import json
import math
import signal
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from netwright.engine.core.errors import EXIT_DEFECT, EXIT_DONE, EXIT_RUN_FAILED, EXIT_STOPPED, RunError
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.platform import was_ended_by_force
from netwright.engine.core.text import format_percent
from netwright.engine.runs.baselines import SPLITS, loss_fall, with_network
from netwright.engine.runs.curve_findings import RunCurves
from netwright.engine.runs.events import (
    Best,
    EpochEnded,
    Event,
    Failed,
    Points,
    Progress,
    SampleSkipped,
    Started,
    State,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from netwright.engine.training import out_of_memory

MOST_SKIPPED_NAMED = 20
"""Number of skipped samples that the result names; the log has all."""
WORTH_SAYING = 0.3
"""Minimum share of the time of all steps for data or communication to be reported as the bottleneck."""
LEAST_S = 10.0
"""Minimum duration of a run for a bottleneck to be reported, in seconds: in a shorter one the first steps dominate."""
_FASTER = {
    "fully-sharded": "Fewer workers, a larger mini-batch, or data-parallel where the network fits, would be faster.",
    "pipeline": "Fewer workers, stages of more equal work or more micro-batches (environment.pipeline_pieces) would be "
    "faster.",
    "local-sgd": "Fewer workers, a larger mini-batch or a longer interval would be faster.",
}
_FASTER_TOGETHER = (
    "Fewer workers, a larger mini-batch, or the strategy local-sgd with a longer interval would be faster."
)


def held_back_by(
    shares: Mapping[str, object],
    seconds: float = math.inf,
    *,
    strategy: str = "",
    is_streamed: bool = False,
    augments: bool = False,
) -> str:
    """Return a sentence that names the bottleneck of a run, with advice; empty if nothing was measured or it was short.

    shares: `data` and `communication` as shares of the time of all steps; NaN if unknown. seconds: duration of the run.
    is_streamed: the data was read during training. augments: images were augmented at random, which counts as data.
    """
    if not shares or seconds < LEAST_S:
        return ""
    data, sending = (_known(shares.get(name)) for name in ("data", "communication"))
    if max(data, sending) < WORTH_SAYING:
        return _computing(1 - data - sending, is_told_apart=not _is_unknown(shares.get("communication")))
    if sending > data:
        faster = _FASTER.get(strategy, _FASTER_TOGETHER)
        percent = format_percent(sending)
        return f"Bottleneck: other workers. Waiting for them took {percent} of the step time. {faster}"
    subject = "data and augmentation" if augments else "data"
    begin = f"Bottleneck: data. Waiting for {subject} took {format_percent(data)} of the step time."
    if is_streamed:
        return (
            f"{begin} Keep the data in memory if it fits (data.loading), enlarge the cache of decoded images "
            "(data.decoded_cache), store images in the size of the input, or use a faster disk or more cores."
        )
    return f"{begin} A larger mini-batch{' or fewer augmentations' if augments else ''} would be faster."


def _computing(share: float, *, is_told_apart: bool) -> str:
    """Return the sentence for a run bound by computing; on some devices its time includes communication."""
    faster = "A faster device, more devices, a lower precision or a smaller network would be faster."
    if is_told_apart:
        return f"Bottleneck: computing, {format_percent(share)} of the step time. {faster}"
    return (
        f"Bottleneck: computing, including overlapped communication, {format_percent(share)} of the step time. {faster}"
    )


def _is_unknown(share: object) -> bool:
    return isinstance(share, (float, str)) and math.isnan(float(share))


def _known(share: object) -> float:
    return float(share) if isinstance(share, (int, float, str)) and not _is_unknown(share) else 0.0


OUT_OF_MEMORY = "out_of_memory"
CAUSE_BYTES = 1000
RESULT_BYTES = 2800
DETAIL_BYTES = 1800
LOOK_BACK_BYTES = 2**16
_PORT_OVERRUN = "accept: Too many open files"
"""The message of gloo when it ends its process, since it cannot take a connection to its port."""


@dataclass(frozen=True)
class AttemptOutcome:
    """Outcome of an attempt. `outcome`: the report of the first worker after a training that ended well."""

    state: State
    reason: str
    exit_code: int = EXIT_DONE
    failure: Failed | None = None
    outcome: Mapping[str, Any] | None = None
    remedy: str = ""
    """Remedy to try from the last checkpoint: `again`: an unchanged restart; `lower rate`: a lower learn rate."""


def well(outcome: Mapping[str, Any]) -> AttemptOutcome:
    """Return the outcome of a run that finished, or that stopped on request with everything saved."""
    if outcome["state"] == "stopped":
        return AttemptOutcome("stopped", outcome["reason"], EXIT_STOPPED, outcome=outcome)
    return AttemptOutcome("finished", outcome["reason"], outcome=outcome)


def stopped(reason: str) -> AttemptOutcome:
    """Return the outcome of a run that ended on request before the workers could save everything."""
    return AttemptOutcome("stopped", reason, EXIT_STOPPED)


def offloaded(iteration: int) -> AttemptOutcome:
    """Return the outcome of an attempt whose run is paused with its memory released.

    The run has not ended; its workers are to exit, since their whole state is in a checkpoint.
    """
    return AttemptOutcome("paused", f"its memory is released; the checkpoint of iteration {iteration:,} has all of it")


def failed(
    cause: str,
    *,
    worker: int = -1,
    detail: str = "",
    defect: bool = False,
    exit_code: int = EXIT_RUN_FAILED,
    remedy: str = "",
    offer: str = "",
    code: str = "",
) -> AttemptOutcome:
    """Return the outcome of a run that failed; cause and detail are shortened to their limits. `code` is a word for
    programs that tells causes apart."""
    cause = shorten(cause, CAUSE_BYTES)
    detail = shorten(detail, DETAIL_BYTES, tail=True)
    code = code or ("defect" if defect else RunError.default_code)
    failure = Failed(cause=cause, worker=worker, detail=detail, defect=defect, offer=offer, code=code)
    return AttemptOutcome("failed", cause, EXIT_DEFECT if defect else exit_code, failure, remedy=remedy)


def given_up(ending: AttemptOutcome, restarts: int) -> AttemptOutcome:
    """Return the outcome after the last permitted restart.

    If another restart might have helped, the cause mentions that the limit was reached.
    """
    if not ending.remedy or ending.failure is None or not restarts:
        return ending
    times = "once" if restarts == 1 else f"{restarts} times"
    cause = f"{ending.failure.cause} The run was restarted {times}, which is the limit (run.max_restarts)."
    return replace(ending, reason=cause, failure=replace(ending.failure, cause=cause))


def shorten(text: str, limit_bytes: int, *, tail: bool = False) -> str:
    """Shorten a text so that it takes at most `limit_bytes` as JSON; keeps its beginning, or its end with `tail`."""
    while len(json.dumps(text, ensure_ascii=False).encode(errors="replace")) > limit_bytes:
        keep = len(text) * 9 // 10
        text = "..." + text[-keep + 3 :] if tail else text[: keep - 3] + "..."
    return text


def death(rank: int, code: int, folder: RunFolder, *, memory_ran_out: bool) -> AttemptOutcome:
    """Return the outcome of a worker that ended without a report: killed, crashed or exited.

    code: exit code, negative for a signal. memory_ran_out: the system has killed a process for lack of memory.
    """
    who, log = f"Worker {rank}", folder.log
    if was_ended_by_force(code) and memory_ran_out:
        begin = f"{who} was killed by the system because memory ran out (signal 9, SIGKILL)"
        diagnosis = out_of_memory.cause(folder, begin)
        return failed(
            diagnosis.words,
            worker=rank,
            detail=diagnosis.rows or _end_of(log),
            offer=diagnosis.offer,
            code=OUT_OF_MEMORY,
        )
    if was_ended_by_force(code):
        cause = f"{who} was killed by signal 9 (SIGKILL): by somebody, or by the system because memory ran out."
    elif code == -signal.SIGABRT and _PORT_OVERRUN in _tail(log):
        cause = f"{who} had no file descriptor left: another program connected to the workers' ports as they opened. "
        cause += "As root, `ss -tnp` shows which; `ulimit -n` raises the limit."
    elif code < 0:
        cause = f"{who} was ended by signal {-code} ({_signal_name(-code)}). The end of engine.log may show where."
    else:
        cause = f"{who} ended with code {code} and without a word. The end of engine.log may show why."
    return failed(cause, worker=rank, detail=_end_of(log), remedy="again", code="worker_died")


def hung(rank: int, who: str, why: str, log: Path) -> AttemptOutcome:
    """Return the outcome of a worker that has not ended and sends no heartbeat. `who` names its process, `why` says
    what is known of it."""
    cause = f"Worker {rank} ({who}) has given no sign of life for too long: {why}. What was saved before is kept."
    return failed(cause, worker=rank, detail=_end_of(log), remedy="again", code="worker_hung")


def lost(rank: int, why: str, log: Path) -> AttemptOutcome:
    """Return the outcome of a worker that cannot be reached any more; `why` says so in words."""
    cause = f"Worker {rank} was lost: {why}."
    return failed(cause, worker=rank, detail=_end_of(log), remedy="again", code="worker_lost")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _tail(log: Path) -> str:
    """Return the last part of the log; empty where there is none."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - LOOK_BACK_BYTES))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""


def _end_of(log: Path) -> str:
    """Return the end of the log; after a crash Python's report of it, without the list of loaded extension modules."""
    text = _tail(log)
    crash = text.rfind("Fatal Python error")
    if crash < 0:
        return text
    return shorten(text[crash:].partition("\nExtension modules:")[0], DETAIL_BYTES)


@dataclass
class ResultTally:
    """Result accumulated from events, for a run whose workers can no longer report it."""

    metric: str = "metric"
    epochs: int = 0
    iterations: int = 0
    loss: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    validation: dict[str, float] = field(default_factory=dict)
    samples_per_second: float = 0.0
    seconds: float = 0.0
    best: Best | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    """Samples that could not be read, with the reasons."""
    curves: RunCurves = field(default_factory=RunCurves)
    """Losses so far, and what they show."""
    _scores: dict[int, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Self:
        """Return the tally of events."""
        tally = cls()
        for event in events:
            tally.add(event)
        return tally

    def add(self, event: Event) -> None:
        """Update the tally with an event."""
        self.curves.take(event)
        match event:
            case Started():
                self.metric = event.metric
            case EpochEnded():
                self.epochs = event.epoch
            case Progress():
                self.samples_per_second, self.seconds = event.samples_per_second, event.elapsed_s
            case SampleSkipped():
                self.skipped[event.sample] = event.reason
            case Best():
                self.best = event
                self.validation = self._scores.get(event.iteration, self.validation)
            case Points(split="training", values={"loss": _}):  # others are values of hooks, at some steps
                self.iterations = event.first_step + event.steps_apart * (len(event.values["loss"]) - 1)
                self.loss = event.values["loss"][-1]
                self.metrics = {name: values[-1] for name, values in event.values.items() if name != "loss"}
            case Points(split="validation"):
                for i in range(len(event.values["loss"])):
                    step = event.first_step + i * event.steps_apart
                    self._scores[step] = {name: values[i] for name, values in event.values.items()}


def result(folder: RunFolder, info: RunInfo, ending: AttemptOutcome, tally: ResultTally) -> dict[str, Any]:
    """Return the content of `result.json`, which `train --json` also prints. Values not measured are null or empty."""
    report = ending.outcome
    measured: dict[str, Any]
    if report is None:
        measured = {
            "epochs": tally.epochs,
            "iterations": tally.iterations,
            "loss": tally.loss,
            "metrics": tally.metrics,
            "validation": tally.validation,
            "test": {},
            "samples_per_second": tally.samples_per_second,
            "time_shares": {},
        }
    else:
        measured = {
            "epochs": report["epochs"],
            "iterations": report["iterations"],
            "loss": report["loss"],
            "metrics": dict(report["metrics"]),
            "validation": _scores(report["validation"]),
            "test": _scores(report["test"]),
            "samples_per_second": round(report["samples_per_second"], 1),
            "time_shares": dict(report["time_shares"]),
        }
    whole = {
        "state": ending.state,
        "reason": ending.reason,
        **measured,
        "held_back_by": held_back_by(
            measured["time_shares"],
            report["seconds"] if report is not None else tally.seconds,
            strategy=info.strategy,
            is_streamed=info.loading.is_streamed,
            augments=bool(info.augments),
        ),
        "environment": dict(info.placement.environment),
        "run_dir": str(folder.path),
        "project_sha256": info.project_sha256,
        "seconds": round(report["seconds"] if report is not None else tally.seconds, 3),
        **({"skipped_samples": _skipped(tally.skipped)} if tally.skipped else {}),
        **({"code": ending.failure.code} if ending.failure is not None else {}),
        **_baselines(report, measured),
        **({"loss_fall": fall} if (fall := loss_fall(tally.curves.validation)) is not None else {}),
        **({"finding": asdict(finding)} if (finding := tally.curves.finding) is not None else {}),
        **({"offer": ending.failure.offer} if ending.failure is not None and ending.failure.offer else {}),
    }
    return {key: to_json(value) for key, value in whole.items()}


def _baselines(report: Mapping[str, Any] | None, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry `baselines` of a run that has them."""
    baselines = (report or {}).get("baselines")
    return {"baselines": with_network(baselines, {split: measured[split] for split in SPLITS})} if baselines else {}


def _skipped(samples: Mapping[str, str]) -> dict[str, Any]:
    rows = [[sample, reason] for sample, reason in list(samples.items())[:MOST_SKIPPED_NAMED]]
    return {"count": len(samples), "samples": rows}


def short_result(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the result in at most `RESULT_BYTES` for the last event, where necessary without its longest fields."""
    short = dict(whole)
    for name in ("run_dir", "environment", "skipped_samples", "reason"):
        if len(json.dumps(short, ensure_ascii=False).encode(errors="replace")) <= RESULT_BYTES:
            return short
        del short[name]
    return short


def _scores(report: Mapping[str, Any] | None) -> dict[str, float]:
    return {"loss": report["loss"], **report["metrics"]} if report else {}
