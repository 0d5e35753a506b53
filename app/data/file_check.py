"""A card on the Data tab: which image files are damaged, resized or converted, found by a process of its own."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from netwright.app.data.findings_strip import LineItem
from netwright.app.processes import NO_HOSTS, DisposableProcess
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.core.process import module_command
from netwright.engine.project.data import DataOptions

MOST_SHOWN = {"damaged": 5}
FEW_SHOWN = 3
"""Number of files that are listed per kind until more are asked for; of the kinds that training takes, few."""
READ = (
    *("path", "bad_samples", "image_size", "channels"),
    *("inner_folders", "class_pattern", "labels", "label_column", "masks", "target_images"),
)
"""Options that decide what is found."""


class FileCheck(QFrame):
    """Checks the image files of the data in the background, and lists the findings."""

    excluded = Signal(object)
    """The names of all files that are left out, after one was added or all were included again."""

    fix_wanted = Signal(str, object)
    """A fix was chosen: its label, and the options of the data to set, by name."""
    review_wanted = Signal()
    """All findings are to be seen."""
    changed = Signal()
    """There are other findings to show."""

    def __init__(self) -> None:
        super().__init__()
        theme.mark(self, "role", "card")
        self._options, self._base = DataOptions(), Path()
        self._hosts: Mapping[str, int] = NO_HOSTS
        self._started: object = None
        self._unchecked: set[str] = set()
        """Files that were left out when the check began."""
        self._findings: dict[str, Any] = {}
        self._is_whole: set[str] = set()
        self._refusal = ""
        self.process = DisposableProcess(self)
        self.process.said.connect(self._take)
        self.process.ended.connect(self._on_ended)
        heading = QLabel(tr("Files"))
        theme.mark(heading, "role", "strong")
        self.state = QLabel()
        self.state.setWordWrap(True)
        self._groups = QVBoxLayout()
        self._groups.setSpacing(12)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        for widget in (heading, self.state):
            column.addWidget(widget)
        column.addLayout(self._groups)

    def show_data(self, options: DataOptions, base: Path, hosts: Mapping[str, int] = NO_HOSTS) -> None:
        """Show the findings about this data; check the files first, unless they were. `hosts`: those that it may be
        fetched from."""
        self._options, self._base, self._hosts = options, base, hosts
        excluded = set(options.excluded_files)
        is_other = self._findings.get("first") in excluded or not self._unchecked <= excluded
        if is_other or self._started != self._asked:
            self._check()
        self._show()

    @property
    def _asked(self) -> object:
        return (*(getattr(self._options, name) for name in READ), self._base)

    def _check(self) -> None:
        """Check the files anew, except those that are left out."""
        self._started, self._unchecked = self._asked, set(self._options.excluded_files)
        self._findings, self._refusal, self._is_whole = {}, "", set()
        options = json.dumps(self._options.write())
        try:
            self.process.start(
                module_command("netwright.engine.data.loading.image_check", options, str(self._base)), self._hosts
            )
        except OSError as error:
            self._refusal = tr("The files cannot be checked: {reason}.", reason=error.strerror)

    def shutdown(self) -> None:
        """End the process."""
        self.process.stop()
        self._started = None
        self._findings, self._refusal = {}, ""

    def _take(self, line: dict[str, Any]) -> None:
        if "error" in line:
            self._refusal = message_text(line["error"])
        else:
            self._findings = line
        self._show()

    def _on_ended(self) -> None:
        if not self._refusal and not self._findings.get("done"):
            self._refusal = tr("The check was interrupted: its process has ended. 'Reload' starts it again.")
        self._show()

    # ---- showing ----

    def _show(self) -> None:
        """Show the findings so far, without the files that are left out."""
        left_out = set(self._options.excluded_files)
        while (item := self._groups.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        for kind, title in (("damaged", _damaged), ("resized", self._resized), ("converted", self._converted)):
            files = [(str(name), str(reason)) for name, reason in self._findings.get(kind, ()) if name not in left_out]
            hidden = self._findings.get("counts", {}).get(kind, 0) - len(self._findings.get(kind, ()))
            if files:
                self._groups.addWidget(self._group(kind, title(len(files) + hidden), files, hidden))
        if left_out:
            self._groups.addWidget(self._left_out(sorted(left_out)))
        if self._findings.get("sizes"):
            self._groups.addWidget(_sizes(self._findings["sizes"]))
        self.state.setText(self._sentence())
        theme.mark(self.state, "role", "error" if self._refusal else "muted")
        self.changed.emit()

    @property
    def lead(self) -> str:
        """The number of files that were checked, in words; empty where there are none."""
        if not self._findings.get("done"):
            return self._sentence() if self._started is not None else ""
        return tr("%n file(s) checked", "", self._findings["total"])

    def items(self) -> list[LineItem]:
        """Return the findings as they stand in the line above the samples."""
        left_out = set(self._options.excluded_files)
        items = []
        for kind in ("damaged", "resized", "converted"):
            files = [(str(name), str(why)) for name, why in self._findings.get(kind, ()) if name not in left_out]
            hidden = self._findings.get("counts", {}).get(kind, 0) - len(self._findings.get(kind, ()))
            if files and (kind != "converted" or self._options.channels == "auto"):
                items.append(self._item(kind, len(files) + hidden, files))
        if left_out:
            again = (tr("Include again"), lambda: self.excluded.emit(()))
            items.append(
                LineItem(
                    "note", tr("{count:,} left out", count=len(left_out)), ", ".join(sorted(left_out)[:2]), "", (again,)
                )
            )
        return items

    def _item(self, kind: str, count: int, files: list[tuple[str, str]]) -> LineItem:
        show = (tr("Show"), self.review_wanted.emit)
        if kind == "damaged":
            names = [name for name, _ in files]
            leave = (tr("Leave out"), lambda: self._leave_out(names))
            detail = names[0] if count == 1 else ""
            return LineItem(
                "error",
                tr("{count:,} damaged", count=count),
                detail,
                _damaged(count),
                (leave, *((show,) if count > 1 else ())),
            )
        if kind == "resized":
            sizes = tr(" and ").join(dict.fromkeys(why for _, why in files[:2]))
            return LineItem("warning", tr("{count:,} resized", count=count), sizes, self._resized(count), (show,))
        rest = self._findings.get("total", 0) - count
        is_grey = self._findings["channels"] == "grey"
        title = tr("{count:,} in colour", count=count) if is_grey else tr("{count:,} grey", count=count)
        detail = (
            tr("among {rest:,} grey, made grey", rest=rest)
            if is_grey
            else tr("among {rest:,} in colour, colours kept", rest=rest)
        )
        fixes = {tr("Keep colours"): "rgb", tr("Make grey"): "grey"}
        return LineItem(
            "note",
            title,
            detail,
            self._converted(count),
            tuple((label, partial(self.fix_wanted.emit, label, {"channels": key})) for label, key in fixes.items()),
        )

    def _sentence(self) -> str:
        if self._refusal:
            return self._refusal
        total, checked = self._findings.get("total", 0), self._findings.get("checked", 0)
        if not self._findings.get("done"):
            return (
                tr("Checking {checked:,} of {total:,} files…", checked=checked, total=total)
                if total
                else tr("Checking the files…")
            )
        if self._groups.count():
            num_used = total - len(set(self._options.excluded_files) - self._unchecked)
            return tr("%n file(s) checked.", "", num_used)
        return tr("%n file(s) checked: all can be read, and none is resized or converted.", "", total)

    def _resized(self, count: int) -> str:
        size = self._findings["size"]
        return tr("%n file(s) of another size: resized to {size}, the most frequent size", "", count, size=size)

    def _converted(self, count: int) -> str:
        if self._findings["channels"] == "grey":
            return tr("%n file(s) with colours: converted to grey", "", count)
        return tr("%n grey file(s): taken as colours, with three equal channels", "", count)

    def _group(self, kind: str, title: str, files: list[tuple[str, str]], hidden: int) -> QWidget:
        """Make the list of one kind of finding: a title, and a row per file."""
        group, column = finding_column()
        actions = []
        if kind == "damaged" and len(files) > 1:
            names = [name for name, _ in files]
            count = len(files)
            text = (
                tr("Leave these {count:,} out", count=count) if hidden else tr("Leave all {count:,} out", count=count)
            )
            actions = [(text, lambda: self._leave_out(names))]
        column.addLayout(finding_row(finding_label(title, "error" if kind == "damaged" else ""), actions))
        rows = files if kind in self._is_whole else files[: MOST_SHOWN.get(kind, FEW_SHOWN)]
        for name, detail in rows:
            reason = "" if kind == "converted" else detail
            column.addLayout(finding_row(named_finding(name, message_text(reason)), self._actions(name)))
        if len(files) > len(rows):
            more = tr("Show {count:,} more", count=len(files) - len(rows))
            column.addLayout(finding_row(QWidget(), [(more, lambda: self._unfold(kind))]))
        elif hidden:
            column.addWidget(finding_label(tr("and {count:,} more", count=hidden), "muted"))
        return group

    def _left_out(self, names: list[str]) -> QWidget:
        group, column = finding_column()
        title = finding_label(tr("%n file(s) left out of the data", "", len(names)), "")
        column.addLayout(finding_row(title, [(tr("Include again"), lambda: self.excluded.emit(()))]))
        files = names if "left out" in self._is_whole else names[:FEW_SHOWN]
        for name in files:
            column.addLayout(finding_row(named_finding(name, ""), [(tr("Show"), partial(self._reveal, name))]))
        if len(names) > len(files):
            more = tr("Show {count:,} more", count=len(names) - len(files))
            column.addLayout(finding_row(QWidget(), [(more, lambda: self._unfold("left out"))]))
        return group

    def _actions(self, name: str) -> list[tuple[str, Callable[[], None]]]:
        return [(tr("Show"), partial(self._reveal, name)), (tr("Leave it out"), partial(self._leave_out, [name]))]

    def _leave_out(self, names: list[str]) -> None:
        self.excluded.emit(tuple(dict.fromkeys((*self._options.excluded_files, *names))))

    def _unfold(self, kind: str) -> None:
        self._is_whole.add(kind)
        self._show()

    def _reveal(self, name: str) -> None:
        """Open the folder of a file in the desktop's file manager."""
        folder = (self._base / Path(self._options.path).expanduser() / name).parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._refusal = tr("No program was found that shows {folder}.", folder=folder)
            self._show()


