"""A card on the Data tab: likely faults of the data, their effect on training, and the edit that helps."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.data.dataset_tracker import progress_text
from netwright.app.data.file_check import finding_column, finding_label, finding_row, named_finding
from netwright.app.data.findings_strip import LineItem
from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer import theme
from netwright.designer.engine_messages import message_text, part_text
from netwright.designer.language import noop, sentences, tr, translation
from netwright.engine.operations.data_requests import CHECK_DATA, CheckDataRequest
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_loading import held_bytes
from netwright.engine.project.dataset_info import DatasetInfo

AT_ONCE_BYTES = 2**28
"""Data that takes at most this much memory is checked without being asked."""
FEW_SHOWN = 3
ROLES = {"error": "error", "warning": "warning", "note": "strong"}
START, CANCEL, AGAIN, LABELS = (
    noop("Check the data"),
    noop("Cancel"),
    noop("Check again"),
    noop("Find suspicious labels"),
)
REFUSED = noop("The data cannot be read as it is")
CURES = frozenset(
    (
        *(noop("Drop rows"), noop("Fill in"), noop("Leave out the column"), noop("Repeat the last value")),
        *(noop("Leave it out"), noop("Leave out the columns")),
    )
)
"""Labels of the engine's fixes, but for those with numbers and names."""
OF_FILES = frozenset({"unreadable", "resized", "converted"})
"""Findings that the card of the files shows, file by file."""


