"""The Training Options dialog, made from the declared fields of `TrainingOptions` and `EnvironmentOptions`."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.data.preview_tiles import can_augment
from netwright.app.dialog import Dialog
from netwright.app.dialogs.augment_preview import AugmentPreview, Sampler
from netwright.app.dialogs.environment_cards import EnvironmentCards, PlacementText, card_texts
from netwright.app.dialogs.grouped_area import GroupedArea
from netwright.app.dialogs.option_buttons import OptionButtons
from netwright.app.dialogs.option_checks import OptionChecker
from netwright.app.dialogs.option_pages import COMMON_PAGE, DATA_PAGE, ENVIRONMENT, PAGES, names_on, page_of
from netwright.app.dialogs.option_probes import BatchFinder, EnvironmentAdvisor
from netwright.app.dialogs.option_sweeps import OptionSweeps
from netwright.app.dialogs.phase_list import PhaseList
from netwright.app.dialogs.presets_link import PresetsLink, presets_file
from netwright.app.manual_pages import OPTIONS
from netwright.app.manual_window import show_page
from netwright.app.plots.rate_plot import RatePlot
from netwright.app.widgets import Divider, Notice, within_screen
from netwright.designer import theme
from netwright.designer.forms.form import Form
from netwright.designer.forms.line_editors import as_typed
from netwright.designer.forms.row import Row, section_label, sentence
from netwright.designer.language import noop, tr, translation
from netwright.designer.panels.parts import SearchField
from netwright.engine.core.part_registry import entry
from netwright.engine.placement.inventory import DeviceInventory
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.presets import Presets
from netwright.engine.project.project import Project
from netwright.engine.project.relevance import unused_options
from netwright.engine.project.training import COMMON, TrainingOptions, batch_size

_CARD_WORDS = "execution environment auto cpu multi-cpu gpu multi-gpu parallel workers devices cluster"
_CONTENT_WIDTH = 830
CHANGE_RUN = noop("Change rate or epochs…")
TRAINING_NOW = noop(
    "A run is training. Changes here are for the next run. Its learn rate and epochs can be changed now."
)


class TrainingOptionsDialog(Dialog):
    """Edits how and where a project is trained. `project()` is the project with the chosen options."""

    change_requested = Signal()
    """The run that trains is to get another learn rate or number of epochs."""

    def __init__(
        self,
        project: Project,
        inventory: DeviceInventory | None = None,
        facts: DatasetInfo | None = None,
        parent: QWidget | None = None,
        presets: Presets | None = None,
        base: Path | None = None,
        sampler: Sampler | None = None,
    ) -> None:
        """`base` is the folder that the project's files lie in, where they are read. `sampler` asks for the samples
        that show what augmentation does."""
        super().__init__(parent)
        self._project, self._inventory, self._facts = project, inventory, facts
        self._environment, self._page, self._base = project.environment, COMMON_PAGE, base
        self._judge = OptionChecker(project, facts, base)
        self.setWindowTitle(tr("Training options"))
        self.setMinimumSize(872, 480)
        self.resize(within_screen(self, 1080, 820))
        self._grouped = GroupedArea(self, _CONTENT_WIDTH + 48)
        self.area, self.groups, self._holder = self._grouped.area, self._grouped.groups, self._grouped.holder
        self._make_forms()
        self._make_parts()
        self.presets_button = PresetsLink(presets or Presets(presets_file()), lambda: self.training, self)
        self.presets_button.chosen.connect(self._use_preset)
        can_show = sampler is not None and facts is not None and can_augment(facts)
        self.augmented = AugmentPreview(sampler, self) if sampler is not None and can_show else None
        self._make_buttons()
        self._lay_out()
        self._connect()
        theme.changed.connect(self._refresh)
        self._refresh()
        self._order_tabs()
        self.cards.cards[self._environment.target].setFocus()

    def _make_forms(self) -> None:
        make_picker = entry("dialogs", "cluster_picker")
        picker = make_picker(self._holder) if make_picker is not None else None
        self.environment_form = Form(
            self._project.environment,
            is_wide=True,
            below={"cluster": picker} if picker is not None else {},
            skip=("target",),
            has_headings=False,
            page=COMMON,
            reference=OPTIONS,
            parent=self._holder,
        )
        if picker is not None:
            picker.chosen.connect(lambda name: self.environment_form.set_value("cluster", name))
        self.training_form = Form(
            self._project.training,
            is_wide=True,
            below={"Schedule": self._make_schedule_part(), "mini_batch_size": self._make_finder()},
            page=COMMON,
            base=self._base,
            reference=OPTIONS,
            parent=self._holder,
        )
        self.batch_finder.chosen.connect(lambda size: self.training_form.set_value("mini_batch_size", size))
        self.finished.connect(self.batch_finder.stop)
        self.sweeps = OptionSweeps(self.project, self._project.experiment, self.training_form, self)
        self.training_form.set_unused(unused_options(self._facts))

    def _make_parts(self) -> None:
        """Make the widgets beside the forms: environments, advice, and the notice of a run that trains."""
        self.cards = EnvironmentCards(self._holder)
        self.placement = PlacementText(self._holder)
        self.sentence = self.placement.sentence
        self.advisor = EnvironmentAdvisor(self.project, lambda: self._samples, self._holder)
        self.finished.connect(self.advisor.stop)
        self.advisor.chosen.connect(self._on_advised)
        self.run_notice = Notice(self._holder)
        self.nothing = QLabel(self._holder)
        theme.mark(self.nothing, "role", "muted")
        self.nothing.hide()

    def _connect(self) -> None:
        self.cards.chosen.connect(self._on_target_chosen)
        self.environment_form.changed.connect(self._on_environment_edited)
        self.training_form.changed.connect(self._on_training_edited)
        self.sweeps.edit_requested.connect(self._confirm)
        for form in (self.environment_form, self.training_form):
            form.validity_changed.connect(self._refresh)
            form.reference_requested.connect(lambda _: show_page(OPTIONS, self))

    def project(self) -> Project:
        """Return the project with the chosen options."""
        project = self._project.with_section("experiment", self.sweeps.experiment)
        return replace(project, training=self.training, environment=self._environment)

    @property
    def training(self) -> TrainingOptions:
        """The training options as edited."""
        record = self.training_form.record
        assert isinstance(record, TrainingOptions)
        return record

    def set_running(self, is_running: bool) -> None:
        """Show that the changes do not apply to the run that trains, and which options of it can be changed now."""
        if is_running:
            self.run_notice.say(translation(TRAINING_NOW), {translation(CHANGE_RUN): self.change_requested.emit})
        elif not self.run_notice.isHidden():  # it stays: nothing moves under the pointer
            self.run_notice.say(tr("The run has ended. Changes here are for the next run."), {})

    def set_inventory(self, inventory: DeviceInventory | None) -> None:
        """Set the devices of this machine, once they are known."""
        self._inventory = inventory
        self._refresh()

    # The window's parts

    def _make_buttons(self) -> None:
        self.buttons = OptionButtons(lambda: {"training": self.training, "environment": self._environment}, self)
        self.buttons.reset.clicked.connect(self.reset_all)
        self.buttons.trouble.clicked.connect(self.show_trouble)
        self.buttons.only_changed.connect(self._show_found)
        self.buttons.cancel.clicked.connect(self.reject)
        self.buttons.ok.clicked.connect(self.accept)

    def _use_preset(self, options: TrainingOptions) -> None:
        """Apply the training options of a preset; invalid input is discarded. A rate that was set for the solver before
        is kept, with the new solver's on offer."""
        before = self.training
        self.training_form.set_record(options, keep_typing=False)
        self.training_form.rows["initial_learn_rate"].withdraw()
        if before.solver != options.solver and before.initial_learn_rate == options.initial_learn_rate:
            self._offer_rate()
        self._refresh()

    def _lay_out(self) -> None:
        self._fill_area()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_top())
        column.addWidget(Divider())
        self._grouped.set_pages(PAGES)
        self._grouped.chosen.connect(self.show_page)
        column.addWidget(self._grouped, 1)
        if self.augmented is not None:
            self.augmented.hide()
            column.addWidget(self.augmented)
        for part in (self.sweeps, Divider(), self.buttons):
            column.addWidget(part)

    def _order_tabs(self) -> None:
        """Let the Tab key go down the dialog. Rows that are made later take their places before the buttons."""
        top = [self.presets_button, self.search, self._grouped.groups, *self.cards.cards.values()]
        asking = [self.advisor.button, self.advisor.use_button]
        forms = [*self.environment_form.tab_stops(), *self.training_form.tab_stops()]
        buttons = [*self.buttons.links, self.buttons.cancel, self.buttons.ok]
        for before, after in pairwise([*top, *asking, *forms, *buttons]):
            QWidget.setTabOrder(before, after)

    def _make_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(24, 16, 24, 16)
        title = QLabel(tr("Training options"))
        theme.mark(title, "role", "title")
        self.search = SearchField(tr("Search options…"), tr("Search options"))
        self.search.setFixedWidth(260)
        self.search.textChanged.connect(self._show_found)
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
        environment.addWidget(section_label(tr("Execution environment")))
        environment.addWidget(self.cards)
        environment.addWidget(self.placement)
        environment.addWidget(self.advisor)
        self.environment_form.setContentsMargins(0, 0, 0, 24)
        for notice in (self.run_notice, self.presets_button.notice):
            column.addWidget(notice)
        column.addWidget(self._environment_part)
        column.addWidget(self.environment_form)
        column.addWidget(self.training_form)
        column.addWidget(self.nothing)
        column.addStretch(1)

    # Edits

    def _on_target_chosen(self, target: str) -> None:
        self._on_advised(target, "")

    def _on_advised(self, target: str, strategy: str) -> None:
        """Select the environment that the advisor recommends; without a strategy there is one worker."""
        values = {"target": target, **({"strategy": strategy} if strategy else {})}
        self._environment = self._environment.replace(**values)
        self.environment_form.set_record(self._environment)
        self._refresh()

    def _on_environment_edited(self) -> None:
        record = self.environment_form.record
        assert isinstance(record, EnvironmentOptions)
        self._environment = record
        self._refresh()

    def _on_training_edited(self, name: str) -> None:
        if name == "solver":
            self._offer_rate()
        elif name == "initial_learn_rate":
            self.training_form.rows[name].withdraw()
        self._refresh()

    def _offer_rate(self) -> None:
        """Offer the default rate of another solver, where one was set for the solver before."""
        options, row = self.training, self.training_form.rows["initial_learn_rate"]
        row.withdraw()
        if options.is_changed("initial_learn_rate") and options.is_visible("initial_learn_rate"):
            default = as_typed(row.field, row.field.default_for(options))
            value = as_typed(row.field, options.initial_learn_rate)
            told = tr("{value} was set for another solver.", value=value)
            cure = tr("Use {value}, the default of {solver}", value=default, solver=options.solver)
            row.offer(told, cure, lambda: self.training_form.reset(row.field.name))

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
        self.environment_form.set_resolved(self.placement.resolved)
        self.rate_plot.show_options(self.training, self._samples, self.placement.rate_scale)
        refusal = self.placement.refusal
        self.buttons.show_count(has_typed=any(row.error for row in self._rows()))
        is_new = (self._environment, self._batch(self.training)) != (
            self._project.environment,
            self._batch(self._project.training),
        )
        # An environment of another machine that the project came with may stay: it says why, and keeps nobody from
        # changing something else.
        reason = self.environment_form.reason or self.training_form.reason or (refusal if is_new else "")
        row = self._row_in_trouble()
        self.buttons.show_refusal(reason, translation(row.field.label if row else ENVIRONMENT))
        self.environment_form.setVisible(any(row.is_shown for row in self.environment_form.rows.values()))
        self._show_groups()
        if self.augmented is not None:
            self.augmented.show_project(self.project())

    def _batch(self, options: TrainingOptions) -> int:
        """Return the samples per step: all training samples for a full-batch solver, if their number is known."""
        return batch_size(options, self._samples)

    def _show_groups(self) -> None:
        """List all pages, or those with something that the search finds."""
        rows = self.training_form.rows.values()
        groups = {row.field.group for row in rows if (row.applies if self._is_filtered else row.is_relevant)}
        has_environment = not (self._environment_part.isHidden() and self.environment_form.isHidden())
        pages = [COMMON_PAGE, ENVIRONMENT] if not self._is_filtered else [ENVIRONMENT] if has_environment else []
        pages += [page for page, names in PAGES.items() if groups.intersection(names)]
        self._grouped.show_only(pages)
        self._grouped.mark("" if self._is_filtered else self._page)

    @property
    def _is_filtered(self) -> bool:
        return bool(self.search.text().split()) or self.buttons.changed.isChecked()

    def show_page(self, name: str) -> None:
        """Show a page, or that of a group, complete and from its beginning, instead of the matches of a search."""
        self._page = page_of(name)
        self.search.blockSignals(True)
        self.search.clear()
        self.search.blockSignals(False)
        self.buttons.show_all()
        self._show_found()
        if name in self.training_form.sections:
            self.area.ensureWidgetVisible(self.training_form.sections[name], 0, self.area.viewport().height())

    def _rows(self) -> list[Row]:
        return [*self.environment_form.rows.values(), *self.training_form.rows.values()]

    def _row_in_trouble(self) -> Row | None:
        return next((row for row in self._rows() if row.message and row.is_relevant), None)

    def show_trouble(self) -> None:
        """Scroll the first problem into view."""
        row = self._row_in_trouble()
        self.show_page(row.field.group if row else ENVIRONMENT)
        widget = row.widget if row else self.cards.cards[self._environment.target]
        self.area.ensureWidgetVisible(widget, 0, 80)
        widget.setFocus(Qt.FocusReason.OtherFocusReason)

    # Finding

    def _show_found(self, *_: object) -> None:
        """Show the matches of the search, or the changed options; without either, the page."""
        text, only = self.search.text(), self.buttons.changed.isChecked()
        words = text.lower().split()
        has_cards = all(word in _CARD_WORDS for word in words) and not (
            only and "target" not in self._environment.changed()
        )
        if not self._is_filtered:
            has_cards = self._page in (COMMON_PAGE, ENVIRONMENT)
        self._environment_part.setVisible(has_cards)
        forms = (self.environment_form, self.training_form)
        num_found = 0
        for form, names in zip(forms, names_on(self._page), strict=True):
            num_found += form.search(text, only_changed=only, page=names)
        self.environment_form.setVisible(any(row.is_shown for row in self.environment_form.rows.values()))
        none = tr("No option matches “{text}”.", text=text) if words else tr("All options have their defaults.")
        self.nothing.setText(none)
        self.nothing.setVisible(self._is_filtered and not num_found and not has_cards)
        self._show_groups()
        if self.augmented is not None:
            self.augmented.setVisible(self._page == DATA_PAGE and not self._is_filtered)
        self._grouped.scroll_to_top()

    def changeEvent(self, event: QEvent) -> None:
        """Read files again that may have been edited meanwhile, when the dialog becomes active."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self._base is not None:
            self._refresh()

    def _confirm(self) -> None:
        self.buttons.ok.click() if self.buttons.ok.isEnabled() else self.show_trouble()

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
            self._confirm()
        elif isinstance(focused, QPushButton):
            focused.click()
        elif focused is self.search and self.search.text():
            row = next((row for row in self._rows() if row.is_shown), None)
            if row is not None:
                row.widget.setFocus(Qt.FocusReason.TabFocusReason)