def _damaged(count: int) -> str:
    if count == 1:
        return tr("1 file cannot be used: training ends with an error unless you leave it out")
    return tr("{count:,} files cannot be used: training ends with an error unless you leave them out", count=count)


def _sizes(counted: dict[str, Any]) -> QWidget:
    """Return the histograms of the widths and heights of all images."""
    from netwright.app.plots.histogram_plot import HistogramPlot  # pyqtgraph, which images of one size do without

    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 8, 0, 0)
    row.setSpacing(16)
    for key, title in (("widths", tr("Widths")), ("heights", tr("Heights"))):
        column = QVBoxLayout()
        column.addWidget(finding_label(title, "muted"))
        column.addWidget(HistogramPlot(counted[key], tr("pixels"), tr("images")))
        row.addLayout(column, 1)
    return both


def finding_column() -> tuple[QWidget, QVBoxLayout]:
    """Return a widget for one kind of finding, and its column."""
    group = QWidget()
    column = QVBoxLayout(group)
    column.setContentsMargins(0, 4, 0, 0)
    column.setSpacing(4)
    return group, column


def finding_label(text: str, role: str) -> QLabel:
    """Return a text of a finding."""
    label = QLabel(text)
    label.setWordWrap(True)
    if role:
        theme.mark(label, "role", role)
    return label


def named_finding(name: str, reason: str) -> QWidget:
    """Return the name of a file or sample, and the finding beside it."""
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(12)
    label, detail = ElidedLabel(name), ElidedLabel(reason, elide=Qt.TextElideMode.ElideRight)
    theme.mark(detail, "role", "muted")
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    row.addWidget(label)
    row.addWidget(detail, 1)
    return both


def finding_row(content: QWidget, actions: Sequence[tuple[str, Callable[[], object]]]) -> QHBoxLayout:
    """Return a row with links at its end."""
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(content, 1)
    for text, act in actions:
        link = QPushButton(text)
        theme.mark(link, "role", "link")
        link.clicked.connect(lambda _=False, act=act: act())
        row.addWidget(link)
    return row
