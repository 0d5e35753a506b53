"""The bars of the window: above the tabs icon buttons, tabs, environment, options and Train; below them the status
line."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QIcon, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStatusBar, QToolButton, QWidget

from netwright.app.frame.actions import ACTIONS
from netwright.app.widgets import NO_LIMIT
from netwright.designer import markup, shortcuts, theme
from netwright.designer.editor import Editor
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.designer.segment_row import SegmentRow
from netwright.engine.core.text import format_bytes, format_number

SEGMENT_PADDING = 14  # with the border
STOP_WORDS, STOP_WORDS_FOLDED, STOP_PADDING = 200, 90, 52
FOLDED = 40
"""Width of a button that shows its icon only."""
GAP = 8
TABS = (("data", noop("Data")), ("design", noop("Design")), ("runs", noop("Runs")))


class TopBar(QWidget):
    """One row: frequent actions and Stop at the left, the tabs in the middle, training at the right. Where there is no
    room, buttons show icons only, and then the last of the actions leave: the menu has them too."""

    tab_chosen = Signal(str)

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, 0, GAP, 0)  # the toolbar around it has its own
        row.setSpacing(GAP)
        self._running = ""
        self._environment, self._where = tr("Environment auto"), tr("Where training runs. Click to choose.")
        self._icons: list[QToolButton] = []
        left, right = QWidget(), QWidget()
        self._fill_left(left, actions)
        self._fill_right(right, actions)
        for side, alignment in ((left, Qt.AlignmentFlag.AlignLeft), (right, Qt.AlignmentFlag.AlignRight)):
            side.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            side.layout().setAlignment(alignment)  # type: ignore[union-attr]  # set just above
        row.addWidget(left, 1)
        self._middle = self._segments()
        row.addWidget(self._middle)
        row.addWidget(right, 1)
        self._sides = (left, right)
        self.set_running("")

    def _fill_left(self, side: QWidget, actions: Mapping[str, QAction]) -> None:
        row = QHBoxLayout(side)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for action in ACTIONS:
            if action.in_toolbar:
                button = QToolButton()
                button.setDefaultAction(actions[action.id])
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
                button.setIconSize(QSize(18, 18))
                button.setAutoRaise(True)
                button.setAccessibleName(translation(action.text))
                row.addWidget(button)
                self._icons.append(button)
        self.stop = QPushButton()
        self.stop.clicked.connect(actions["run.stop"].trigger)
        row.addSpacing(8)
        row.addWidget(self.stop)

    def _segments(self) -> QWidget:
        segments = SegmentRow(margin=4, spacing=0)
        self._group, self._tab = segments.group, ""
        self._tabs: dict[str, QPushButton] = {}
        for key, label in TABS:
            button = self._tabs[key] = segments.add(translation(label), padding=SEGMENT_PADDING)
            button.setMinimumWidth(max(60, button.minimumWidth()))
            button.toggled.connect(lambda is_on, key=key: self._choose(key) if is_on else None)
        return segments

    def _choose(self, key: str) -> None:
        """Choose a tab that was toggled: by a click, or by a screen reader, which does not click."""
        if key != self._tab:
            self.tab_chosen.emit(key)

    def _fill_right(self, side: QWidget, actions: Mapping[str, QAction]) -> None:
        row = QHBoxLayout(side)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        self.environment, self.options = QPushButton(), QPushButton()
        self.environment.clicked.connect(actions["run.options"].trigger)
        shortcuts.set_tip(self.options, tr("Training options"), "run.options")
        self.options.setAccessibleName(tr("Training options"))
        self.options.clicked.connect(actions["run.options"].trigger)
        self.train = QPushButton(tr("Train"))
        self.train.clicked.connect(lambda: actions["run.queue" if self._running else "run.train"].trigger())
        for button in (self.environment, self.options, self.train):
            row.addWidget(button)

    # ---- folding ----

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fold or unfold."""
        super().resizeEvent(event)
        self._fold()

    def minimumSizeHint(self) -> QSize:
        """As narrow as it can be folded."""
        stop = STOP_WORDS_FOLDED + STOP_PADDING if self._running else 0
        buttons = 2 * (FOLDED + GAP) + self.train.sizeHint().width()
        width = 4 * GAP + stop + self._middle.sizeHint().width() + buttons
        return QSize(width, super().minimumSizeHint().height())

    def _fold(self) -> None:
        """Fold as little as the width asks for."""
        for level in range(4 + len(self._icons)):
            self._show_folded(level)
            sides = sum(side.sizeHint().width() for side in self._sides)
            if 4 * GAP + sides + self._middle.sizeHint().width() <= self.width():
                break

    def _show_folded(self, level: int) -> None:
        """Show the row so far folded: options and environment as icons, then Stop with few words, then fewer icons."""
        _set_words(self.options, tr("Training options…"), "settings", is_folded=level > 0)
        _set_words(self.environment, self._environment, "chip", is_folded=level > 1)
        self.environment.setToolTip(f"{self._environment}\n{self._where}" if level > 1 else self._where)
        mode, width = Qt.TextElideMode.ElideMiddle, STOP_WORDS
        if level > 2:
            mode, width = Qt.TextElideMode.ElideRight, STOP_WORDS_FOLDED  # its number comes first
        text = markup.elided(self.fontMetrics(), tr("Stop {run}", run=self._running), mode, width)
        self.stop.setText(markup.without_mnemonic(text))
        for place, icon in enumerate(self._icons):
            icon.setVisible(place < len(self._icons) - max(0, level - 3))
        for side in self._sides:
            layout = side.layout()
            assert layout is not None
            layout.invalidate()

    def set_running(self, name: str) -> None:
        """Offer to stop the run of this name, which is under way, and to queue another, or to start one if the name is
        empty. Stop stands apart from Train, where a second click stops nothing, and moves no tab."""
        self._running = name
        self.train.setText(tr("Queue run") if name else tr("Train"))
        self._dress_train()
        queues = "run.queue" if name else "run.train"
        shortcuts.set_tip(self.train, tr("Train the project after {run}", run=name) if name else tr("Train"), queues)
        self.stop.setAccessibleName(tr("Stop {run}", run=name))
        self.stop.setIcon(theme.icon("stop"))
        shortcuts.set_tip(self.stop, tr("Stop {run} and keep the trained weights", run=name), "run.stop")
        self.stop.setVisible(bool(name))
        self._fold()
        self.updateGeometry()

    def _dress_train(self) -> None:
        token = "on_primary" if self.train.property("primary") else "text"
        self.train.setIcon(theme.icon("plus" if self._running else "play", token))

    def set_tab(self, key: str) -> None:
        """Show which tab is chosen; the start page is none of them. Train is the next step in Design and Data; Runs has
        another one."""
        self._tab = key
        theme.mark(self.train, "primary", key != "runs")
        self._dress_train()
        self._group.setExclusive(False)
        entry = key if key in self._tabs else TABS[0][0]
        for name, button in self._tabs.items():
            button.setChecked(name == key)
            # The Tab key comes to the chosen one, arrows go on from there.
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if name == entry else Qt.FocusPolicy.ClickFocus)
        self._group.setExclusive(True)

    def set_environment(self, text: str, tip: str) -> None:
        """Show the environment on its button; without a tip the button keeps the one it has."""
        self._environment = text
        self._where = tip or self._where
        self.environment.setAccessibleName(text)
        self._fold()


