"""The Data tab: the source of the data, its splits, and a preview."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from netwright.app.data.data_checks import DataChecks
from netwright.app.data.data_guesser import DataGuesser
from netwright.app.data.data_header import DataHeader, DataSettings
from netwright.app.data.data_recipe import Recipe
from netwright.app.data.dataset_tracker import CANCELLED, DatasetTracker
from netwright.app.data.empty_page import EmptyPage
from netwright.app.data.file_check import FileCheck
from netwright.app.data.findings_strip import FindingsLine, LineItem, ReviewPart
from netwright.app.data.first_samples import FirstSamples
from netwright.app.data.message_page import FetchPage, MessagePage
from netwright.app.data.option_words import in_words, source_note
from netwright.app.data.preview_panel import Preview
from netwright.app.data.preview_tiles import can_augment
from netwright.app.data.proposal import ProposalCard
from netwright.app.data.sample_requests import SampleRequests
from netwright.app.data.samples_bar import changes_of
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.app.widgets import Divider, Notice, Pages
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.first_network import FirstNetwork
from netwright.designer.forms.row import sentence
from netwright.designer.language import in_sentence, noop, tr, translation
from netwright.engine.project.check_augmentation import augmentation_problems
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DamageWarning, DatasetInfo
from netwright.engine.project.sweeps import varied_paths
from netwright.engine.project.user_code import is_data_untrusted

COLON = re.compile(": |：")
"""In Chinese sentences as well."""
MOST_NAMED = 2
CANCEL, AGAIN, TRUST, ANOTHER = noop("Cancel"), noop("Try again"), noop("Trust the code…"), noop("Another kind…")
CURED = frozenset({"table", "series", "sequences"})
"""Sources of which the engine knows cures, where they are refused."""


class DataTab(QWidget):
    """Edits the section `data` of the project, and shows what the engine reads there."""

    network_made = Signal()
    """A network for the data was made, as the last step."""
    trust_wanted = Signal()
    """The user wants to let the code run that gives the data."""
    augmentation_wanted = Signal()
    """The user asks for the options of augmentation."""
    sweep_requested = Signal(str)
    """The path of an option that is to vary in an experiment, or that varies and whose values are to be seen."""
    sweep_ended = Signal(str)

    def __init__(self, shell: Shell, dataset: DatasetTracker, guesser: DataGuesser) -> None:
        super().__init__()
        editor = shell.editor
        self._editor, self._documents, self._dataset = editor, shell.documents, dataset
        self._guesser, self._shell = guesser, shell
        self._shown: tuple[DataOptions, str] | None = None
        self._epoch = 0
        """The epoch whose augmentation is shown; 0 for the samples as they are."""
        self._changes = changes_of(editor.project)
        self._columns: Sequence[Mapping[str, Any]] = ()
        self._looked: object = None
        """The last request for samples that replace those shown."""
        folder = temporary_folder(self, "preview")
        self._samples = SampleRequests(shell, folder, self._on_looked, self)
        self.side = DataSettings(editor.project.data)
        self.form, self.note = self.side.form, self.side.note
        self.checks = DataChecks(shell.server, shell.documents, self)
        self.files = FileCheck()
        self.review = ReviewPart([self.files, self.checks])
        self.proposal = ProposalCard()
        self.header, self.recipe, self.findings = DataHeader(), Recipe(), FindingsLine()
        self.other, self.again = self.header.other, self.header.again
        self.preview = Preview(self.review, [self.proposal])
        self.empty = EmptyPage()
        self.empty.fill_menu(self.other.menu())
        self.message_page = MessagePage(CANCEL)
        self.message, self.way_out = self.message_page.message, self.message_page.way_out
        self.fetch_page = FetchPage()
        self.first = FirstSamples(shell.server, shell.documents, folder)
        self.notice = Notice()
        theme.mark(self.notice, "role", "plain")
        theme.mark(self.notice.label, "role", "help")
        self.notice.setContentsMargins(-12, -8, -12, -8)  # without a frame it needs no distance from one
        self.pages = Pages()
        for page in (self.empty, self.message_page, self.fetch_page, self.first, self.preview):
            self.pages.addWidget(page)
        self._lay_out()
        self._connect()
        self._show_notice()
        self._on_info(dataset.info)
        self._show_sweeps()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._above = QWidget()
        above = QVBoxLayout(self._above)
        above.setContentsMargins(24, 16, 24, 12)
        above.setSpacing(12)
        for part in (self.header, self.notice, self.recipe, self.findings):
            above.addWidget(part)
        main = QVBoxLayout()
        main.setSpacing(0)
        main.addWidget(self._above)
        main.addWidget(self.pages, 1)
        row.addLayout(main, 1)
        self._edge = Divider()
        self._edge.hide()
        row.addWidget(self._edge)
        row.addWidget(self.side)

    def _connect(self) -> None:
        self.form.changed.connect(self._on_edited)
        self.form.sweep_requested.connect(lambda name: self.sweep_requested.emit(f"data.{name}"))
        self.form.sweep_ended.connect(lambda name: self.sweep_ended.emit(f"data.{name}"))
        self.header.settings.toggled.connect(self._show_settings)
        self.header.again.clicked.connect(self._read_again)
        self.recipe.edited.connect(self._on_fix)
        self.recipe.field_wanted.connect(self._edit_field)
        self.recipe.augmentation_wanted.connect(self.augmentation_wanted)
        self.findings.review_wanted.connect(self.review.setVisible)
        for part in (self.checks, self.files):
            part.changed.connect(self._show_findings)
            part.fix_wanted.connect(self._on_fix)
        self.files.review_wanted.connect(lambda: self.findings.review.setChecked(True))
        self.files.excluded.connect(self._on_excluded)
        self._first_network = FirstNetwork(self._editor, self)
        self._first_network.made.connect(self.network_made)
        self.proposal.make_wanted.connect(self._first_network.make)
        self.proposal.design_wanted.connect(lambda: self._shell.show_tab("design"))
        self.empty.place_wanted.connect(lambda is_folder: self._guesser.choose(is_folder=is_folder))
        self.empty.source_chosen.connect(lambda key: self._use(source=key))
        self.way_out.clicked.connect(self._take_way_out)
        self.fetch_page.fetch_wanted.connect(self._dataset.fetch)
        self.first.changed.connect(self._show_first)
        self.first.cancelled.connect(self._take_way_out)
        self._editor.project_changed.connect(self._on_project_changed)
        self._editor.analysis_changed.connect(self._show_notice)
        self._dataset.changed.connect(self._on_info)
        self._dataset.progressed.connect(self._on_progress)
        self._guesser.changed.connect(self._show_notice)

    def _show_settings(self, is_on: bool) -> None:
        self.side.setVisible(is_on)
        self._edge.setVisible(is_on)

    def _edit_field(self, name: str) -> None:
        """Show an option among all settings, ready to type in."""
        self.header.settings.setChecked(True)
        QTimer.singleShot(0, self, lambda: self.side.edit(name))  # once it has its place

    # ---- choosing ----

    def _use(self, **values: object) -> None:
        project = self._editor.project
        self._editor.apply(tr("Choose data"), replace(project, data=project.data.replace(**values)))

    def _on_edited(self, field: str) -> None:
        project, record = self._editor.project, self.form.record
        assert isinstance(record, DataOptions)
        step = tr("Change {fields}", fields=in_sentence(DataOptions.fields[field].label))
        self._editor.apply(step, replace(project, data=record), merge=f"data.{field}")

    def _on_excluded(self, names: tuple[str, ...]) -> None:
        project = self._editor.project
        text = tr("Leave out files") if names else tr("Include files again")
        self._editor.apply(text, replace(project, data=project.data.replace(excluded_files=names)))

    def _on_fix(self, label: str, values: dict[str, Any]) -> None:
        project = self._editor.project
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        self._editor.apply(label, replace(project, data=project.data.replace(**values)))

    def _on_progress(self, text: str) -> None:
        """Show how far the data is read, while that is waited for."""
        if self._is_waiting:
            self._say(tr("Reading the data: {progress}", progress=text), way_out=CANCEL)

    def _take_way_out(self) -> None:
        if self.message_page.way == TRUST:
            self.trust_wanted.emit()
        elif self.message_page.way == AGAIN:
            self._read_again()
        elif self._samples.cancel():
            self._say(tr("Looking at the samples was cancelled."), way_out=AGAIN)
        else:
            self._dataset.cancel()

    def shutdown(self) -> None:
        """End the checks."""
        self.first.stop()
        self.files.shutdown()
        self.checks.cancel()

    # ---- showing ----

    @property
    def _is_waiting(self) -> bool:
        """Whether a message or the first samples are shown until the data is read."""
        return self.pages.currentWidget() in (self.message_page, self.first) and self.message_page.way == CANCEL

    def _show_first(self) -> None:
        """Show the first samples instead of the message, while that is waited for, or cured."""
        if self._is_waiting:
            self._say(self.message.text(), way_out=CANCEL)
        elif self._dataset.error and self.first.has_samples:
            self.pages.setCurrentWidget(self.first)

    def _show_notice(self) -> None:
        """Show the guessed source of the data, while the project has it, and the network that the data proposes."""
        current, project = self._guesser.brought, self._editor.project
        if current is not None and current.data == project.data:
            self.notice.say(current.text, {**self._guesser.links(), translation(ANOTHER): self._choose_kind})
        else:
            self.notice.say("", {})
        result = self._editor.check_result
        self.proposal.show_project(project, result.starter, result.analysis)
        self._show_recipe()

    def _show_recipe(self) -> None:
        """Show the name of the data, its sizes and the recipe."""
        project = self._editor.project
        info = self._dataset.info if self._dataset.is_current else None
        has_data = project.data.source != "none"
        self._above.setVisible(has_data)
        if has_data:
            self.header.show_data(project.data, info)
        self.recipe.show_options(project.data, info, project.training, self._columns)

    def _show_findings(self) -> None:
        """Show the findings about the data that is shown."""
        options, info = self._editor.project.data, self._dataset.info
        items = [*self.files.items(), *self.checks.items()]
        for warning in info.warnings if info is not None and self._dataset.is_current else ():
            title, tip = [*COLON.split(in_words(warning, options, self._documents.base), maxsplit=1), ""][:2]
            paths = warning.paths if isinstance(warning, DamageWarning) else ()
            title = tr("{count} damaged, left out", count=f"{len(paths):,}") if paths else title
            show = (tr("Show"), lambda: self.findings.review.setChecked(True))
            items.append(LineItem("warning", title, ", ".join(paths[:MOST_NAMED]) or tip, tip, (show,)))
        lead = self.files.lead or self.checks.lead if self._is_settled else ""
        self.findings.show_items(lead, items if self._is_settled else ())
        self.findings.review.setVisible(self._shown is not None)

    @property
    def _is_settled(self) -> bool:
        """Whether the engine has answered about the data: with samples, or with an error."""
        return self._shown is not None or bool(self._dataset.is_current and self._dataset.error)

    def _choose_kind(self) -> None:
        link = self.notice.links[translation(ANOTHER)]
        self._guesser.kinds_menu(link).popup(link.mapToGlobal(link.rect().bottomLeft()))

    def _read_again(self) -> None:
        self._shown = None
        self.files.shutdown()
        self.checks.forget()
        self.first.start(self._editor.project.data, str(self._documents.base))
        self._say(tr("Reading the data…"), way_out=CANCEL)
        self._dataset.refresh(again=True)
        self._show_findings()

    def _show_sweeps(self) -> None:
        """Mark the options that vary in the experiment."""
        varied = varied_paths(self._editor.project)
        self.form.show_sweeps({path.removeprefix("data.") for path in varied if path.startswith("data.")})

    def _on_project_changed(self, _project: object = None) -> None:
        self._show_sweeps()
        if self._editor.project.data != self.form.record:
            self.form.set_record(self._editor.project.data)
            self._show_notice()
        else:
            self._show_recipe()
        changes, self._changes = self._changes, changes_of(self._editor.project)
        if self._shown is None or self._editor.project.data != self._shown[0]:
            self._on_info(self._dataset.info)
        elif changes != self._changes and self._dataset.info is not None:
            self._look_again(self._epoch)

    def _on_info(self, info: DatasetInfo | None) -> None:
        options, base = self._editor.project.data, str(self._documents.base)
        if self._shown != (options, base):
            self._samples.drop()
            self.form.set_resolved({})
            self._columns = ()
        self.note.setText(source_note(options.source))
        shown, self._shown = self._shown, None
        if options.source == "none":
            self.first.stop()
            self.pages.setCurrentWidget(self.empty)
        elif problems := options.problems():
            self._say("\n".join(sentence(message_text(p.message)) for p in problems), is_error=True)
        elif self._dataset.is_current and self._dataset.hosts:
            self.first.stop()
            self.fetch_page.show_hosts(self._dataset.hosts)
            self.pages.setCurrentWidget(self.fetch_page)
        elif self._dataset.is_current and self._dataset.error:
            self._show_refusal(options, base)
        elif info is None or not self._dataset.is_current:
            self.checks.forget()
            self.first.start(options, base)
            self._say(tr("Reading the data…"), way_out=CANCEL)
            self._show_findings()
        elif shown == (options, base):
            self._shown = shown
        else:
            self._shown = (options, base)
            self._say(tr("Looking at samples…"), way_out=CANCEL)
            self._ask(options, base, info)

    def _show_refusal(self, options: DataOptions, base: str) -> None:
        """Say why the data cannot be read, with the cures that there are, and its rows where they can be shown."""
        error = self._dataset.error
        text = in_words(translation(error), options, Path(base))
        way_out = TRUST if is_data_untrusted(options) else AGAIN
        self._say(text, is_error=error != CANCELLED, way_out=way_out)
        if error != CANCELLED and options.source in CURED:
            self.checks.show_refused(options, Path(base))
            self.first.start(options, base, text)

    def _say(self, text: str, *, is_error: bool = False, way_out: str = "") -> None:
        """Show a message instead of the preview, with a link below it."""
        self.message_page.say(text, is_error=is_error, way_out=way_out)
        if way_out != CANCEL:
            self.first.stop()
        elif self.first.has_samples:
            self.first.say(text)
        self.pages.setCurrentWidget(self.first if self.first.has_samples else self.message_page)

    def _ask(self, options: DataOptions, base: str, info: DatasetInfo) -> None:
        def show(answer: dict[str, Any]) -> None:
            if self._shown == (options, base):
                self._show_answer(answer, info)

        def fail(message: str) -> None:
            if self._shown == (options, base):
                self._shown = None
                self._say(message, is_error=True, way_out=AGAIN)

        self._samples.ask({}, show, fail)

    def _show_answer(self, answer: dict[str, Any], info: DatasetInfo) -> None:
        options, base = self._editor.project.data, self._documents.base
        self.first.stop()
        has_files = options.source_type is not None and options.source_type.has_image_files
        self.files.setVisible(has_files)
        notes = [in_words(str(note), options, base) for note in answer.get("notes") or ()]
        self.preview.show_answer({**answer, "notes": notes}, info)
        columns = self._columns = answer.get("columns") or ()
        self.form.offer_columns([str(column["name"]) for column in columns])
        self.form.set_resolved({"response": _response_of(columns)})
        self.pages.setCurrentWidget(self.preview)
        self.checks.show_data(options, base, info)
        if has_files:
            self.files.show_data(options, base, self._documents.hosts)
        else:
            self.files.shutdown()
        self._show_recipe()
        self._show_findings()
        if self.preview.bar is not None:
            self.preview.bar.epoch_chosen.connect(self._look_again)
            self.preview.bar.selection_changed.connect(self._ask_for_samples)
            self._look_again(self._epoch)

    def _on_looked(self, text: str) -> None:
        """Show how far the engine is with samples, while they are waited for."""
        if self._is_waiting:
            self._say(text, way_out=CANCEL)

    # ---- samples as training changes them ----

    def show_augmented(self) -> None:
        """Show the samples as augmented from now on, if the options change them at all."""
        self._look_again(self._epoch or 1)

    def _look_again(self, epoch: int) -> None:
        """Show the samples as augmented in this epoch, or as they are, if the options allow it."""
        info, bar = self._dataset.info, self.preview.bar
        if info is None or bar is None:
            return
        project = self._editor.project
        problem = ""
        if can_augment(info):
            problem = next((message_text(p.message) for p in augmentation_problems(project, info)), "")
        was, self._epoch = self._epoch, epoch if project.training.augments and not problem and can_augment(info) else 0
        bar.show_state(project.training, problem, self._epoch)
        if was or self._epoch:
            self._ask_for_samples()

    def _ask_for_samples(self) -> None:
        """Ask for the samples of an epoch, or for those that the bar selects."""
        options, epoch = self._editor.project.training, self._epoch
        selection = self.preview.bar.selection if self.preview.bar is not None else {}
        view = self._looked = (self._shown, epoch, self._changes, tuple(selection.items()))

        def show(answer: dict[str, Any]) -> None:
            if self._looked == view and self._shown is not None:
                self.preview.show_samples(answer)

        def fail(message: str) -> None:
            if self._looked == view and self.preview.bar is not None:
                self._epoch = 0
                self.preview.bar.show_state(options, message, 0)

        self._samples.ask({"epoch": epoch} if epoch else selection, show, fail)


def _response_of(columns: Sequence[Mapping[str, Any]]) -> str:
    """Return the names of the columns that are predicted, and whether it is the last one."""
    names = [str(column["name"]) for column in columns if column["role"] == "response"]
    is_last = bool(columns) and names == [str(columns[-1]["name"])]
    return tr("{name} (last column)", name=names[0]) if is_last else ", ".join(names)
