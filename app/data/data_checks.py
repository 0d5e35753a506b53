"""A card on the Data tab: likely faults of the data, their effect on training, and the edit that helps."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.data.file_check import finding_column, finding_label, finding_row, named_finding
from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer import theme
from netwright.engine.core.errors import plural
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_loading import held_bytes
from netwright.engine.project.dataset_info import DatasetInfo

AT_ONCE_BYTES = 2**28
"""Data that takes at most this much memory is checked without being asked."""
FEW_SHOWN = 3
ROLES = {"error": "error", "warning": "warning", "note": "strong"}
START, CANCEL, AGAIN, LABELS = "Check the data", "Cancel", "Check again", "Find suspicious labels"
OF_FILES = frozenset({"unreadable", "resized", "converted"})
"""Findings that the card of the files shows, file by file."""


class DataChecks(QFrame):
    """Has the engine check the data, and lists the findings."""

    fix_wanted = Signal(str, object)
    """A fix was chosen: its label, and the options of the data to set, by name."""

    def __init__(self, server: EngineServer, documents: Documents, parent: QWidget) -> None:
        """It is hidden until there is data to show."""
        super().__init__(parent)
        self.hide()
        theme.mark(self, "role", "card")
        self._server, self._documents = server, documents
        self._asked: tuple[DataOptions, Path] | None = None
        self._has_files = False
        self._request: int | None = None
        self._answer: dict[str, Any] | None = None
        self._is_whole: set[str] = set()
        """Kinds of findings whose items are all shown."""
        heading = QLabel("CHECKS")
        theme.mark(heading, "role", "section")
        self.state = QLabel()
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.start = QPushButton(START)
        self.start.clicked.connect(self._on_start)
        self.labels = QPushButton(LABELS)
        self.labels.setToolTip("Look for samples whose label similar samples contradict; it takes longer")
        self.labels.clicked.connect(lambda: self._check(labels=True))
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(heading)
        top.addStretch(1)
        for link in (self.labels, self.start):
            theme.mark(link, "role", "link")
            top.addWidget(link)
        self._groups = QVBoxLayout()
        self._groups.setSpacing(12)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self.state)
        column.addLayout(self._groups)
        self._say("")

    def show_data(self, options: DataOptions, base: Path, info: DatasetInfo) -> None:
        """Show the findings about this data. They are looked for unless that was done, or the data is large."""
        if self._asked == (options, base):
            return
        self.cancel()
        self._asked, self._answer, self._is_whole = (options, base), None, set()
        source = options.source_type
        self._has_files = source is not None and source.has_image_files
        self.labels.setEnabled(info.targets[0].is_one_class)
        if held_bytes(source, info) <= AT_ONCE_BYTES:
            self._check()
        else:
            self._say("This much data is not checked unless you ask for it: all of it is read.")
            self._show([])

    def cancel(self) -> None:
        """Stop the check, if one is under way."""
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None

    def forget(self) -> None:
        """Check anew when data is shown the next time."""
        self.cancel()
        self._asked = None

    def _on_start(self) -> None:
        if self._request is None:
            self._check()
            return
        self.cancel()
        self._say("The check was cancelled.")

    def _check(self, *, labels: bool = False) -> None:
        if self._asked is None:
            return
        self.cancel()
        options, base = self._asked
        request = {"data": options.write(), "base": str(base), "labels": labels, "hosts": self._documents.hosts}
        self._request = self._server.request("check_data", request, self._take, self._fail, self._on_progress)
        self._show([])
        self._say("Checking the samples…")

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self._say(f"Checking the samples: {progress_text(progress)}")

    def _fail(self, message: str) -> None:
        self._request = None
        self._say(message, is_error=True)

    def _take(self, answer: dict[str, Any]) -> None:
        self._request, self._answer = None, answer
        findings = [f for f in answer["findings"] if not (self._has_files and f["kind"] in OF_FILES)]
        self._show(findings)
        part = "" if answer["checked"] == answer["samples"] else f" of {answer['samples']:,}, evenly spaced"
        summary = f"{plural(answer['checked'], 'sample')}{part} checked" if answer["samples"] else ""
        passed = f"{plural(len(answer['passed']), 'check')} passed" if answer["passed"] else ""
        outcome = plural(len(findings), "finding") if findings else "Nothing found"
        self._say(". ".join(filter(None, (summary, passed, outcome))) + ".")
        self.state.setToolTip("\n".join(answer["passed"]))

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self.state.setText(text)
        self.state.setToolTip("")
        theme.mark(self.state, "role", "error" if is_error else "muted")
        is_busy = self._request is not None
        self.start.setText(CANCEL if is_busy else START if self._answer is None else AGAIN)
        self.labels.setVisible(not is_busy and self.labels.isEnabled())

    # ---- findings ----

    def _show(self, findings: list[dict[str, Any]]) -> None:
        while (item := self._groups.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        for finding in findings:
            self._groups.addWidget(self._group(finding, findings))

    def _group(self, finding: dict[str, Any], every: list[dict[str, Any]]) -> QWidget:
        """Return the widget of one finding: title, the edit that helps, the effect on training, and the samples."""
        group, column = finding_column()
        fix = finding["fix"]
        actions = [(fix["label"], lambda: self.fix_wanted.emit(fix["label"], fix["options"]))] if fix else []
        column.addLayout(finding_row(finding_label(finding["title"], ROLES[finding["severity"]]), actions))
        column.addWidget(finding_label(finding["outcome"], "help"))
        items, kind = finding["items"], finding["kind"]
        rows = items if kind in self._is_whole else items[:FEW_SHOWN]
        for name, detail in rows:
            column.addLayout(finding_row(named_finding(str(name), str(detail)), []))
        if len(items) > len(rows):

            def unfold() -> None:
                self._is_whole.add(kind)
                self._show(every)

            column.addLayout(finding_row(QWidget(), [(f"Show {len(items) - len(rows):,} more", unfold)]))
        elif finding["count"] > len(items):
            column.addWidget(finding_label(f"and {finding['count'] - len(items):,} more", "muted"))
        return group