def _set_words(button: QPushButton, words: str, icon: str, *, is_folded: bool) -> None:
    """Show a button with its words, or as an icon."""
    button.setText("" if is_folded else markup.without_mnemonic(words))
    button.setIcon(theme.icon(icon) if is_folded else QIcon())
    button.setMinimumWidth(FOLDED if is_folded else 0)
    button.setMaximumWidth(FOLDED if is_folded else NO_LIMIT)


HINT_MS = 6000
ENGINE = {
    "starting": noop("○ Engine starting…"),
    "ready": noop("● Engine ready"),
    "off": "",
    "failed": noop("✕ Engine failed"),
}


class StatusLine(QObject):
    """Fills the status bar of one window: the network in figures, hints, the state of the engine."""

    def __init__(self, bar: QStatusBar, editor: Editor) -> None:
        super().__init__(bar)
        self._editor = editor
        self.summary = QLabel()
        self.hints = ElidedLabel()
        self.engine = QLabel()
        for label in (self.summary, self.engine):
            theme.mark(label, "role", "help")
        self.errors = QPushButton(tr("No errors"))  # which is not shown, but has a name
        self.errors.setToolTip(tr("Show the problems"))
        self.errors.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.mark(self.errors, "role", "link")
        theme.mark(self.errors, "flush", True)
        self.errors.setStyleSheet("font-size: 12px; min-height: 0;")  # as the figures beside it
        self.weights = QPushButton(tr("No weights"))  # which is not shown, but has a name
        self.weights.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme.mark(self.weights, "role", "link")
        theme.mark(self.weights, "flush", True)
        self.weights.setStyleSheet("font-size: 12px; min-height: 0;")
        self._has_weights = False
        for link in (self.errors, self.weights):
            link.hide()
        bar.setSizeGripEnabled(False)
        bar.addWidget(self.summary)
        bar.addWidget(self.weights)
        bar.addWidget(self.errors)
        bar.addWidget(self.hints, 1)
        bar.addPermanentWidget(self.engine)
        self._gone = QTimer(self, singleShot=True, interval=HINT_MS)
        self._gone.timeout.connect(self.hints.clear)
        editor.analysis_changed.connect(self._show_summary)

    def hint(self, text: str) -> None:
        """Show a message for a few seconds."""
        self.hints.setText(message_text(text).replace("\n", "  "))
        self._gone.start()

    def show_weights(self, words: str, more: str, is_wrong: bool) -> None:
        """Show the weights that a run starts from; nothing for an empty text."""
        self._has_weights = bool(words)
        self.weights.setText(markup.without_mnemonic(words or tr("No weights")))
        self.weights.setIcon(theme.icon("warning", "warning") if is_wrong else QIcon())
        self.weights.setToolTip("\n".join(filter(None, (more, tr("Click for transfer learning.")))))
        self.weights.setVisible(self._has_weights and not self.summary.isHidden())

    def show_engine(self, state: str) -> None:
        """Show the state of the engine, a key of `ENGINE`."""
        self.engine.setText(translation(ENGINE[state]))

    def _show_summary(self, _result: object = None) -> None:
        from netwright.engine.network.layer_table import has_blocks, num_layers
        from netwright.engine.network.memory import all_known
        from netwright.engine.project.check import memory_of

        project, result = self._editor.project, self._editor.check_result
        network, analysis = project.network, result.analysis
        memory = memory_of(project, analysis, self._editor.dataset_info)
        least, about = tr("at least {count}"), tr("about {count}")
        whole = "{count}" if all_known(network, analysis) else least
        parts = [
            tr("%n layer(s) ({total:,} with blocks)", "", len(network), total=num_layers(network))
            if has_blocks(network)
            else tr("%n layer(s)", "", len(network)),
            tr("{count} parameters", count=whole.format(count=f"{analysis.parameters:,}")),
            tr(
                "{count}FLOPs per sample",
                count=("{count}" if memory.is_whole else least).format(count=_grouped(analysis.flops)),
            ),
        ]
        if analysis.shapes:
            hedge = least if not memory.is_whole else about if memory.is_rough else "{count}"
            size = hedge.format(count=format_bytes(memory.total))
            parts.append(tr("{memory} at batch {batch:,}", memory=size, batch=memory.batch))
        self.summary.setText("     ".join(parts))
        self.errors.setText(tr("%n error(s)", "", len(result.errors)))
        self.errors.setVisible(bool(result.errors) and not self.summary.isHidden())

    def show_figures(self, is_shown: bool) -> None:
        """Show or hide the figures of the network."""
        self.summary.setVisible(is_shown)
        self.weights.setVisible(is_shown and self._has_weights)
        self.errors.setVisible(is_shown and bool(self._editor.check_result.errors))


def _grouped(number: int) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{format_number(number / limit)} {unit}"
    return f"{number:,} "
