"""The line at the bottom of the window: the network in figures, hints, the state of the engine."""

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton, QStatusBar

from app.widgets import ElidedLabel
from designer import theme
from designer.editor import Editor
from engine.core.errors import plural

HINT_MS = 6000
ENGINE = {"starting": "○ Engine starting…", "ready": "● Engine ready", "off": "", "failed": "✕ Engine failed"}


class StatusLine(QObject):
    """Fills the status bar of one window."""

    def __init__(self, bar: QStatusBar, editor: Editor) -> None:
        super().__init__(bar)
        self._editor = editor
        self.summary = QLabel()
        self.hints = ElidedLabel()
        self.engine = QLabel()
        for label in (self.summary, self.engine):
            theme.mark(label, "role", "help")
        self.errors = QPushButton("No errors")  # which is not shown, but has a name
        self.errors.setToolTip("Show the problems")
        self.errors.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.mark(self.errors, "role", "link")
        theme.mark(self.errors, "flush", True)
        self.errors.setStyleSheet("font-size: 12px; min-height: 0;")  # as the figures beside it
        self.errors.hide()
        bar.setSizeGripEnabled(False)
        bar.addWidget(self.summary)
        bar.addWidget(self.errors)
        bar.addWidget(self.hints, 1)
        bar.addPermanentWidget(self.engine)
        self._gone = QTimer(self, singleShot=True, interval=HINT_MS)
        self._gone.timeout.connect(self.hints.clear)
        editor.analysis_changed.connect(self._show_summary)

    def hint(self, text: str) -> None:
        """Say something for a few seconds."""
        self.hints.setText(text.replace("\n", "  "))
        self._gone.start()

    def show_engine(self, state: str) -> None:
        """One of the keys of `ENGINE`."""
        self.engine.setText(ENGINE[state])

    def _show_summary(self, _report: object = None) -> None:
        from engine.network.memory import all_known
        from engine.network.table import layers_in_words
        from engine.project.check import memory_of

        project, report = self._editor.project, self._editor.report
        analysis = report.analysis
        memory = memory_of(project, analysis, self._editor.dataset_info)
        least = "" if all_known(project.network, analysis) else "at least "
        parts = [
            layers_in_words(project.network),
            f"{least}{analysis.parameters:,} parameters",
            f"{'' if memory.is_whole else 'at least '}{_grouped(analysis.flops)}FLOPs a sample",
        ]
        if analysis.facts:
            parts.append(memory.in_words())
        self.summary.setText("     ".join(parts))
        self.errors.setText(plural(len(report.errors), "error"))
        self.errors.setVisible(bool(report.errors) and not self.summary.isHidden())

    def show_figures(self, is_shown: bool) -> None:
        """Whether the network is spoken of at all."""
        self.summary.setVisible(is_shown)
        self.errors.setVisible(is_shown and bool(self._editor.report.errors))


def _grouped(number: int) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {unit}"
    return f"{number:,} "