class DataChecks(QFrame):
    """Has the engine check the data, and lists the findings."""

    fix_wanted = Signal(str, object)
    """A fix was chosen: its label, and the options of the data to set, by name."""

    changed = Signal()
    """There are other findings to show."""

    def __init__(self, server: EngineServer, documents: Documents, parent: QWidget) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "card")
        self._server, self._documents = server, documents
        self._asked: tuple[DataOptions, Path] | None = None
        self._has_files = False
        self._request: int | None = None
        self._answer: dict[str, Any] | None = None
        self._is_whole: set[str] = set()
        """Kinds of findings whose items are all shown."""
        heading = QLabel(tr("Checks"))
        theme.mark(heading, "role", "strong")
        self.state = QLabel()
        self.state.setWordWrap(True)
        theme.mark(self.state, "role", "muted")
        self.start = QPushButton(translation(START))
        self.start.clicked.connect(self._on_start)
        self.labels = QPushButton(translation(LABELS))
        self.labels.setToolTip(tr("Look for samples whose label similar samples contradict; it takes longer"))
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
            self._say(tr("This much data is not checked unless you ask for it: all of it is read."))
            self._show([])

    def show_refused(self, options: DataOptions, base: Path) -> None:
        """Look for the cures of data that cannot be read."""
        if self._asked != (options, base):
            self.cancel()
            self._asked, self._answer, self._is_whole, self._has_files = (options, base), None, set(), False
            self._check()

    @property
    def lead(self) -> str:
        """The number of samples that were checked, in words."""
        if self._request is not None:
            return tr("Checking the samples…")
        samples = self._answer["checked"] if self._answer is not None else 0
        return tr("%n sample(s) checked", "", samples) if samples else ""

    def items(self) -> list[LineItem]:
        """Return the findings as they stand in the line above the samples."""
        findings = self._answer["findings"] if self._answer is not None else ()
        return [self._item(f) for f in findings if self._is_shown(f) and (f["kind"] != "refused" or f["fixes"])]

    def _is_shown(self, finding: Mapping[str, Any]) -> bool:
        return not (self._has_files and finding["kind"] in OF_FILES)

    def _item(self, finding: Mapping[str, Any]) -> LineItem:
        is_refused = finding["kind"] == "refused"
        detail = (
            tr(", ").join(part_text(str(name)) for name, _ in finding["items"][:2]) if finding["kind"] != "gaps" else ""
        )
        title = translation(REFUSED) if is_refused else message_text(finding["title"])
        return LineItem(
            str(finding["severity"]),
            title,
            detail,
            "" if is_refused else message_text(finding["outcome"]),
            self._fixes(finding),
        )

    def _fixes(self, finding: Mapping[str, Any]) -> tuple[tuple[str, Callable[[], object]], ...]:
        """Return the edits that help, by their words."""
        labels = [
            translation(fix["label"]) if fix["label"] in CURES else message_text(fix["label"])
            for fix in finding["fixes"]
        ]
        return tuple(
            (label, partial(self.fix_wanted.emit, label, fix["options"]))
            for label, fix in zip(labels, finding["fixes"], strict=True)
        )

    def cancel(self) -> None:
        """Stop the check, if one is under way."""
        if self._request is not None:
            self._server.cancel(self._request)
            self._request = None

    def forget(self) -> None:
        """Check anew when data is shown the next time."""
        self.cancel()
        self._asked = self._answer = None

    def _on_start(self) -> None:
        if self._request is None:
            self._check()
            return
        self.cancel()
        self._say(tr("The check was cancelled."))

    def _check(self, *, labels: bool = False) -> None:
        if self._asked is None:
            return
        self.cancel()
        options, base = self._asked
        request = CheckDataRequest(data=options.write(), base=Path(base), labels=labels)
        self._request = self._server.ask(
            CHECK_DATA, request, self._take, self._fail, on_progress=self._on_progress, hosts=self._documents.hosts
        )
        self._show([])
        self._say(tr("Checking the samples…"))

    def _on_progress(self, progress: dict[str, Any]) -> None:
        self._say(tr("Checking the samples: {progress}", progress=progress_text(progress)))

    def _fail(self, message: str) -> None:
        self._request = None
        self._say(message, is_error=True)

    def _take(self, answer: dict[str, Any]) -> None:
        self._request, self._answer = None, answer
        findings = [f for f in answer["findings"] if self._is_shown(f)]
        self._show(findings)
        self._say(_summary(answer, len(findings)))
        self.state.setToolTip("\n".join(map(message_text, answer["passed"])))

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self.state.setText(text)
        self.state.setToolTip("")
        theme.mark(self.state, "role", "error" if is_error else "muted")
        self.changed.emit()
        is_busy = self._request is not None
        self.start.setText(translation(CANCEL if is_busy else START if self._answer is None else AGAIN))
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
        column.addLayout(
            finding_row(finding_label(message_text(finding["title"]), ROLES[finding["severity"]]), self._fixes(finding))
        )
        column.addWidget(finding_label(message_text(finding["outcome"]), "help"))
        items, kind = finding["items"], finding["kind"]
        rows = items if kind in self._is_whole else items[:FEW_SHOWN]
        for name, detail in rows:
            column.addLayout(finding_row(named_finding(part_text(str(name)), message_text(detail)), []))
        if len(items) > len(rows):

            def unfold() -> None:
                self._is_whole.add(kind)
                self._show(every)

            column.addLayout(
                finding_row(QWidget(), [(tr("Show {count:,} more", count=len(items) - len(rows)), unfold)])
            )
        elif finding["count"] > len(items):
            rest = finding["count"] - len(items)
            column.addWidget(finding_label(tr("and {count:,} more", count=rest), "muted"))
        return group


def _summary(answer: Mapping[str, Any], findings: int) -> str:
    """Return sentences on how much was checked, and with how many findings."""
    checked, samples = answer["checked"], answer["samples"]
    if not samples:
        parts = []
    elif checked == samples:
        parts = [tr("%n sample(s) checked.", "", checked)]
    else:
        parts = [tr("%n sample(s) of {total:,}, evenly spaced, checked.", "", checked, total=samples)]
    if answer["passed"]:
        parts.append(tr("%n check(s) passed.", "", len(answer["passed"])))
    parts.append(tr("%n finding(s).", "", findings) if findings else tr("Nothing found."))
    return sentences(parts)
