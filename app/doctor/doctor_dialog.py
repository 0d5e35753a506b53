"""The dialog of the doctor: what is wrong with the open project, by effect, each with a button that cures it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.dialog import Dialog
from netwright.app.shell import Shell
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, noop, tr, translation
from netwright.designer.markup import visible
from netwright.designer.panels.problems_panel import draw_severity
from netwright.engine.core.dataclass_json import from_json
from netwright.engine.doctor.cures import with_cure
from netwright.engine.doctor.operations.doctor import OPERATION, DoctorRequest, Finding, comparison_text
from netwright.engine.project.file import dumps
from netwright.engine.runs.curve_findings import CHECKS

SEVERITIES = {"error": noop("error"), "warning": noop("warning"), "note": noop("note")}
MARK = 9
"""Size of the mark of a finding, in pixels."""
ABOUT = noop(
    "The project is looked at, and its network trained for some seconds on the CPU, "
    "without changing anything. Findings are in the order of their effect."
)


def show_doctor(shell: Shell, kind: str = "") -> "DoctorDialog":
    """Open the dialog and examine the open project. `kind`: what a run has shown, a key of `CHECKS`."""
    dialog = DoctorDialog(shell, kind)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    return dialog


class SeverityMark(QWidget):
    """The mark of an error, a warning or a note, as the list of problems has it."""

    def __init__(self, severity: str) -> None:
        super().__init__()
        self._severity = severity
        self.setFixedSize(MARK + 4, MARK + 8)
        self.setAccessibleName(translation(SEVERITIES[severity]))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark."""
        painter = QPainter(self)
        draw_severity(painter, self._severity, QRectF(2, 5, MARK, MARK))
        painter.end()


