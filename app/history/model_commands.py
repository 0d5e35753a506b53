"""Models in the rail: opening, remembering, removing and registering them, and the page of the one that is chosen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from netwright.app.history.model_page import ModelPage
from netwright.app.history.models_panel import STAGES, ModelsPanel, row_of_file, row_of_version
from netwright.app.history.opened_models import ModelFile, can_open, keep_opened, read_opened, with_weights
from netwright.app.history.rail_model import RailRow
from netwright.app.runs.segments import OpenedModel
from netwright.app.shell import Shell, open_dialog
from netwright.designer import markup
from netwright.designer.language import tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.part_registry import has_entry
from netwright.engine.operations.models import LIST, PROMOTE, REGISTER, ListRequest, PromoteRequest, RegisterRequest
from netwright.engine.project.import_kinds import KINDS, WITHOUT_GRAPH
from netwright.engine.runs.history import ProjectKey


class ModelCommands(QObject):
    """Holds the models of the open project. `shown` is emitted when one is to be seen on `page`, `left` when the one
    that was seen is gone."""

    shown = Signal()
    left = Signal()

    def __init__(self, shell: Shell, panel: ModelsPanel, parent: QWidget) -> None:
        super().__init__(parent)
        self._shell, self._panel = shell, panel
        self._page: ModelPage | None = None
        self._project: ProjectKey | None = None
        self.files: list[ModelFile] = []
        self.versions: list[Mapping[str, Any]] = []
        """Those of the registry that are listed: of each model the newest, and those in staging or production."""
        self._others: dict[Path, ModelFile] = {}
        """Versions of the registry with the data that they were asked about."""
        panel.chosen.connect(self._on_chosen)
        panel.open_requested.connect(self.choose)
        panel.list.removed.connect(self.remove)
        panel.menu.aboutToShow.connect(self._fill_menu)

    @property
    def page(self) -> ModelPage:
        """The page of a model; made when first needed."""
        if self._page is None:
            self._page = ModelPage(self._shell)
            self._page.changed.connect(self._on_changed)
        return self._page

    @property
    def page_shown(self) -> QWidget | None:
        """The page of a model, if it was made."""
        return self._page

    # ---- the list ----

    def watch(self, project: ProjectKey) -> None:
        """List the models that were opened in a project, and those of the registry as it is now."""
        if project != self._project:
            self._project, self.files = project, read_opened(project)
            self._show()
        self.look()

    def look(self) -> None:
        """Read the registry again."""
        self._shell.server.ask(LIST, ListRequest(), self._take, lambda _: None)

    def _take(self, result: Mapping[str, Any]) -> None:
        seen: set[str] = set()
        self.versions = []
        for model in result["models"]:
            if model["name"] not in seen or model["stage"] in ("staging", "production"):
                self.versions.append(model)
            seen.add(model["name"])
        self._show()

    def _show(self) -> None:
        self._panel.show_rows([*map(row_of_file, self.files), *map(row_of_version, self.versions)])

    def _keep(self) -> None:
        try:
            keep_opened(self._shell.documents.key, self.files)
        except (OSError, RuntimeError) as error:
            self._shell.hint(tr("The models of this project cannot be remembered: {error}.", error=error))
        self._show()

    # ---- opening ----

    def choose(self) -> None:
        """Ask for a file, and open it as a model."""
        suffixes = [suffix for kind in KINDS for suffix in kind.suffixes]
        pattern = " ".join(f"*{suffix}" for suffix in (*suffixes, SUFFIX, *WITHOUT_GRAPH))
        start, parent = str(self._shell.documents.base), self._shell.dialog_parent
        filters = ";;".join([tr("Models ({pattern})", pattern=pattern), tr("All files (*)")])
        if name := QFileDialog.getOpenFileName(parent, tr("Open a model"), start, filters)[0]:
            self.open(Path(name))

    def open(self, path: Path) -> None:
        """Open a file as a model, and show it. Weights alone are those of the network that is open."""
        shell = self._shell
        try:
            if not can_open(path):
                raise UserError(tr("{name} is no file of a network or of weights.", name=path.name))
            if path.suffix.lower() in WITHOUT_GRAPH:
                path = with_weights(path, shell.editor.project, shell.documents.base, shell.documents.key)
        except UserError as error:
            shell.show_error(tr("The model cannot be opened"), str(error))
            return
        if all(file.path != path for file in self.files):
            self.files.append(ModelFile(path))
            self._keep()
        self.show(path)

    def show(self, path: Path) -> None:
        """Show a model of the list."""
        file = self._file_of(path)
        version = next((model for model in self.versions if model["path"] == str(path)), None)
        title = f"{version['name']}@{version['version']}" if version is not None else ""
        self._panel.select(path)
        self.shown.emit()
        self.page.show_model(file, title)

    def _file_of(self, path: Path) -> ModelFile:
        """Return a model of the list with the data that it is asked about."""
        return next((file for file in self.files if file.path == path), self._others.get(path, ModelFile(path)))

    def _on_chosen(self) -> None:
        if (row := self._panel.selected) is not None:
            self.show(row.path)

    def _on_changed(self, file: ModelFile) -> None:
        """Remember the data that a model is asked about, and ask again."""
        if any(file.path == each.path for each in self.files):
            self.files = [file if file.path == each.path else each for each in self.files]
            self._keep()
        else:
            self._others[file.path] = file
        self.page.show_model(file, self.page.name.text())

    # ---- the menu ----

    def _fill_menu(self) -> None:
        menu, row = self._panel.menu, self._panel.selected
        menu.clear()
        if row is None:
            return
        file = self._file_of(row.path)
        other = {"data": file.data, "settings": file.settings} if file.data else {}
        values = {"pixels": file.pixels, **other}
        title = row.title.partition(".")[0]
        for name, text, act in (
            ("run_report", tr("Export report…"), lambda name: open_dialog(name, self._shell, row.path, title, values)),
            ("export_model", tr("Export network…"), lambda name: open_dialog(name, self._shell, row.path, title)),
        ):
            if has_entry("dialogs", name):
                menu.addAction(text, lambda name=name, act=act: act(name))
        others = [model for model in self._panel.rows.rows if model.path != row.path]
        if others and has_entry("dialogs", "compare_models"):
            comparison = menu.addMenu(tr("Compare with"))
            for model in others:
                comparison.addAction(markup.without_mnemonic(model.title), lambda model=model: self.compare(row, model))
        menu.addSeparator()
        version = next((model for model in self.versions if model["path"] == str(row.path)), None)
        if version is None:
            menu.addAction(tr("Register…"), lambda: self.register(row.path))
            menu.addAction(tr("Remove from the list"), self.remove)
        else:
            stages = menu.addMenu(tr("Stage"))
            for stage, text in STAGES.items():
                action = stages.addAction(translation(text), lambda stage=stage: self.promote(version, stage))
                action.setCheckable(True)
                action.setChecked(stage == version["stage"])
        menu.addAction(tr("Open folder"), lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(row.path.parent))))

    def compare(self, row: RailRow, other: RailRow) -> None:
        """Compare two models on the data that the first is asked about."""
        file = self._file_of(row.path)
        model = OpenedModel(file.path, {}, file.data, file.settings, file.pixels)
        open_dialog("compare_models", self._shell, model, (row.title, other.title), other.path)

    def remove(self) -> None:
        """Remove the model that is selected from the list; its file stays."""
        row = self._panel.selected
        if row is None or all(file.path != row.path for file in self.files):
            return
        self.files = [file for file in self.files if file.path != row.path]
        self._panel.select(None)
        self._keep()
        self._shell.hint(tr("Removed {name} from the list. The file is where it was.", name=row.title))
        self.left.emit()

    def register(self, path: Path) -> None:
        """Ask for a name, and add a model to the registry."""
        parent = self._shell.dialog_parent
        question = tr("Name of the model. A name that is known gets its next version.")
        name, is_given = QInputDialog.getText(parent, tr("Register a model"), question, text=path.stem)
        if is_given and name.strip():
            request = RegisterRequest(model=path, name=name.strip())
            self._shell.server.ask(REGISTER, request, self._on_registered, self._on_refused)

    def _on_registered(self, model: Mapping[str, Any]) -> None:
        self._shell.hint(tr("Registered {name}, version {version}.", name=model["name"], version=model["version"]))
        self.look()

    def promote(self, version: Mapping[str, Any], stage: str) -> None:
        """Set the stage of a version."""
        request = PromoteRequest(version=f"{version['name']}@{version['version']}", stage=stage)
        self._shell.server.ask(PROMOTE, request, lambda _: self.look(), self._on_refused)

    def _on_refused(self, reason: str) -> None:
        self._shell.show_error(tr("The registry cannot be changed"), reason)

    def shutdown(self) -> None:
        """End requests and processes."""
        if self._page is not None:
            self._page.shutdown()
