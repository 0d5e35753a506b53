"""Smaller networks within a budget: channels are removed little by little, each candidate trains on and is measured as
an ONNX file in float32 and in 8 bits; what no other candidate beats is the front.

How much to remove is searched as by bisection: first what the measured size and time say is needed, then halfway
between the largest amount whose loss is accepted and the smallest whose loss is not. Each candidate starts from the one
before it (iterative pruning: Han et al., Learning both Weights and Connections, 2015) and learns the answers of the
original beside the targets where that is a run.

This process computes nothing itself: workers are forked from it. What computes is a child.
"""

import hashlib
import json
import shutil
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from netwright.engine.analysis.operations.compress import Candidate, CompressRequest, CompressResult, in_words
from netwright.engine.analysis.pruning import project_of, prune
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import write_checked_json
from netwright.engine.core.folders import cache_folder
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.platform import lift_memory_limit
from netwright.engine.core.progress import report
from netwright.engine.launch.coordinator import coordinate
from netwright.engine.launch.prepare import prepare
from netwright.engine.models.open_model import open_model
from netwright.engine.network.analysis import analyse
from netwright.engine.operations.operation import run_operation
from netwright.engine.project.file import load, save
from netwright.engine.project.options.metric_options import AT_MOST_ONE, is_better_low
from netwright.engine.project.project import Project
from netwright.engine.project.teacher import teacher_problem
from netwright.engine.runs.events import Event
from netwright.engine.runs.events import Progress as TrainingProgress
from netwright.engine.runs.folder import RunFolder

