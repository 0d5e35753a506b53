"""The rows of the rail: runs, and experiments as folders of their best trials; how they are found and sorted."""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QModelIndex, Qt, Signal

from netwright.app.runs.run_texts import differing, first_score, in_past, option_label, state_word, time_left, when
from netwright.app.runs.segments import TrialFolder
from netwright.designer.engine_messages import message_text, title_text
from netwright.designer.items import Index, ListModel
from netwright.designer.language import tr
from netwright.engine.core.text import format_percent
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.query import UnknownName, matching, order_by, score_names, unknown_name, words_of
from netwright.engine.runs.run_options import shown
from netwright.engine.runs.summary import RATE, RunSummary
from netwright.engine.runs.trial_reader import Live

Kind = Literal["run", "folder", "trial", "more", "model"]
Sort = Literal["created", "score", "seconds", "title"]
ROW = Qt.ItemDataRole.UserRole + 1
MOST_DEVIATIONS = 2
"""Options beside solver and rate that a row names."""
SOLVER = "training.solver"
_ROOT = QModelIndex()


@dataclass(frozen=True)
class RailRow:
    """A row: a run, an experiment, a trial of one, or the link to its other trials. `share` is how far a run under way
    has come, from 0 to 1; negative for one that has ended."""

    kind: Kind
    path: Path
    title: str
    about: str = ""
    figure: str = ""
    state: str = ""
    created: float = 0.0
    share: float = -1.0
    is_best: bool = False
    is_open: bool = False
    folder: Path | None = None
    """The experiment of a trial, or of the link to its other trials."""
    tip: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it is under way."""
        return self.share >= 0

    def words(self, now: float) -> str:
        """Return the second line: what differs, and its age unless it is under way."""
        age = in_past(now - self.created) if self.created and not self.is_alive else ""
        return " · ".join(filter(None, (self.about, age)))


@dataclass
class _Entry:
    """A run or a folder with its sort key and its rows."""

    key: float | str | None
    created: float
    rows: list[RailRow]


class RailModel(ListModel):
    """Runs and folders that match the query, in their order. `renamed` asks for another name: path, name."""

    renamed = Signal(object, str)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[RailRow] = []
        self.runs: list[RunSummary] = []
        """The runs that match, in the order of the rows."""
        self.metric = ""
        """The score that is shown; empty for that by which each run is judged."""
        self.sort_key: Sort = "created"
        self._all: Sequence[RunSummary] = ()
        self._folders: Sequence[TrialFolder] = ()
        self._live: Mapping[Path, Live] = {}
        self._query = ""
        self._closed: set[Path] = set()
        self._open: set[Path] = set()
        self._common: dict[str, str] = {}
        self._paths: set[Path] = set()
        self._rows_by_path: dict[Path, tuple[RunSummary, RailRow]] = {}

    # ---- what is shown ----

    def show(self, runs: Sequence[RunSummary], folders: Sequence[TrialFolder], live: Mapping[Path, Live]) -> None:
        """Set runs and experiments. Where rows stay the same, selection and scroll position do, too."""
        self._all, self._folders, self._live = runs, folders, live
        if (paths := {run.path for run in runs}) != self._paths:
            self._paths, self._rows_by_path = paths, {}
            self._common = _common_options(runs)
        self.refresh()

    @property
    def num_all(self) -> int:
        """The number of runs and experiments, matching or not."""
        return len(self._all) + len(self._folders)

    @property
    def num_runs(self) -> int:
        """The number of runs that match, and of trials of the experiments that do."""
        shown_paths = {row.path for row in self.rows if row.kind == "folder"}
        return len(self.runs) + sum(folder.num_trials for folder in self._folders if folder.path in shown_paths)

    @property
    def metrics(self) -> list[str]:
        """The scores that runs have."""
        return score_names(self._all)

    @property
    def unknown(self) -> UnknownName | None:
        """The first name of the query that no run has."""
        return unknown_name(self._all, self._query)

    def look_for(self, query: str) -> None:
        """Show the runs that match a query, see `netwright.engine.runs.query`."""
        if query != self._query:
            self._query = query
            self.refresh()

    def sort_by(self, key: Sort) -> None:
        """Sort by time, score, duration or title."""
        self.sort_key = key
        self.refresh()

    def show_metric(self, name: str) -> None:
        """Show a score of the runs; with an empty name that by which each is judged."""
        self.metric, self._rows_by_path = name, {}
        self.refresh()

    def toggle(self, folder: Path) -> None:
        """Fold or unfold an experiment."""
        is_open = any(row.path == folder and row.is_open for row in self.rows)
        (self._closed if is_open else self._open).add(folder)
        (self._open if is_open else self._closed).discard(folder)
        self.refresh()

    def row_of(self, path: Path) -> int:
        """Return the row of a run, an experiment or a trial, else of the experiment of a trial that is not listed;
        -1 for none."""
        for at, row in enumerate(self.rows):
            if row.path == path and row.kind != "more":
                return at
        return next((at for at, row in enumerate(self.rows) if row.kind == "folder" and row.path in path.parents), -1)

    # ---- rows ----

    def refresh(self) -> None:
        """Make the rows again."""
        entries = [*self._run_entries(), *self._folder_entries()]
        entries.sort(key=lambda entry: entry.created, reverse=True)
        if self.sort_key == "title":
            entries.sort(key=lambda entry: str(entry.key))
        elif self.sort_key != "created":
            known = [entry for entry in entries if isinstance(entry.key, float)]
            known.sort(key=lambda entry: entry.key or 0.0, reverse=self._is_down)
            entries = [*known, *(entry for entry in entries if not isinstance(entry.key, float))]
        rows = [row for entry in entries for row in entry.rows]
        if [(row.kind, row.path) for row in rows] == [(row.kind, row.path) for row in self.rows]:
            changed = [at for at, row in enumerate(rows) if row != self.rows[at]]
            self.rows = rows
            if changed:
                self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], 0))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    @property
    def _is_down(self) -> bool:
        """Whether the highest values come first."""
        name = self.metric or next((first_score(run, "validation") for run in self._all if run.scores), "loss")
        return self.sort_key == "seconds" or order_by(name, ()).is_down

    def _run_entries(self) -> Iterator[_Entry]:
        self.runs = sorted(matching(self._all, self._query), key=lambda run: run.created, reverse=True)
        for run in self.runs:
            known = self._rows_by_path.get(run.path)
            if known is None or known[0] is not run or run.is_alive:
                known = self._rows_by_path[run.path] = run, self._row_of_run(run)
            yield _Entry(self._key_of(run), run.created, [known[1]])

    def _score_name(self, run: RunSummary) -> str:
        names = (first_score(run, split) for split in ("validation", "test", "training"))
        return self.metric or next(filter(None, names), "")

    def _key_of(self, run: RunSummary) -> float | str | None:
        if self.sort_key == "title":
            return run.title.casefold()
        value = run.number("seconds") if self.sort_key == "seconds" else run.scores.get(self._score_name(run))
        return None if value is None or math.isnan(value) else float(value)

    def _row_of_run(self, run: RunSummary) -> RailRow:
        name = self._score_name(run)
        title = run.title if run.notes.run_name else title_text(run.title.partition(" · ")[0])
        solver, rate = shown(run.options, SOLVER), run.option_text(RATE)
        settings = [
            solver,
            *([rate] if solver != "lm" else []),
            *(self._deviations(run) if run.state == "finished" else ()),
        ]
        about = ", ".join(settings)
        figure = format_score(name, run.scores[name]) if name in run.scores else "–"
        share = -1.0
        if run.is_alive:
            live = self._live.get(run.path, Live())
            share = live.share
            figure = format_percent(share, 0) if run.state != "paused" else state_word("paused")
            about = " · ".join(filter(None, (about, *_progress(run, live))))
        elif run.state in ("failed", "lost", "stopped", "damaged"):
            words, epochs = state_word(run.state), run.number("epochs")
            if epochs:
                words = tr("{state} at epoch {epochs:,.0f}", state=words, epochs=epochs)
            about = f"{about} · {words}"
        tip = "\n".join(
            filter(None, (title_text(run.title), message_text(run.reason), when(run.created), str(run.path)))
        )
        return RailRow("run", run.path, title, about, figure, run.state, run.created, share, tip=tip)

    def _deviations(self, run: RunSummary) -> Iterator[str]:
        """Yield the options that differ from those of most runs."""
        texts = {path: shown(run.options, path) for path in self._common}
        others = [path for path, common in self._common.items() if texts[path] != common]
        for path in others[:MOST_DEVIATIONS]:
            label = option_label(path)
            yield tr("{option} {value}", option=f"{label[:1].lower()}{label[1:]}", value=texts[path])

    def _folder_entries(self) -> Iterator[_Entry]:
        words = words_of(self._query.casefold())
        for folder in self._folders:
            values = " ".join(entry.values for entry in folder.best)
            if all(word in f"{folder.title} {folder.state} {values}".casefold() for word in words):
                best = folder.best[0] if folder.best else None
                value = best.scores.get(folder.objective) if best is not None else None
                key = folder.title.casefold() if self.sort_key == "title" else value
                yield _Entry(key if self.sort_key != "seconds" else None, folder.created, self._rows_of(folder))

    def _rows_of(self, folder: TrialFolder) -> list[RailRow]:
        is_alive = folder.state == "running"
        is_open = folder.path in self._open or (is_alive and folder.path not in self._closed)
        about = tr("%n trial(s)", "", folder.num_trials)
        share = -1.0
        if is_alive:
            share = folder.num_over / folder.num_planned if folder.num_planned else 0.0
            planned = folder.num_planned or folder.num_trials
            about = tr("{count:,} of %n trial(s)", "", planned, count=folder.num_over)
        elif folder.state not in ("finished", "running"):
            about = f"{about} · {state_word(folder.state)}"
        scores = [entry.scores[folder.objective] for entry in folder.best if folder.objective in entry.scores]
        figure = format_score(folder.objective, scores[0]) if scores else "–"
        tip = "\n".join((folder.title, when(folder.created), str(folder.path)))
        rows = [
            RailRow(
                *("folder", folder.path, folder.title, about, figure, folder.state),
                *(folder.created, share),
                is_open=is_open,
                tip=tip,
            )
        ]
        if not is_open:
            return rows
        for entry in folder.best:
            value = entry.scores.get(folder.objective)
            rows.append(
                RailRow(
                    *("trial", entry.run or folder.path / "runs" / str(entry.number), str(entry.number), entry.values),
                    figure=format_score(folder.objective, value) if value is not None else "–",
                    state=entry.state,
                    is_best=entry.is_best,
                    folder=folder.path,
                    tip=tr("Trial {number}: {values}", number=entry.number, values=entry.values),
                )
            )
        if (more := folder.num_trials - len(folder.best)) > 0:
            text = tr("%n more trial(s)", "", more)
            rows.append(RailRow("more", folder.path, text, folder=folder.path, tip=tr("Show them all")))
        return rows

    # ---- the model ----

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The name of a run can be edited; the link to other trials is not selected."""
        row = self.rows[index.row()]
        flags = Qt.ItemFlag.ItemIsEnabled
        if row.kind != "more":
            flags |= Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if row.kind == "run" else flags

    def cell(self, index: Index, role: int) -> object:
        """Return title and tooltip, the row itself for the delegate, and all of it in words for screen readers."""
        row = self.rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.EditRole:
                return next((title_text(run.title) for run in self.runs if run.path == row.path), row.title)
            case Qt.ItemDataRole.ToolTipRole:
                return row.tip
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(row)
        return row if role == ROW else None

    @staticmethod
    def _spoken(row: RailRow) -> str:
        title, fold = row.title, ""
        if row.kind == "folder":
            title = tr("experiment {name}", name=row.title)
            fold = tr("unfolded") if row.is_open else tr("folded")
        elif row.kind == "trial":
            title = tr("trial {number}", number=row.title)
        best = tr("best") if row.is_best else ""
        parts = (title, best, state_word(row.state), row.words(time.time()), row.figure, fold)
        return ", ".join(filter(None, parts))

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name of a run."""
        row = self.rows[index.row()]
        name = str(value).strip()
        if role == Qt.ItemDataRole.EditRole and name != self.cell(index, role):
            self.renamed.emit(row.path, name)
        return True


def _common_options(runs: Sequence[RunSummary]) -> dict[str, str]:
    """Return the most common value of each option in which runs differ, apart from those that each row names."""
    paths = [path for path in differing(runs) if path not in (SOLVER, RATE) and not path.startswith("experiment.")]
    return {path: Counter(shown(run.options, path) for run in runs).most_common(1)[0][0] for path in paths}


def _progress(run: RunSummary, live: Live) -> Iterator[str]:
    """Yield the epoch and the time left of a run under way."""
    epochs, planned = run.number("epochs"), shown(run.options, "training.max_epochs")
    if live.elapsed_s:
        now = min(int(epochs or 0) + 1, int(planned)) if planned.isdecimal() else int(epochs or 0) + 1
        yield tr("epoch {epoch:,} of {epochs}", epoch=now, epochs=planned)
        if run.state == "running":
            yield time_left(live.remaining_s)
    else:
        yield state_word("starting")
