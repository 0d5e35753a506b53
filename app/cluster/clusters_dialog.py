"""The dialog of cluster profiles: a list, a form that is made from the fields of a profile, and a validation in stages
that are shown as they end."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.messages import ask
from netwright.app.processes import DisposableProcess
from netwright.app.shell import Shell
from netwright.app.widgets import Divider, within_screen
from netwright.designer import theme
from netwright.designer.engine_messages import message_sentences, message_text
from netwright.designer.forms.form import Form
from netwright.designer.forms.row import section_label
from netwright.designer.language import noop, tr, translation
from netwright.engine.cluster.profile_file import (
    exported,
    profiles_in,
    read_profiles,
    remove_profile,
    save_profile,
    set_default,
    write_profile,
)
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import running_ray
from netwright.engine.cluster.validation import STAGES
from netwright.engine.core.errors import UserError
from netwright.engine.core.process import engine_command

_STATES = {"passed": ("✓", "good"), "failed": ("✕", "error"), "skipped": ("–", "muted")}
FILES = noop("Cluster profiles (*.toml)")
NONE = noop("A profile says where a cluster is and what a worker gets. Add one to train beyond this machine.")


class ClustersDialog(Dialog):
    """Edits the profiles of the user. A change is saved as soon as the profile is valid. `validation` returns the
    command that tries a profile by its name."""

    def __init__(self, parent: QWidget | None = None, validation: Callable[[str], Sequence[str]] | None = None) -> None:
        super().__init__(parent)
        self._validation = validation or _validation_command
        self._saved = ""
        """Name under which the profile that is shown was saved; empty for one that was not."""
        self.trial = DisposableProcess(self)
        self.trial.said.connect(self._take)
        self.trial.ended.connect(self._on_closed)
        self.setWindowTitle(tr("Clusters"))
        self.resize(within_screen(self, 980, 760))
        self.profiles = QListWidget()
        self.profiles.setAccessibleName(tr("Cluster profiles"))
        self.profiles.currentItemChanged.connect(self._on_chosen)
        self.form: Form | None = None
        self.labels: dict[str, tuple[QLabel, ...]] = {}
        """Sign, title and detail of each stage."""
        self.state = QLabel()
        self.state.setWordWrap(True)
        self._make_buttons()
        self._lay_out()
        self.finished.connect(self.trial.stop)
        self._fill(read_profiles().default)

    def _make_buttons(self) -> None:
        self.add_button, self.remove_button = QPushButton(tr("Add")), QPushButton(tr("Remove…"))
        self.default_button = QPushButton(tr("Make default"))
        self.default_button.setToolTip(tr("Projects that name no profile train on this one"))
        self.import_button, self.export_button = QPushButton(tr("Import…")), QPushButton(tr("Export…"))
        self.export_button.setToolTip(tr("A file for others, without the path of a token"))
        self.validate_button, self.close_button = QPushButton(tr("Validate")), QPushButton(tr("Close"))
        self.close_button.setDefault(True)
        for button, work in (
            (self.add_button, self.add),
            (self.remove_button, self.remove),
            (self.default_button, self.make_default),
            (self.import_button, self.import_file),
            (self.export_button, self.export_file),
            (self.validate_button, self.validate),
            (self.close_button, self.accept),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, work=work: work())

    def _lay_out(self) -> None:
        left, row = QVBoxLayout(), QHBoxLayout()
        left.setContentsMargins(16, 16, 8, 14)
        left.addWidget(self.profiles, 1)
        for button in (self.add_button, self.remove_button):
            row.addWidget(button)
        left.addLayout(row)
        self._holder, self._area = QVBoxLayout(), QScrollArea()
        self._holder.setContentsMargins(16, 16, 24, 14)
        self._holder.setSpacing(10)
        self.stages_heading, self.stages = section_label(tr("Validation")), QGridLayout()
        self.stages.setHorizontalSpacing(12)
        self.stages.setColumnStretch(2, 1)
        self._holder.addSpacing(8)
        self._holder.addWidget(self.stages_heading)
        self._holder.addLayout(self.stages)
        self._holder.addStretch(1)
        content, list_side, right = QWidget(), QWidget(), QSplitter()
        content.setLayout(self._holder)
        list_side.setLayout(left)
        self._area.setWidget(content)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        right.addWidget(list_side)
        right.addWidget(self._area)
        right.setStretchFactor(1, 1)
        right.setSizes([190, 790])
        right.setChildrenCollapsible(False)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(16, 12, 24, 14)
        bottom.setSpacing(8)
        bottom.addWidget(self.state, 1)
        for button in (self.import_button, self.export_button, self.default_button):
            theme.mark(button, "role", "link")
        for button in (self.import_button, self.export_button, self.default_button, self.validate_button):
            bottom.addWidget(button)
        bottom.addWidget(self.close_button)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(right, 1)
        outer.addWidget(Divider())
        outer.addLayout(bottom)

    @property
    def chosen(self) -> str:
        """The name of the profile that is shown; empty for none that is saved."""
        return self._saved

    # ---- the list ----

    def _fill(self, selection: str) -> None:
        """List the profiles, and show one of them."""
        self.profiles.blockSignals(True)
        self.profiles.clear()
        try:
            profiles = read_profiles()
        except UserError as error:
            self._say(message_text(error), "error")
            self.add_button.setEnabled(False)
            return
        finally:
            self.profiles.blockSignals(False)
        for name, profile in profiles.by_name.items():
            item = QListWidgetItem(tr("{name}  (default)", name=name) if name == profiles.default else name)
            place = profile.address or tr("this machine")
            item.setToolTip(f"{profile.kind}: {place}")
            item.setData(Qt.ItemDataRole.UserRole, name)
            self.profiles.addItem(item)
        row = next((i for i, name in enumerate(profiles.by_name) if name == selection), 0)
        self.profiles.setCurrentRow(row if profiles.by_name else -1)
        if not profiles.by_name:
            self._show(None)
            ray, text = running_ray(), translation(NONE)
            where = tr("Ray runs on this machine at {address}: its address is auto.", address=ray) if ray else ""
            self._say(f"{text} {where}".strip())

    def _on_chosen(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            name = str(item.data(Qt.ItemDataRole.UserRole))
            self._saved = name
            self._show(read_profiles().by_name.get(name))
            self._say("")

    def _show(self, profile: ClusterProfile | None) -> None:
        """Show the form of a profile."""
        self.trial.stop()
        self._clear_stages()
        if self.form is not None:
            self._holder.removeWidget(self.form)
            self.form.hide()
            self.form.deleteLater()
            self.form = None
        if profile is not None:
            self.form = Form(profile, is_wide=True)
            self.form.changed.connect(self._save)
            self._holder.insertWidget(0, self.form)
        is_saved = profile is not None and bool(self._saved)
        for button in (self.remove_button, self.default_button, self.export_button, self.validate_button):
            button.setEnabled(is_saved)

    def add(self) -> None:
        """Show a new profile, which is saved once it is valid."""
        profiles = read_profiles().by_name
        name = next(name for number in range(1, 1000) if (name := f"cluster_{number}") not in profiles)
        self.profiles.blockSignals(True)
        self.profiles.setCurrentRow(-1)
        self.profiles.blockSignals(False)
        self._saved = ""
        self._show(ClusterProfile(name=name, address="auto" if running_ray(profiles.values()) else ""))
        self._save()

    def _save(self, _field: str = "") -> None:
        """Save the current profile if it is valid, else show its error."""
        if self.form is None:
            return
        profile = self.form.record
        assert isinstance(profile, ClusterProfile)
        if wrong := profile.problems():
            self._say(tr("Not saved yet. {reason}", reason=message_text(self.form.reason or wrong[0].message)), "error")
            return
        try:
            save_profile(profile, replacing=self._saved or None)
        except UserError as error:
            self._say(message_text(error), "error")
            return
        form, self._saved = self.form, profile.name
        self.form = None  # the list is filled anew, and the form keeps its focus
        self._refill_quietly(profile.name)
        self.form = form
        for button in (self.remove_button, self.default_button, self.export_button, self.validate_button):
            button.setEnabled(True)
        self._say(tr("Saved."))

    def _refill_quietly(self, selection: str) -> None:
        """List the profiles again without showing another one."""
        self.profiles.currentItemChanged.disconnect(self._on_chosen)
        self._fill(selection)
        self.profiles.currentItemChanged.connect(self._on_chosen)

    def remove(self) -> None:
        """Remove the profile, once that is confirmed."""
        question = tr("Remove the cluster profile '{name}'? Runs on it go on.", name=self._saved)
        if self._saved and ask(self, tr("Remove the profile"), question, tr("Remove")):
            self._try(lambda: remove_profile(self._saved))
            self._saved = ""
            self._fill("")

    def make_default(self) -> None:
        """Make the profile the default one."""
        if self._try(lambda: set_default(self._saved)):
            self._refill_quietly(self._saved)
            self._say(tr("Projects that name no profile train on '{name}'.", name=self._saved))

    def import_file(self) -> None:
        """Take the profiles of a file."""
        name, _ = QFileDialog.getOpenFileName(self, tr("Import cluster profiles"), "", translation(FILES))
        if not name:
            return

        def take() -> None:
            profiles = profiles_in(Path(name))
            for profile in profiles:
                save_profile(profile)
            self._fill(profiles[0].name)

        self._try(take)

    def export_file(self) -> None:
        """Write the profile as a file for others."""
        proposal = f"{self._saved}.toml"
        name, _ = QFileDialog.getSaveFileName(self, tr("Export the cluster profile"), proposal, translation(FILES))
        if not name:
            return

        if self._try(lambda: write_profile(Path(name), exported(read_profiles()[self._saved]))):
            self._say(tr("Written to {path}.", path=name))

    def _try(self, work: Callable[[], object]) -> bool:
        """Do something, and say why it cannot be done. Returns whether it was done."""
        try:
            work()
        except UserError as error:
            self._say(message_text(error), "error")
            return False
        return True

    # ---- validation ----

    def validate(self) -> None:
        """Try the profile in stages; while that goes on, stop it."""
        if self.trial.is_running:
            self.trial.stop()
            self.validate_button.setText(tr("Validate"))
            self._say(tr("Stopped. The results so far are shown."))
            return
        self._clear_stages()
        self.stages_heading.show()
        self.labels = {}
        for row, (name, stage) in enumerate(STAGES.items()):
            self.labels[name] = tuple(QLabel(text) for text in ("…", translation(stage.title), ""))
            for column, label in enumerate(self.labels[name]):
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                label.setWordWrap(column == 2)
                theme.mark(label, "role", "muted")
                self.stages.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)
        try:
            self.trial.start(self._validation(self._saved))
        except OSError as error:
            self._say(tr("The engine cannot be started: {reason}.", reason=error.strerror), "error")
            return
        self.validate_button.setText(tr("Stop"))
        self._say(f"{translation(next(iter(STAGES.values())).title)}…")
        self._area.ensureWidgetVisible(self.stages_heading)

    def _take(self, report: dict[str, Any]) -> None:
        if "result" in report:
            result = report["result"]
            sign, role = _STATES[result["state"]]
            detail = message_sentences((result["detail"], result["hint"]))
            for label, text, label_role in zip(
                self.labels[result["stage"]],
                (sign, translation(result["title"]), detail),
                (role, "", "muted"),
                strict=True,
            ):
                label.setText(text)
                theme.mark(label, "role", label_role)
            following = [*STAGES][[*STAGES].index(result["stage"]) + 1 :]
            self._say(f"{translation(STAGES[following[0]].title)}…" if following else "")
            self._area.verticalScrollBar().setValue(self._area.verticalScrollBar().maximum())
        elif "passed" in report:
            if report["passed"]:
                self._say(tr("'{name}' passed all stages.", name=report["profile"]), "good")
            else:
                self._say(tr("'{name}' did not pass.", name=report["profile"]), "error")
        elif "error" in report:
            self._say(message_text(report["error"]["message"]), "error")

    def _on_closed(self) -> None:
        self.validate_button.setText(tr("Validate"))

    def _clear_stages(self) -> None:
        self.validate_button.setText(tr("Validate"))
        self.stages_heading.hide()
        while (item := self.stages.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def _say(self, text: str, role: str = "muted") -> None:
        theme.mark(self.state, "role", role)
        self.state.setText(text)


class ClusterPicker(QWidget):
    """A link whose menu has the profiles, to choose one, and the way to edit them."""

    chosen = Signal(str)
    """The name of a profile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.link, row = QPushButton(tr("Choose a profile…")), QHBoxLayout(self)
        theme.mark(self.link, "role", "link")
        self.link.setAutoDefault(False)
        self.link.clicked.connect(self._show_menu)
        self.choices = QMenu(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.link)
        row.addStretch(1)

    def fill(self) -> None:
        """List the profiles as they are now."""
        self.choices.clear()
        with contextlib.suppress(UserError):  # the dialog says what is wrong with the file
            for name in read_profiles().by_name:
                self.choices.addAction(name).triggered.connect(lambda _=False, name=name: self.chosen.emit(name))
        self.choices.addSeparator()
        self.choices.addAction(tr("Edit profiles…")).triggered.connect(self._edit)

    def _show_menu(self) -> None:
        self.fill()
        self.choices.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _edit(self) -> None:
        dialog = ClustersDialog(self.window())
        dialog.exec()
        if dialog.chosen:
            self.chosen.emit(dialog.chosen)
        dialog.deleteLater()


def show_clusters(shell: Shell) -> None:
    """Edit and try the cluster profiles."""
    dialog = ClustersDialog(shell.dialog_parent)
    dialog.exec()
    dialog.deleteLater()


def _validation_command(name: str) -> list[str]:
    return engine_command("cluster", "validate", name, "--json")