FOLDER, MEASURED, ONNX = "compressed", "candidate.json", "int8.onnx"
GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Amounts whose sizes are computed; between them they are interpolated, above them nothing is removed."""
STEP = 0.01
APART = 0.04
"""Least distance of two amounts."""
RATE = 0.3
"""Factor of the learn rate with which candidates train on."""
BYTES = {"float32": 4, "int8": 1}
"""Bytes per weight of an ONNX file."""
ALIKE = 1.05
"""Times within this factor are equal."""
PATIENCE_S = 24 * 3600.0


def compress(request: CompressRequest) -> CompressResult:
    """Search candidates until one is in the budget of a request, and write the project that it asks for. Raises
    `UserError`."""
    lift_memory_limit()  # of a process that reads files for the window; a run has limits of its own
    search = Search(request, run_in_child_process(lambda: _begin(request), PATIENCE_S))
    if request.pick is None:
        search.run()
    result = search.result()
    number = result.best if request.pick is None else request.pick
    if request.output is None or (request.pick is None and not result.is_met):
        return result
    if not 0 <= number < len(result.rows):
        raise UserError(
            f"There is no candidate {number}; an earlier search with these epochs has {len(result.rows):,}.",
            hint="Search first, without --pick.",
        )
    row, to = result.rows[number], request.output
    run_in_child_process(lambda: _write(request, search.source(row["amount"]), to), PATIENCE_S)
    onnx = to.with_suffix(".onnx")
    if row["precision"] == "int8":
        shutil.copyfile(search.place(row["amount"]) / ONNX, onnx)
    return replace(result, project=str(to.absolute()), onnx=str(onnx.absolute()) if row["precision"] == "int8" else "")


# ---- in a child ----


def _begin(request: CompressRequest) -> dict[str, Any]:
    """Return the folder of the candidates of a model, and the sizes of its network by amount. Raises `UserError`."""
    trained = open_model(request.choice)
    if trained.project.data.source == "none":
        raise UserError(
            f"{request.model} has no data that smaller networks could train on.",
            hint="Name a run, or a project with weights and data.",
        )
    key = hashlib.sha256(repr((request.epochs, request.float_only)).encode())
    for name, value in sorted((trained.weights or {}).items()):
        key.update(name.encode() + value.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    sizes, notes = [], []
    for amount in GRID:
        try:
            pruned = prune(trained.network, trained.weights or {}, amount, structured=True)
        except UserError as error:
            notes = [str(error)]
            break
        analysis, notes = analyse(pruned.network), list(pruned.notes) or notes
        sizes.append((analysis.parameters, analysis.flops))
    folder = trained.kept_in(FOLDER) or cache_folder() / FOLDER
    return {"folder": str(folder / key.hexdigest()[:16]), "sizes": sizes, "notes": notes}


def _write(request: CompressRequest, source: Path, to: Path) -> dict[str, Any]:
    """Write a project with the network of a candidate, and the options of the model. Raises `UserError`."""
    model = open_model(request.choice)
    candidate = model if source == request.model else replace(open_model(source), path=request.model)
    save(project_of(candidate, prune(candidate.network, candidate.weights or {}, 0.0, structured=True), to), to)
    return {}


def _prune(request: CompressRequest, source: Path, share: float, to: Path) -> dict[str, Any]:
    """Write a project that trains on without a share of the channels of a network. Raises `UserError`."""
    model = open_model(request.choice if source == request.model else source)
    pruned = prune(model.network, model.weights or {}, share, structured=True)
    project = _training_on(project_of(model, pruned, to), request, to.parent)
    save(project, to)
    analysis = analyse(pruned.network)
    return {"parameters": analysis.parameters, "flops": analysis.flops}


def _training_on(project: Project, request: CompressRequest, base: Path) -> Project:
    """Return the project with the options of a candidate: few epochs at a lower learn rate, with the model as the
    teacher where it can be."""
    options = project.training
    options = options.replace(
        **{options.planned_option: request.epochs}, initial_learn_rate=RATE * options.initial_learn_rate
    )
    environment = project.environment
    if environment.target == "parallel":
        environment = environment.replace(target="auto")
    project = replace(project, training=options, environment=environment)
    run = RunFolder(request.model)
    if not run.info.is_file():
        return project
    taught = replace(project, training=options.replace(distil_from=str(run.path.absolute())))
    facts = open_model(request.choice).dataset
    is_fit = not taught.training.problems() and teacher_problem(taught, facts, base) is None
    return taught if is_fit and environment.strategy != "pipeline" else project


def _measure(request: CompressRequest, source: Path, to: Path) -> dict[str, Any]:
    """Return size, time and metrics of the ONNX files of a network. Raises `UserError`."""
    is_model = source == request.model
    values: dict[str, Any] = {"source": source, "output": to, "force": True, "trusted": request.trusted}
    values["weights"] = request.weights if is_model else ""
    options = {"measure": "true", "precision": "float32" if request.float_only else "int8-static", "accepted_loss": "1"}
    if request.float_only:
        del options["accepted_loss"]
    exported = run_operation("export", **values, onnx=options)
    more = exported.size_bytes - exported.measured[-1]["size_bytes"]  # names, preparation
    measured = [row for row in exported.measured if row["runs_in"] != "torch"]
    return {"rows": [{**row, "size_bytes": row["size_bytes"] + more} for row in measured]}


# ---- the search ----


@dataclass
class Search:
    """Candidates of a model by the amount that was removed, with what was measured."""

    request: CompressRequest
    facts: Mapping[str, Any]
    candidates: dict[float, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = Path(self.facts["folder"])
        for file in sorted(self.folder.glob(f"*/{MEASURED}")):
            measured = json.loads(file.read_bytes())
            self.candidates[measured["amount"]] = measured

    def place(self, amount: float) -> Path:
        """Return the folder of a candidate."""
        return self.folder / f"{amount:.4f}"

    def source(self, amount: float) -> Path:
        """Return the model of a candidate: the one that was asked for, or a run."""
        return self.place(amount) / "run" if amount else self.request.model

    def run(self) -> None:
        """Train candidates until one is in the budget, or there is nothing left to try. Raises `UserError`."""
        has_limit = self.request.size_bytes is not None or self.request.time is not None
        if 0.0 not in self.candidates:
            self._add(0.0)
        while len(self.candidates) <= self.request.candidates:
            if has_limit and any(row["is_in_budget"] for row in self.rows()):
                return
            if (amount := self.next_amount()) is None:
                return
            self._add(amount)

    def _add(self, amount: float) -> None:
        """Make, train and measure a candidate. Raises `UserError`."""
        place, request = self.place(amount), self.request
        shutil.rmtree(place, ignore_errors=True)  # of a search that was ended
        place.mkdir(parents=True)
        facts: Mapping[str, Any] = {"parameters": self.facts["sizes"][0][0], "flops": self.facts["sizes"][0][1]}
        if amount:
            before = max(other for other in self.candidates if other < amount)
            share, project = 1 - (1 - amount) / (1 - before), place / f"candidate{SUFFIX}"
            facts = run_in_child_process(lambda: _prune(request, self.source(before), share, project), PATIENCE_S)
            self._train(project, self.source(amount))
        measured = run_in_child_process(lambda: _measure(request, self.source(amount), place / ONNX), PATIENCE_S)
        self.candidates[amount] = {"amount": amount, **facts, **measured}
        write_checked_json(place / MEASURED, self.candidates[amount])

    def _train(self, project: Path, run: Path) -> None:
        begun, total = (len(self.candidates) - 1) * self.request.epochs, self.request.candidates * self.request.epochs

        def tell(event: Event) -> None:
            if isinstance(event, TrainingProgress):
                report(begun + event.epoch - 1, total, "epochs")

        folder = prepare(load(project).project, project, run, trial=1)
        state = coordinate(folder, on_event=tell)["state"]
        if state == "stopped":
            raise KeyboardInterrupt
        if state != "finished":
            raise RunError("A candidate could not be trained.", hint=f"Its log is {folder.log}.")

    # ---- amounts ----

    def next_amount(self) -> float | None:
        """Return the next amount to remove; None where there is none."""
        accepted = [row["amount"] for row in self.rows() if row["loss"] <= self.request.accuracy_loss]
        low = max(accepted, default=0.0)
        high = min((amount for amount in self.candidates if amount > low), default=1.0)
        most = GRID[len(self.facts["sizes"]) - 1]
        needed = sorted(amount for precision in BYTES if (amount := self._needed(precision)) is not None)
        for amount in (*needed, round((low + high) / 2, 4)):
            if low + APART / 2 < amount < high - APART / 2 and amount <= most:
                return amount
        return None

    def _needed(self, precision: str) -> float | None:
        """Return the smallest amount that brings the file in this precision to the size and the time of the budget, by
        the candidate with the largest amount; None where it is not known."""
        latest, size, time = self.candidates[max(self.candidates)], self.request.size_bytes, self.request.time
        row = next((row for row in latest["rows"] if row["precision"].startswith(precision)), None)
        if row is None or (size is None and time is None):
            return None

        def fits(amount: float) -> bool:
            parameters, flops = self._sizes(amount)
            bytes = row["size_bytes"] - BYTES[precision] * (latest["parameters"] - parameters)
            milliseconds = row["milliseconds"]["1"] * flops / latest["flops"]
            return (size is None or bytes <= size) and (time is None or milliseconds <= time)

        amounts = [round(STEP * number, 4) for number in range(round(GRID[-1] / STEP) + 1)]
        place = bisect_left(amounts, True, key=fits)
        return amounts[place] if place < len(amounts) else None

    def _sizes(self, amount: float) -> tuple[float, float]:
        """Return parameters and FLOPs at an amount, between those that were computed."""
        sizes = self.facts["sizes"]
        place = min(max(bisect_left(GRID, amount), 1), len(sizes) - 1)
        part = (amount - GRID[place - 1]) / (GRID[place] - GRID[place - 1])
        low, high = sizes[place - 1 if len(sizes) > 1 else 0], sizes[place]
        return low[0] + part * (high[0] - low[0]), low[1] + part * (high[1] - low[1])

    # ---- results ----

    def rows(self) -> list[Candidate]:
        """Return the candidates, judged by the budget and by each other. Raises `UserError` where they cannot be
        compared."""
        measured = [(each, row) for _, each in sorted(self.candidates.items()) for row in each["rows"]]
        if not measured:
            raise UserError("An earlier search with these epochs has no candidates.", hint="Search without --pick.")
        metric = next(iter(measured[0][1]["metrics"]), "")
        if not metric:
            raise UserError("The model has no metric that tells how good its ONNX file is.")
        before = measured[0][1]["metrics"][metric]
        rows = [
            Candidate(
                number=number,
                amount=each["amount"],
                precision=row["precision"].partition("-")[0],
                bytes=row["size_bytes"],
                milliseconds=row["milliseconds"]["1"],
                score=row["metrics"][metric],
                loss=_loss(metric, before, row["metrics"][metric]),
                metrics=row["metrics"],
                parameters=each["parameters"],
                flops=each["flops"],
                is_in_budget=False,
                is_on_front=False,
            )
            for number, (each, row) in enumerate(measured)
        ]
        for row in rows:
            row["is_in_budget"] = self._excess(row) <= 0
            row["is_on_front"] = not any(_beats(other, row) for other in rows)
        return rows

    def _excess(self, row: Candidate) -> float:
        """Return by which share a candidate is over the budget, at most 0 where it is in it."""
        over = [(row["loss"] - self.request.accuracy_loss) / max(self.request.accuracy_loss, 1.0)]
        limits = ((self.request.size_bytes, row["bytes"]), (self.request.time, row["milliseconds"]))
        return max(over + [value / limit - 1 for limit, value in limits if limit is not None])

    def result(self) -> CompressResult:
        """Return the candidates and the best one. Raises `UserError`."""
        rows = self.rows()
        metric = next(iter(rows[0]["metrics"]))
        has_limit = self.request.size_bytes is not None or self.request.time is not None
        inside = [row for row in rows if row["is_in_budget"]]
        if inside:
            best = min(
                inside, key=lambda row: (row["loss"], row["bytes"]) if has_limit else (row["bytes"], row["loss"])
            )
            reason = f"The best candidate in the budget is {in_words(best, metric)}."
        else:
            best = min(rows, key=self._excess)
            reason = (
                f"No candidate is in the budget. The nearest is {in_words(best, metric)}. Accept a greater loss, a "
                "larger file or a longer time, or train more candidates for more epochs; --pick writes any of them."
            )
        split = self.candidates[0.0]["rows"][0]["split"]
        return CompressResult(
            metric=metric,
            split=split,
            rows=rows,
            best=best["number"],
            is_met=bool(inside),
            reason=reason,
            notes=list(self.facts["notes"]),
            folder=str(self.folder),
            project="",
            onnx="",
        )


def _loss(metric: str, before: float, after: float) -> float:
    """Return the loss of a score: in percentage points, or in percent for a metric without an upper end."""
    if metric in AT_MOST_ONE or not before:
        return 100 * (after - before if is_better_low(metric) else before - after)
    change = 100 * (after - before) / abs(before)
    return change if is_better_low(metric) else -change


def _beats(candidate: Candidate, other: Candidate) -> bool:
    """Return whether a candidate is as good in size, time and score, and better in one."""
    pairs = [(candidate[name], other[name]) for name in ("bytes", "loss")]
    pairs.append((candidate["milliseconds"], ALIKE * other["milliseconds"]))
    is_faster = ALIKE * candidate["milliseconds"] < other["milliseconds"]
    return all(mine <= theirs for mine, theirs in pairs) and (
        is_faster or any(mine < theirs for mine, theirs in pairs[:2])
    )
