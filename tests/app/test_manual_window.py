"""F1 opens the page of the manual about what has the focus."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

import netwright.app
import netwright.designer
from netwright.app import manual_pages
from netwright.app.dialog import Dialog
from netwright.app.dialogs import option_pages
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.manual_pages import PAGES, SOURCES, START, page_of
from netwright.app.manual_window import ManualWindow, show_page
from netwright.app.runs.segments import RunPage
from netwright.app.window import MainWindow
from netwright.engine.core.files import DOCS
from netwright.engine.layers.base import FAMILIES
from netwright.engine.network.catalog import built_in
from netwright.engine.project.layer_reference import anchor
from netwright.engine.project.project import Project
from netwright.engine.project.sources.source_catalog import SOURCES as ALL_SOURCES
from tests.app.main_windows import run
from tests.builders import classifier


def sections(name: str) -> set[str]:
    """The anchors of a page."""
    text = (DOCS / name).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def is_there(page: str) -> bool:
    name, _, section = page.partition("#")
    return (DOCS / name).is_file() and (not section or section in sections(name))


def derived(kind: type) -> Iterator[type]:
    subclasses: list[type] = kind.__subclasses__()
    for each in subclasses:
        yield each
        yield from derived(each)


def test_every_page_and_section_exists() -> None:
    fixed = [page for page in PAGES.values() if isinstance(page, str)]
    made = [f"{manual_pages.DATA}#{section}" for section in SOURCES.values()]
    made += [f"{manual_pages.OPTIONS}#{section}" for section in manual_pages.OPTION_SECTIONS.values()]
    made += [manual_pages.LAYERS, START]
    assert set(manual_pages.OPTION_SECTIONS) == set(option_pages.PAGES) - {option_pages.COMMON_PAGE}
    layers = {anchor(type.label) for type in built_in().values()}
    assert [page for page in (*fixed, *made) if not is_there(page)] == []
    assert layers <= sections(manual_pages.LAYERS)
    assert set(SOURCES) <= set(ALL_SOURCES)
    assert FAMILIES


def test_every_dialog_and_page_of_the_window_has_an_entry() -> None:
    for package in (netwright.app, netwright.designer):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(("__main__", "tour_program")):
                importlib.import_module(module.name)
    classes = {*derived(Dialog), *derived(RunPage)}
    names = {kind.__name__ for kind in classes if kind.__module__.startswith("netwright.")}
    abstract = {"RequestDialog", "CardsPage"}
    assert names - abstract - set(PAGES) == set()
    known = {each.__name__ for each in derived(QWidget)} | {"MainWindow"}
    assert set(PAGES) - known == set(), "in the table, but no widget"


def test_a_widget_has_the_page_of_what_holds_it(qtbot: QtBot, window: MainWindow) -> None:
    window.editor.open(Project(classifier()))
    id = next(id for id, layer in window.editor.network.layers.items() if layer.type.key == "fully_connected")
    window.editor.set_selection({id})
    assert page_of(window.design.canvas.viewport()) == "layers.md#fully-connected"
    form = window.design.properties.form
    assert form is not None
    assert page_of(next(iter(form.rows.values())).widget) == "layers.md#fully-connected"
    window.editor.set_selection(set())
    assert page_of(window.design.canvas) == "layers.md"
    window.show_tab("data")
    assert page_of(window.tabs.page("data")) == "data.md"
    window.editor.edit("Choose", lambda project: project.with_section("data", project.data.replace(source="text")))
    assert page_of(window.tabs.page("data")) == "data.md#texts"
    assert page_of(window.bar.train) == START
    dialog = TrainingOptionsDialog(window.editor.project, parent=window)
    qtbot.addWidget(dialog)
    assert page_of(dialog.search) == "training-options.md"
    dialog.show_page("Optimisation")
    assert page_of(dialog.search) == "training-options.md#solver-training"
    label = QLabel()
    qtbot.addWidget(label)
    assert page_of(label) == START


def test_f1_opens_it_in_the_window_and_in_a_dialog(qtbot: QtBot, window: MainWindow) -> None:
    window.editor.open(Project(classifier()))
    window.design.canvas.setFocus()
    run(window, "help.page")
    (manual,) = window.findChildren(ManualWindow)
    assert manual.page == "layers.md"
    assert manual.windowTitle() == "Manual: Layer types"
    dialog = TrainingOptionsDialog(window.editor.project, parent=window)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keySequence(dialog, "F1")
    (own,) = dialog.findChildren(ManualWindow)
    assert own.page == "training-options.md"
    own.close()


@pytest.mark.parametrize("section", ["dropout", "2-d-convolution"])
def test_it_scrolls_to_the_section(qtbot: QtBot, section: str) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    manual = show_page(f"layers.md#{section}", holder)
    assert anchor(manual.text.textCursor().block().text()) == section
    assert manual.text.verticalScrollBar().value() > 0
    assert abs(manual.text.cursorRect().top()) < 40


def test_pictures_are_no_wider_than_the_window(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    manual = show_page("first-network.md", holder)
    assert "![" in (DOCS / "first-network.md").read_text(encoding="utf-8")
    bar = manual.text.horizontalScrollBar()
    assert bar.maximum() == 0


def test_links_lead_to_pages_and_back(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    outside: list[str] = []
    monkeypatch.setattr(
        "netwright.app.manual_window.QDesktopServices.openUrl", lambda url: outside.append(url.toString())
    )
    holder = QWidget()
    qtbot.addWidget(holder)
    manual = show_page(START, holder)
    assert not manual.back.isEnabled()
    manual.text.anchorClicked.emit(QUrl("data.md#texts"))
    assert manual.page == "data.md#texts"
    manual.text.anchorClicked.emit(QUrl("#audio"))
    assert manual.page == "data.md#audio"
    manual.text.anchorClicked.emit(QUrl("https://example.org/"))
    manual.text.anchorClicked.emit(QUrl("../engine/cli/main.py"))
    assert (manual.page, outside) == ("data.md#audio", ["https://example.org/"])
    manual.back.click()
    manual.back.click()
    assert manual.page == START
    assert show_page(START, holder) is manual, "one window for each"