class DoctorDialog(Dialog):
    """Shows the findings about the open project. It does not block the window."""

    def __init__(self, shell: Shell, kind: str = "") -> None:
        super().__init__(shell.dialog_parent)
        self._shell = shell
        self._causes = CHECKS.get(kind, ())
        self._request: int | None = None
        self.setWindowTitle(tr("Doctor"))
        self.resize(760, 620)
        about, self.state = QLabel(translation(ABOUT)), QLabel()
        for label in (about, self.state):
            label.setWordWrap(True)
            theme.mark(label, "role", "muted")
        self.rows = QVBoxLayout()
        self.rows.setContentsMargins(0, 0, 8, 0)
        self.rows.setSpacing(8)
        self.again, self.compare = QPushButton(tr("Examine again")), QPushButton(tr("Try the cures"))
        self.compare.setToolTip(
            tr("Train briefly with and without each cure, with the same seeds; takes a minute or two")
        )
        close = QPushButton(tr("Close"))
        content, area = QWidget(), QScrollArea()
        content.setLayout(self.rows)
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(tr("Findings"))
        self._area = area
        column, bottom = QVBoxLayout(self), QHBoxLayout()
        column.setSpacing(12)
        column.addWidget(about)
        column.addWidget(area, 1)
        bottom.addWidget(self.state, 1)
        for button in (self.again, self.compare, close):
            button.setAutoDefault(False)
            bottom.addWidget(button)
        column.addLayout(bottom)
        self.again.clicked.connect(lambda: self.examine())
        self.compare.clicked.connect(lambda: self.examine(compares=True))
        close.clicked.connect(self.close)
        self.finished.connect(lambda _: self._end())
        self.examine()

    @property
    def is_busy(self) -> bool:
        """Whether an examination is under way."""
        return self._request is not None

    def examine(self, *, compares: bool = False) -> None:
        """Examine the project as it is now; with `compares`, try the cures as well."""
        self._end()
        self._set_busy(busy=True)
        self._say(tr("Trying the cures…") if compares else tr("Examining…"))
        shell = self._shell
        project = shell.documents.source or shell.documents.base / "untitled.netwright"
        request = DoctorRequest(project=project.absolute(), text=dumps(shell.editor.project), compares=compares)
        self._request = shell.server.ask(
            OPERATION, request, self.show_result, self._on_failed, hosts=shell.documents.hosts
        )

    def show_result(self, result: Mapping[str, Any]) -> None:
        """Show the result of `netwright-engine doctor`."""
        self._end()
        self._set_busy(busy=False)
        while (item := self.rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        findings: list[Finding] = [from_json(Finding, finding) for finding in result["findings"]]
        cards = [(finding.kind, self._card(finding)) for finding in findings]
        for _, card in cards:
            self.rows.addWidget(card)
        if result["passed"]:
            self.rows.addWidget(_passed(result["passed"]))
        self.rows.addStretch(1)
        seconds = result["seconds"]
        if findings:
            self._say(tr("%n finding(s), after {seconds:.0f} s.", "", len(findings), seconds=seconds))
        else:
            self._say(tr("Nothing is wrong, after {seconds:.0f} s.", seconds=seconds))
        self._reveal(cards)
        self.compare.setEnabled(any(finding.cure is not None for finding in findings))

    def _reveal(self, cards: list[tuple[str, QWidget]]) -> None:
        """Show and mark the likeliest cause of what the run has shown; say so where no check has an answer."""
        if not self._causes:
            return
        cause = next((card for kind in self._causes for other, card in cards if other == kind), None)
        if cause is None:
            none = tr("None of the checks explains what the run has shown.")
            self._say(f"{self.state.text()} {none}")
            return
        theme.mark(cause, "selected", True)
        self.rows.activate()
        QTimer.singleShot(0, cause, lambda: self._area.ensureWidgetVisible(cause))

    def _card(self, finding: Finding) -> QWidget:
        words = message_text(finding.title)
        card, title, evidence = QFrame(), QLabel(visible(words)), QLabel(visible(message_text(finding.evidence)))
        theme.mark(card, "role", "card")
        theme.mark(title, "role", "strong")
        theme.mark(evidence, "role", "muted")
        card.setAccessibleName(named(translation(SEVERITIES[finding.severity]), words))
        mark = SeverityMark(finding.severity)
        text, row = QVBoxLayout(), QHBoxLayout(card)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        text.setSpacing(4)
        for label in (title, evidence):
            label.setWordWrap(True)
            if label.text():
                text.addWidget(label)
        if finding.comparison is not None:
            tried = QLabel(visible(tr("Tried: {comparison}", comparison=comparison_text(finding.comparison))))
            tried.setWordWrap(True)
            text.addWidget(tried)
        row.addLayout(text, 1)
        cure = finding.cure
        if cure is not None and (cure.settings or cure.layers):
            button = QPushButton(visible(message_text(cure.label)))
            button.setAutoDefault(False)
            button.setToolTip(visible(", ".join(cure.settings)))
            button.clicked.connect(partial(self._apply, finding, button))
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return card

    def _apply(self, finding: Finding, button: QPushButton) -> None:
        """Make the edit of a cure, as one step that can be undone."""
        cure = finding.cure
        assert cure is not None
        if self._shell.editor.edit(message_text(cure.label), lambda project: with_cure(project, cure)):
            button.setText(tr("Done"))
            button.setEnabled(False)
            self._say(tr("Changed; Edit > Undo takes it back. Examine again to see what is left."))

    def _on_failed(self, reason: str) -> None:
        self._end()
        self._set_busy(busy=False)
        self._say(reason, refused=True)

    def _set_busy(self, *, busy: bool) -> None:
        self.again.setEnabled(not busy)
        self.compare.setEnabled(False)

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.state, "role", "error" if refused else "muted")
        self.state.setText(visible(text))

    def _end(self) -> None:
        if self._request is not None:
            self._shell.server.cancel(self._request)
            self._request = None


def _passed(checks: list[str]) -> QLabel:
    """Return the list of what is in order."""
    label = QLabel(visible("\n".join([tr("In order:"), *(f"✓ {message_text(check)}" for check in checks)])))
    label.setWordWrap(True)
    theme.mark(label, "role", "muted")
    return label
