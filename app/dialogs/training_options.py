"""The Training Options dialog, made from the declared fields of `TrainingOptions` and `EnvironmentOptions`."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.dialogs.environment_cards import EnvironmentCards, PlacementText, card_texts
from app.dialogs.grouped_area import GroupedArea
from app.dialogs.option_checks import OptionChecker
from app.dialogs.phase_list import PhaseList
from app.dialogs.presets import preset_menu, presets_file
from app.dialogs.trials import BatchFinder, EnvironmentAdvisor
from app.plots.rate_plot import RatePlot
from app.widgets import Divider, within_screen
from designer import theme
from designer.forms.form import Form
from designer.forms.row import Row, section_label, sentence
from designer.panels.parts import SearchField
from engine.placement.inventory import DeviceInventory
from engine.project.dataset_info import DatasetInfo
from engine.project.environment import EnvironmentOptions
from engine.project.presets import Presets, as_arguments, as_json
from engine.project.project import Project
from engine.project.relevance import unused_options
from engine.project.training import TrainingOptions, batch_size

ENVIRONMENT = "Environment"
_CARD_WORDS = "execution environment auto cpu multi-cpu gpu multi-gpu parallel workers devices cluster"
_CONTENT_WIDTH = 776
_FIRST_ROWS = 24
"""The number of rows that are visible at first."""


class TrainingOptionsDialog(QDialog):
    """Edits how and where a project is trained. `project()` is the project with the chosen options."""

    def __init__(
        self,
        project: Project,
        inventory: DeviceInventory | None = None,
        facts: DatasetInfo | None = None,
        parent: QWidget | None = None,
        presets: Presets | None = None,
        base: Path | None = None,
    ) -> None:
        """`base` is the folder that the project's files lie in, where they are read."""
        super().__init__(parent)
        self.presets = presets or Presets(presets_file())
        self._project, self._inventory, self._facts = project, inventory, facts
        self._environment = project.environment
        self._base = base
        self._judge = OptionChecker(project, facts, base)
        self.setWindowTitle("Training options")
        self.setMinimumSize(872, 480)
        self.resize(within_screen(self, 1080, 820))
        self._grouped = GroupedArea(self, _CONTENT_WIDTH + 48)
        self.area, self.groups, self._holder = self._grouped.area, self._grouped.groups, self._grouped.holder
        self.environment_form = Form(
            project.environment, is_wide=True, skip=("target",), has_headings=False, parent=self._holder
        )
        self.training_form = Form(
            project.training,
            is_wide=True,
            below={"Schedule": self._make_schedule_part(), "Batches": self._make_finder()},
            first=_FIRST_ROWS,
            base=base,
            parent=self._holder,
        )
        self.batch_finder.found.connect(lambda size: self.training_form.set_value("mini_batch_size", size))
        self.finished.connect(self.batch_finder.stop)
        self.training_form.set_unused(unused_options(facts))
        self.cards = EnvironmentCards(self._holder)
        self.placement = PlacementText(self._holder)
        self.sentence = self.placement.sentence
        self.advisor = EnvironmentAdvisor(self.project, lambda: self._samples, self._holder)
        self.finished.connect(self.advisor.stop)
        self.advisor.chosen.connect(self._on_advised)
        self.nothing = QLabel(self._holder)
        theme.mark(self.nothing, "role", "muted")
        self.nothing.hide()
        self._make_buttons()
        self._lay_out()
        self.cards.chosen.connect(self._on_target_chosen)
        self.environment_form.changed.connect(self._on_environment_edited)
        self.training_form.changed.connect(self._refresh)
        for form in (self.environment_form, self.training_form):
            form.validity_changed.connect(self._refresh)
        theme.changed.connect(self._refresh)
        self._refresh()
        self._order_tabs()
        self.cards.cards[self._environment.target].setFocus()

    def project(self) -> Project:
        """Return the project with the chosen options."""
        return replace(self._project, training=self.training, environment=self._environment)

    @property
    def training(self) -> TrainingOptions:
        """The training options as edited."""
        record = self.training_form.record
        assert isinstance(record, TrainingOptions)
        return record

    def set_inventory(self, inventory: DeviceInventory | None) -> None:
        """Set the devices of this machine, once they are known."""
        self._inventory = inventory
        self._refresh()

    # The window's parts

    def _make_buttons(self) -> None:
        self.count_label = QLabel()
        theme.mark(self.count_label, "role", "muted")
        self.reset_button = QPushButton("Reset all")
        self.reset_button.clicked.connect(self.reset_all)
        self.trouble_button = QPushButton()
        self.trouble_button.setToolTip("Go to the problem")
        self.trouble_button.clicked.connect(self.show_trouble)
        self.changed_button = QPushButton("Show only these")
        self.changed_button.setCheckable(True)
        self.changed_button.toggled.connect(self._on_only_changed)
        self.copy_button = QPushButton("Copy…")
        self.copy_button.setToolTip("Copy the options that differ from the defaults")
        menu = QMenu(self)
        for words, written in (("Copy as JSON", as_json), ("Copy as --set arguments", as_arguments)):
            menu.addAction(words).triggered.connect(lambda _=False, written=written: self._copy(written))
        self.copy_menu = menu
        self.copy_button.clicked.connect(self._show_copy_menu)
        for link in (self.reset_button, self.changed_button, self.copy_button, self.trouble_button):
            theme.mark(link, "role", "link")
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.clicked.connect(self.reject)
        self.ok_button = QPushButton("OK")
        self.ok_button.setMinimumWidth(64)
        theme.mark(self.ok_button, "primary", True)
        self.ok_button.clicked.connect(self.accept)
        self.presets_button = QPushButton("Presets…")
        self.presets_button.setToolTip("Training options under a name")
        self.presets_button.clicked.connect(self._show_presets)
        theme.mark(self.presets_button, "role", "link")
        links = (self.reset_button, self.changed_button, self.copy_button, self.trouble_button, self.presets_button)
        for button in (*links, self.cancel_button, self.ok_button):
            button.setAutoDefault(False)  # Enter in a field must not close the dialog

    def _show_copy_menu(self) -> None:
        above = -self.copy_menu.sizeHint().height() - 4
        self.copy_menu.popup(self.copy_button.mapToGlobal(QPoint(0, above)))

    def _show_presets(self) -> None:
        menu = preset_menu(self, self.presets, self.training, self._use_preset)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.presets_button.mapToGlobal(QPoint(0, self.presets_button.height() + 4)))

    def _use_preset(self, options: TrainingOptions) -> None:
        """Apply the training options of a preset; invalid input is discarded."""
        self.training_form.set_record(options, keep_typing=False)
        self._refresh()

    def _copy(self, written: Callable[..., str]) -> None:
        QGuiApplication.clipboard().setText(written(training=self.training, environment=self._environment))

    def _lay_out(self) -> None:
        self._fill_area()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_top())
        column.addWidget(Divider())
        self._grouped.set_headings({ENVIRONMENT: None, **self.training_form.sections})
        column.addWidget(self._grouped, 1)
        column.addWidget(Divider())
        column.addLayout(self._make_bottom())

    def _order_tabs(self) -> None:
        """Let the Tab key go down the dialog. Rows that are made later take their places before the buttons."""
        top = [self.presets_button, self.search, self._grouped.groups, *self.cards.cards.values()]
        asking = [self.advisor.button, self.advisor.use_button]
        forms = [*self.environment_form.tab_stops(), *self.training_form.tab_stops()]
        links = [self.changed_button, self.copy_button, self.reset_button, self.trouble_button]
        for before, after in pairwise([*top, *asking, *forms, *links, self.cancel_button, self.ok_button]):
            QWidget.setTabOrder(before, after)

    def _make_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(24, 16, 24, 16)
        title = QLabel("Training options")
        theme.mark(title, "role", "title")
        self.search = SearchField("Search options…", "Search options")
        self.search.setFixedWidth(260)
        self.search.textChanged.connect(self._on_search)
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(self.presets_button)
        row.addSpacing(8)
        row.addWidget(self.search)
        return row

    def _make_finder(self) -> BatchFinder:
        """Make the part below the fields of the batches."""
        self.batch_finder = BatchFinder(self.project, lambda: self._samples, self._holder)
        return self.batch_finder

    @property
    def _samples(self) -> int | None:
        """The number of training samples, if it is known."""
        return self._facts.samples.get("training") if self._facts else None

    def _make_schedule_part(self) -> QWidget:
        """Make the part below the fields of the schedule: the chain as rows, and a plot of the rate over the run."""
        part = QWidget(self._holder)
        self.phase_list, self.rate_plot = PhaseList(part), RatePlot(part)
        self.phase_list.edited.connect(lambda phases: self.training_form.set_value("schedule_chain", phases))
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.phase_list)
        column.addWidget(self.rate_plot)
        return part

    def _fill_area(self) -> None:
        column = QVBoxLayout(self._holder)
        column.setContentsMargins(24, 20, 24, 24)
        column.setSpacing(0)
        self._environment_part = QWidget(self._holder)
        environment = QVBoxLayout(self._environment_part)
        environment.setContentsMargins(0, 0, 0, 20)
        environment.setSpacing(12)
        environment.addWidget(section_label("Execution environment"))
        environment.addWidget(self.cards)
        environment.addWidget(self.placement)
        environment.addWidget(self.advisor)
        self.environment_form.setContentsMargins(0, 0, 0, 24)
        column.addWidget(self._environment_part)
        column.addWidget(self.environment_form)
        column.addWidget(self.training_form)
        column.addWidget(self.nothing)
        column.addStretch(1)

    def _make_bottom(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(24, 14, 24, 14)
        row.setSpacing(8)
        row.addWidget(self.count_label)
        row.addWidget(self.changed_button)
        row.addWidget(self.copy_button)
        row.addWidget(self.reset_button)
        row.addStretch(1)
        row.addWidget(self.trouble_button)
        row.addSpacing(8)
        row.addWidget(self.cancel_button)
        row.addWidget(self.ok_button)
        return row

    # Edits

    def _on_target_chosen(self, target: str) -> None:
        self._environment = self._environment.replace(target=target)
        self.environment_form.set_record(self._environment)
        self._refresh()

    def _on_advised(self, target: str, strategy: str) -> None:
        """Choose what the advisor recommends; without a strategy there is one worker."""
        values = {"target": target, **({"strategy": strategy} if strategy else {})}
        self._environment = self._environment.replace(**values)
        self.environment_form.set_record(self._environment)
        self._refresh()

    def _on_environment_edited(self) -> None:
        record = self.environment_form.record
        assert isinstance(record, EnvironmentOptions)
        self._environment = record
        self._refresh()

    def reset_all(self) -> None:
        """Reset every option to its default."""
        self.environment_form.reset_all()
        self.training_form.reset_all()
        self._on_target_chosen(EnvironmentOptions.target.default_for(self._environment))

    # What is shown

    def _refresh(self, *_: object) -> None:
        self.cards.show_state(
            self._environment.target, card_texts(self._environment, self._inventory, self._batch(self.training))
        )
        self.training_form.set_problems(self._judge.problems(self.training), self._judge.warnings(self.project()))
        beside = self._judge.of_environment(self.project())
        self.environment_form.set_problems(beside)
        hidden = next((sentence(words) for name, words in beside.items() if not self._environment.is_visible(name)), "")
        self.phase_list.show_phases(self.training.schedule_chain)
        self.phase_list.setVisible(self.training.is_visible("schedule_chain"))
        self.placement.show_project(self.project(), self._inventory, self._samples, hidden)
        self.rate_plot.show_options(self.training, self._samples, self.placement.rate_scale)
        refusal = self.placement.refusal
        self._show_count()
        is_new = (self._environment, self._batch(self.training)) != (
            self._project.environment,
            self._batch(self._project.training),
        )
        # An environment of another machine that the project came with may stay: it says why, and keeps nobody from
        # changing something else.
        reason = self.environment_form.reason or self.training_form.reason or (refusal if is_new else "")
        self.ok_button.setEnabled(not reason)
        self.ok_button.setToolTip(reason)
        self.ok_button.setAccessibleDescription(reason)
        row = self._row_in_trouble()
        self.trouble_button.setText(f"Go to {row.field.label}" if row else "Go to Environment")
        self.trouble_button.setVisible(bool(reason))
        self.environment_form.setVisible(any(row.is_shown for row in self.environment_form.rows.values()))
        self._show_groups()

    def _batch(self, options: TrainingOptions) -> int:
        """Return the samples per step: all training samples for a full-batch solver, if their number is known."""
        return batch_size(options, self._samples)

    def _show_groups(self) -> None:
        is_empty = self._environment_part.isHidden() and self.environment_form.isHidden()
        self._grouped.hide_groups([ENVIRONMENT] if is_empty else [])

    def _show_count(self) -> None:
        count = len(self.training.changed()) + len(self._environment.changed())
        self.count_label.setText(f"{count:,} changed from the defaults" if count else "All options have their defaults")
        has_typed = any(row.error for row in self._rows())
        self.reset_button.setVisible(bool(count) or has_typed)
        self.copy_button.setVisible(bool(count))
        self.changed_button.setVisible(bool(count) or self.changed_button.isChecked())

    @property
    def _has_default_target(self) -> bool:
        return "target" not in self._environment.changed()

    def _rows(self) -> list[Row]:
        return [*self.environment_form.rows.values(), *self.training_form.rows.values()]

    def _row_in_trouble(self) -> Row | None:
        return next((row for row in self._rows() if row.message and row.applies), None)

    def show_trouble(self) -> None:
        """Scroll the first problem into view."""
        self.search.clear()
        self.changed_button.setChecked(False)
        row = self._row_in_trouble()
        widget = row.widget if row else self.cards.cards[self._environment.target]
        self.area.ensureWidgetVisible(widget, 0, 80)
        widget.setFocus(Qt.FocusReason.OtherFocusReason)

    # Finding

    def _on_only_changed(self, is_only: bool) -> None:
        self.changed_button.setText("Show all" if is_only else "Show only these")
        self._on_search(self.search.text())

    def _on_search(self, text: str) -> None:
        words, only = text.lower().split(), self.changed_button.isChecked()
        has_cards = all(word in _CARD_WORDS for word in words) and not (only and self._has_default_target)
        self._environment_part.setVisible(has_cards)
        forms = (self.environment_form, self.training_form)
        num_found = sum(form.search(text, only_changed=only) for form in forms)
        self.environment_form.setVisible(any(row.is_shown for row in self.environment_form.rows.values()))
        self.nothing.setText(f"No option matches “{text}”." if words else "All options have their defaults.")
        self.nothing.setVisible(not num_found and not has_cards)
        self._show_groups()
        self.area.verticalScrollBar().setValue(0)

    def changeEvent(self, event: QEvent) -> None:
        """Read files again that may have been edited meanwhile, when the dialog becomes active."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self._base is not None:
            self._refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys: Enter presses the focused button, or goes from the search to the first match; Ctrl+Enter is OK;
        Escape cancels. Letters that no field takes go to the search."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.matches(QKeySequence.StandardKey.Find):
                self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            elif event.text().isalpha() and not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
                self.search.setFocus(Qt.FocusReason.OtherFocusReason)
                self.search.insert(event.text())
            else:
                super().keyPressEvent(event)
            return
        focused = self.focusWidget()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.ok_button.click() if self.ok_button.isEnabled() else self.show_trouble()
        elif isinstance(focused, QPushButton):
            focused.click()
        elif focused is self.search and self.search.text():
            row = next((row for row in self._rows() if row.is_shown), None)
            if row is not None:
                row.widget.setFocus(Qt.FocusReason.TabFocusReason)
