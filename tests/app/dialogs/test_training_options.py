from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QInputDialog, QLineEdit, QMenu, QPushButton, QWidget

from netwright.app.dialogs.environment_cards import card_texts
from netwright.app.dialogs.option_pages import PAGES
from netwright.app.dialogs.option_sweeps import EDIT
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.app.manual_window import ManualWindow
from netwright.designer.forms.field_editors import PathEditor
from netwright.designer.forms.row import sentence
from netwright.engine.core.fields import Choice, first_clause
from netwright.engine.core.types import image
from netwright.engine.placement.inventory import Device, DeviceInventory
from netwright.engine.project.check import check
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.environment import TARGETS, EnvironmentOptions
from netwright.engine.project.presets import Presets
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

NO_GPU = DeviceInventory(2, no_devices_because="no CUDA, ROCm, XPU or MPS device was found")
H200 = Device("cuda:0", "NVIDIA H200", 2**37)
ONE_GPU = DeviceInventory(8, devices=(H200,), backends=("gloo", "nccl"))
TWO_GPUS = DeviceInventory(8, devices=(H200, Device("cuda:1", "NVIDIA H200", 2**37)), backends=("gloo", "nccl"))
FACTS = DatasetInfo((InputInfo("image", image(1, 8, 8)),), {"training": 1257}, classes_of(*"0123456789"))

Shown = Callable[..., TrainingOptionsDialog]


@pytest.fixture
def shown(qtbot) -> Shown:
    def make(
        project: Project | None = None, inventory: DeviceInventory | None = NO_GPU, facts: DatasetInfo | None = FACTS
    ) -> TrainingOptionsDialog:
        dialog = TrainingOptionsDialog(project or Project(), inventory, facts)
        qtbot.addWidget(dialog)
        dialog.resize(1000, 700)
        with qtbot.waitActive(dialog):
            dialog.show()
            dialog.activateWindow()
        return dialog

    return make


def type_over(qtbot, dialog: TrainingOptionsDialog, name: str, text: str) -> QLineEdit:
    line = (dialog.training_form.rows.get(name) or dialog.environment_form.rows[name]).widget
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    return line


def refused(inventory: DeviceInventory) -> set[str]:
    texts = card_texts(EnvironmentOptions(), inventory, 128)
    assert tuple(texts) == TARGETS
    return {target for target, text in texts.items() if text.is_refused}


def test_cards_say_what_this_machine_can_do() -> None:
    assert refused(NO_GPU) == {"gpu", "multi-gpu", "parallel"}
    assert refused(ONE_GPU) == {"multi-gpu", "parallel"}
    assert refused(TWO_GPUS) == {"parallel"}
    texts = card_texts(EnvironmentOptions(), TWO_GPUS, 128)
    assert [texts[target].text for target in ("auto", "cpu", "multi-cpu", "gpu", "multi-gpu")] == [
        "picks multi-gpu here",
        "one process, 8 threads",
        "8 workers, gloo",
        "NVIDIA H200",
        "2 workers, nccl",
    ]
    assert card_texts(EnvironmentOptions(), ONE_GPU, 128)["multi-gpu"].text.startswith("needs two GPUs")


def test_a_card_whose_workers_outnumber_the_batch_says_so() -> None:
    text = card_texts(EnvironmentOptions(target="multi-cpu", num_workers=9), NO_GPU, 4)["multi-cpu"]
    assert "cannot be shared by 9 workers" in text.text
    assert not text.is_refused


def test_choosing_a_card_shows_its_fields_and_what_will_be_used(qtbot, shown) -> None:
    dialog = shown()
    assert not dialog.environment_form.rows["num_workers"].is_shown
    qtbot.mouseClick(dialog.cards.cards["multi-cpu"], Qt.MouseButton.LeftButton)
    assert dialog.project().environment == EnvironmentOptions(target="multi-cpu")
    assert dialog.cards.cards["multi-cpu"].isChecked()
    assert not dialog.cards.cards["auto"].isChecked()
    assert dialog.environment_form.rows["num_workers"].is_shown
    assert not dialog.environment_form.rows["devices"].is_shown
    assert "64 samples each</b>" in dialog.sentence.text()
    type_over(qtbot, dialog, "num_workers", "4")
    assert "32 samples each" in dialog.sentence.text()
    assert dialog.project().environment.num_workers == 4


def test_a_refused_card_can_be_read_but_not_chosen(qtbot, shown) -> None:
    dialog = shown()
    card = dialog.cards.cards["gpu"]
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert dialog.project().environment.target == "auto"
    assert not card.isChecked()
    assert card.hasFocus()
    assert card.accessibleName() == "gpu, not available: no CUDA, ROCm, XPU or MPS device was found"


def test_arrows_move_over_the_cards_and_space_chooses(qtbot, shown) -> None:
    dialog = shown()
    cards = dialog.cards.cards
    assert cards["auto"].hasFocus()
    qtbot.keyClick(cards["auto"], Qt.Key.Key_Down)
    assert cards["gpu"].hasFocus()
    qtbot.keyClick(cards["gpu"], Qt.Key.Key_Space)
    assert dialog.project().environment.target == "auto"
    qtbot.keyClick(cards["gpu"], Qt.Key.Key_Right)
    qtbot.keyClick(cards["multi-gpu"], Qt.Key.Key_Up)
    qtbot.keyClick(cards["cpu"], Qt.Key.Key_Space)
    assert dialog.project().environment.target == "cpu"


def test_a_warning_stands_under_its_option_in_the_words_of_check_and_keeps_nobody_from_training(shown) -> None:
    project = Project(training=TrainingOptions(gradient_checkpointing="blocks"))
    (warning,) = check(project, FACTS).option_warnings
    dialog = shown(project)
    dialog.show_page("Precision and memory")
    row = dialog.training_form.rows["gradient_checkpointing"]
    assert dialog.buttons.ok.isEnabled()
    assert row.message == ""
    assert row.error_label is not None
    assert row.error_label.text() == warning.message
    assert row.error_label.property("role") == "warning"
    dialog.training_form.reset("gradient_checkpointing")
    assert row.error_label.isHidden()


def test_options_that_this_data_does_not_ask_for_are_left_out_until_searched_for(qtbot, shown) -> None:
    rows = shown().training_form.rows
    assert not any(rows[name].is_relevant for name in ("sequence_length", "normalize_targets", "output_losses"))
    assert rows["class_weighting"].is_relevant
    assert shown(facts=None).training_form.rows["sequence_length"].is_relevant, "what is not known may come"
    changed = shown(Project(training=TrainingOptions(sequence_length="shortest")))
    assert changed.training_form.rows["sequence_length"].is_relevant
    changed.search.setText("padding")
    assert changed.training_form.rows["sequence_padding"].is_shown


def test_the_inventory_may_come_later(qtbot, shown) -> None:
    dialog = shown(inventory=None)
    assert dialog.cards.cards["gpu"].text_shown.text == "detecting devices…"
    assert "Detecting" in dialog.sentence.text()
    qtbot.mouseClick(dialog.cards.cards["gpu"], Qt.MouseButton.LeftButton)
    assert dialog.buttons.ok.isEnabled()
    dialog.set_inventory(ONE_GPU)
    assert "NVIDIA H200" in dialog.sentence.text()
    dialog.set_inventory(NO_GPU)
    assert "'gpu' is not available here" in dialog.buttons.ok.toolTip()
    assert not dialog.buttons.ok.isEnabled()


def test_an_environment_the_project_came_with_may_stay(qtbot, shown) -> None:
    dialog = shown(Project(environment=EnvironmentOptions(target="gpu")))
    assert "'gpu' is not available here" in dialog.sentence.text().replace("&#x27;", "'")
    type_over(qtbot, dialog, "max_epochs", "5")
    assert dialog.buttons.ok.isEnabled()
    assert dialog.project().training.max_epochs == 5


def test_a_batch_larger_than_the_training_split_is_no_error(qtbot, shown) -> None:
    dialog = shown()
    type_over(qtbot, dialog, "mini_batch_size", "2000")
    row = dialog.training_form.rows["mini_batch_size"]
    assert row.message == ""
    assert dialog.buttons.ok.isEnabled()
    assert dialog.buttons.ok.toolTip() == ""


def test_a_loss_that_does_not_fit_the_data_says_so(shown) -> None:
    dialog = shown(Project(training=TrainingOptions(loss="mse")))
    assert "does not fit data whose responses are classes" in dialog.training_form.rows["loss"].message


def test_the_way_to_what_is_wrong(qtbot, shown) -> None:
    dialog = shown()
    line = type_over(qtbot, dialog, "seed", "x")
    dialog.search.setText("solver")
    dialog.search.setFocus()
    assert dialog.buttons.trouble.text() == "Go to Seed"
    qtbot.mouseClick(dialog.buttons.trouble, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(line.hasFocus)
    at = line.mapTo(dialog.area.viewport(), QPoint(0, 0)).y()
    assert 0 <= at < dialog.area.viewport().height()


def test_changes_are_counted_and_reset(qtbot, shown) -> None:
    project = Project(
        training=TrainingOptions(max_epochs=12, solver="adam"), environment=EnvironmentOptions(target="cpu", threads=1)
    )
    dialog = shown(project)
    assert dialog.buttons.count.text() == "4 changed from the defaults"
    type_over(qtbot, dialog, "seed", "x")
    qtbot.mouseClick(dialog.buttons.reset, Qt.MouseButton.LeftButton)
    assert dialog.project() == Project()
    assert dialog.buttons.ok.isEnabled()
    assert dialog.buttons.count.text() == "All options have their defaults"
    assert dialog.cards.cards["auto"].isChecked()


def test_search_filters_over_all_groups(qtbot, shown) -> None:
    dialog = shown()
    dialog.search.setFocus()
    qtbot.keyClicks(dialog.search, "patience")
    shown_rows = [name for name, row in dialog.training_form.rows.items() if row.is_shown]
    assert shown_rows == ["validation_patience", "objective_metric"]
    assert dialog.cards.isHidden() or not dialog.cards.isVisible()
    groups = [dialog.groups.item(row) for row in range(dialog.groups.count())]
    assert [item.text() for item in groups if not item.isHidden()] == ["Validation and stopping"]
    qtbot.keyClicks(dialog.search, "zzz")
    assert dialog.nothing.text() == "No option matches “patiencezzz”."
    assert dialog.nothing.isVisible()
    dialog.search.clear()
    qtbot.keyClicks(dialog.search, "multi-gpu")
    assert dialog.cards.isVisible()


def test_common_options_come_first_and_each_group_has_a_page(qtbot, shown) -> None:
    dialog = shown()
    names = [dialog.groups.item(row).text() for row in range(dialog.groups.count())]
    assert names == [
        *("Common", "Environment", "Optimisation", "Data flow", "Validation and stopping", "Saving", "Advanced"),
    ]
    groups = [group for groups in PAGES.values() for group in groups]
    assert sorted(groups) == sorted({field.group for field in TrainingOptions.fields.values()}), "each once"
    assert dialog.groups.currentRow() == 0
    assert dialog.cards.isVisible()
    assert [name for name, row in dialog.training_form.rows.items() if row.is_shown] == [
        *("solver", "initial_learn_rate", "max_epochs", "mini_batch_size", "shuffle"),
        *("validation_frequency", "validation_frequency_unit", "validation_patience"),
    ]
    at = dialog.groups.visualItemRect(dialog.groups.item(names.index("Saving"))).center()
    qtbot.mouseClick(dialog.groups.viewport(), Qt.MouseButton.LeftButton, pos=at)
    rows = dialog.training_form.rows
    assert {row.field.group for row in rows.values() if row.is_shown} == {"Checkpoints", "Monitoring"}
    assert not dialog.cards.isVisible()
    dialog.search.setText("momentum")
    assert rows["momentum"].is_shown
    assert dialog.groups.currentRow() == -1
    dialog.search.clear()
    assert dialog.groups.currentItem().text() == "Saving"
    assert rows["checkpoint_unit"].is_shown


def test_nothing_moves_once_a_page_or_a_search_is_shown(qtbot, shown) -> None:
    dialog = shown(Project(environment=EnvironmentOptions(target="multi-cpu")))

    def places() -> list[tuple[int, int]]:
        rows = [*dialog.environment_form.rows.values(), *dialog.training_form.rows.values()]
        holder = dialog._grouped.holder
        return [(row.widget.mapTo(holder, QPoint(0, 0)).y(), row.widget.height()) for row in rows if row.is_shown]

    for show in (
        lambda: dialog.show_page("Schedule"),
        lambda: dialog.search.setText("rate"),
        lambda: dialog.search.setText("rate at"),
        lambda: dialog.show_page("Environment"),
    ):
        show()
        at_once = places()
        assert at_once
        qtbot.wait(50)
        assert places() == at_once


def test_another_solver_offers_its_learn_rate(qtbot, shown) -> None:
    dialog = shown(Project(training=TrainingOptions(initial_learn_rate=0.05)))
    row = dialog.training_form.rows["initial_learn_rate"]
    assert not row.has_offer
    dialog.training_form.set_value("solver", "adam")
    assert dialog.training.initial_learn_rate == 0.05, "nothing is changed unasked"
    assert row.offer_button.text() == "Use 0.001, the default of adam"
    qtbot.mouseClick(row.offer_button, Qt.MouseButton.LeftButton)
    assert dialog.training == TrainingOptions(solver="adam")
    assert not row.has_offer
    untouched = shown()
    untouched.training_form.set_value("solver", "adam")
    assert not untouched.training_form.rows["initial_learn_rate"].has_offer, "the default follows by itself"


def test_automatic_numbers_say_what_they_come_to(qtbot, shown) -> None:
    dialog = shown()
    qtbot.mouseClick(dialog.cards.cards["multi-cpu"], Qt.MouseButton.LeftButton)
    assert dialog.environment_form.rows["num_workers"].widget.text() == "auto (2)"
    dialog.show_page("Environment")
    assert dialog.environment_form.rows["threads"].widget.text() == "auto (1)"


def test_while_a_run_trains_the_dialog_says_whom_changes_are_for(qtbot, shown) -> None:
    dialog = shown()
    assert dialog.run_notice.isHidden()
    dialog.set_running(True)
    assert "next run" in dialog.run_notice.label.text()
    with qtbot.waitSignal(dialog.change_requested):
        dialog.run_notice.links["Change rate or epochs…"].click()
    height = dialog.run_notice.height()
    dialog.set_running(False)
    assert dialog.run_notice.label.text().startswith("The run has ended.")
    assert dialog.run_notice.links == {}
    assert dialog.run_notice.sizeHint().height() == height, "nothing moves"


def test_enter_in_a_field_does_not_close_but_ctrl_enter_and_escape_do(qtbot, shown) -> None:
    dialog = shown()
    line = type_over(qtbot, dialog, "max_epochs", "7")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert dialog.isVisible()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible()
    with qtbot.waitSignal(dialog.accepted):
        qtbot.keyClick(line, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert dialog.project().training.max_epochs == 7
    other = shown()
    with qtbot.waitSignal(other.rejected):
        qtbot.keyClick(other.cards.cards["auto"], Qt.Key.Key_Escape)
    assert other.result() == QDialog.DialogCode.Rejected


def test_ctrl_enter_leads_to_what_is_wrong(qtbot, shown) -> None:
    dialog = shown()
    line = type_over(qtbot, dialog, "seed", "x")
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert dialog.isVisible()
    qtbot.waitUntil(line.hasFocus)


@pytest.mark.parametrize("size", [(1000, 700), (872, 480)])
def test_nothing_is_wider_than_its_place(shown, size: tuple[int, int]) -> None:
    dialog = shown()
    dialog.resize(*size)
    dialog.area.widget().layout().activate()
    assert dialog.size().toTuple() == size
    assert dialog.area.widget().minimumSizeHint().width() <= dialog.area.viewport().width()


def test_the_rest_of_the_project_is_left_as_it_is(qtbot, shown) -> None:
    project = Project(training=TrainingOptions(seed=3))
    dialog = shown(project)
    assert dialog.project() == project
    type_over(qtbot, dialog, "seed", "4")
    assert dialog.project() == Project(training=TrainingOptions(seed=4))


def test_the_rate_is_drawn_as_one_types(qtbot, shown) -> None:
    dialog = shown(Project(training=TrainingOptions(schedule="piecewise")))
    assert not dialog.rate_plot.isVisible()
    dialog.show_page("Schedule")
    assert dialog.rate_plot.isVisible()
    assert "30 epochs, 300 iterations" in dialog.rate_plot.caption
    type_over(qtbot, dialog, "max_epochs", "12")
    assert "12 epochs, 120 iterations" in dialog.rate_plot.caption
    type_over(qtbot, dialog, "learn_rate_drop_factor", "0.5")
    assert list(dialog.rate_plot.points(2))[-1][1] == 0.005
    qtbot.keyClicks(dialog.search, "shuffle")
    assert not dialog.rate_plot.isVisible()


def test_only_what_differs_is_shown(qtbot, shown) -> None:
    dialog = shown(Project(training=TrainingOptions(max_epochs=12, solver="adam")))
    dialog.buttons.changed.click()
    visible = [name for name, row in dialog.training_form.rows.items() if row.is_shown]
    assert visible == ["solver", "max_epochs"]
    assert not dialog.cards.isVisible()
    dialog.training_form.reset("max_epochs")
    assert dialog.training_form.rows["max_epochs"].is_shown, "what is reset does not go away under the hand"
    assert dialog.buttons.changed.text() == "Show all"
    dialog.buttons.changed.click()
    assert dialog.cards.isVisible()
    assert dialog.training_form.rows["shuffle"].is_shown


def test_options_are_copied(qtbot, shown) -> None:
    dialog = shown()
    assert not dialog.buttons.copy.isVisible()
    type_over(qtbot, dialog, "max_epochs", "12")
    as_json, as_arguments = dialog.buttons.copy_menu.actions()
    as_json.trigger()
    assert QGuiApplication.clipboard().text() == '{\n  "training": {\n    "max_epochs": 12\n  }\n}'
    as_arguments.trigger()
    assert QGuiApplication.clipboard().text() == "--set training.max_epochs=12"


def test_presets_are_used_saved_and_deleted(qtbot, shown, tmp_path, monkeypatch) -> None:
    dialog = shown(Project(training=TrainingOptions(max_epochs=12)))
    dialog.presets_button.presets = Presets(tmp_path / "presets.json")
    type_over(qtbot, dialog, "mini_batch_size", "no")
    assert words_of(dialog) == ["Fast", "Accurate", "As in MATLAB", "Save as preset…"]
    monkeypatch.setattr(QInputDialog, "getText", lambda *_: ("R&D", True))
    choose(dialog, "Save as preset…")
    choose(dialog, "As in MATLAB")
    assert dialog.training == TrainingOptions(
        max_epochs=12, last_batch="discard", sequence_padding="seen", precision="fp32"
    )
    assert dialog.training_form.is_valid, "what was refused is gone"
    assert [words for words in words_of(dialog) if words.endswith("in use")] == ["As in MATLAB\tin use"]
    choose(dialog, "R&&D")
    assert dialog.training == TrainingOptions(max_epochs=12)
    menu = dialog.presets_button.menu_now()
    (deleting,) = (sub for sub in menu.findChildren(QMenu) if sub.title() == "Delete preset")
    deleting.actions()[0].trigger()
    assert "R&&D" not in words_of(dialog)


def test_a_preset_lists_what_it_has_set_and_can_be_undone(qtbot, shown, tmp_path) -> None:
    mine = TrainingOptions(max_epochs=12, seed=3)
    dialog = shown(Project(training=mine))
    dialog.presets_button.presets = Presets(tmp_path / "presets.json")
    notice = dialog.presets_button.notice
    assert notice.isHidden()
    choose(dialog, "Fast")
    assert dialog.training.seed == 3, "what the user set by hand stays"
    assert notice.isVisible()
    assert "Max epochs 10 (was 12)" in notice.label.text()
    assert "Seed" not in notice.label.text()
    notice.links["Undo"].click()
    assert dialog.training == mine
    assert notice.isHidden()


def test_a_preset_with_another_solver_offers_its_rate(qtbot, shown) -> None:
    dialog = shown(Project(training=TrainingOptions(solver="adam", initial_learn_rate=0.002)))
    choose(dialog, "As in MATLAB")
    row = dialog.training_form.rows["initial_learn_rate"]
    assert row.offer_button is not None
    assert row.offer_button.text() == "Use 0.01, the default of sgdm"
    row.offer_button.click()
    assert dialog.training.initial_learn_rate == 0.01
    choose(dialog, "Fast")
    assert not row.has_offer, "the preset sets the rate itself"


def test_every_line_of_help_has_room_and_leads_to_the_documentation(qtbot, shown) -> None:
    dialog = shown(facts=None)
    dialog.resize(1080, 700)
    dialog.search.setText("a")
    rows = [*dialog.training_form.rows.values(), *dialog.environment_form.rows.values()]
    helps = [row.help for row in rows if row.is_made and row.help is not None]
    assert len(helps) > 60
    metrics, room = helps[0].fontMetrics(), helps[0].width()
    assert not [help.text() for help in helps if metrics.horizontalAdvance(help.text()) > room]
    notes = {note for row in rows if isinstance(row.field, Choice) for note in row.field.notes.values()}
    assert not [note for note in map(first_clause, notes) if metrics.horizontalAdvance(note) > room]
    assert "Click to open training-options.md." in helps[0].toolTip()
    qtbot.mouseClick(next(help for help in helps if help.isVisible()), Qt.MouseButton.LeftButton)
    manual = dialog.findChild(ManualWindow)
    assert (manual.isVisible(), manual.page) == (True, "training-options.md")


def words_of(dialog: TrainingOptionsDialog) -> list[str]:
    return [action.text() for action in dialog.presets_button.menu_now().actions() if action.text()]


def choose(dialog: TrainingOptionsDialog, words: str) -> None:
    menu = dialog.presets_button.menu_now()
    next(action for action in menu.actions() if action.text() == words).trigger()


def test_files_of_code_are_chosen_from_the_projects_folder_and_read_as_text(qtbot, tmp_path, monkeypatch) -> None:
    (tmp_path / "hooks.py").write_text("def on_stp(run): ...")
    dialog = TrainingOptionsDialog(Project(), NO_GPU, FACTS, base=tmp_path)
    qtbot.addWidget(dialog)
    editor = dialog.training_form.rows["hooks_file"].widget
    assert isinstance(editor, PathEditor)
    monkeypatch.setattr(
        "netwright.designer.forms.field_editors.QFileDialog.getOpenFileName",
        lambda *_: (str(tmp_path / "hooks.py"), ""),
    )
    qtbot.mouseClick(editor.browse, Qt.MouseButton.LeftButton)
    assert dialog.training.hooks_file == "hooks.py"
    assert dialog.training_form.rows["hooks_file"].message.startswith("The file hooks.py has none of the functions on_")
    assert not dialog.buttons.ok.isEnabled()
    (tmp_path / "hooks.py").write_text("def on_step(run): ...")
    with qtbot.waitActive(dialog):  # come back to from an editor
        dialog.show()
        dialog.activateWindow()
    assert dialog.buttons.ok.isEnabled()
    editor.line.type_in("gone.py")
    assert dialog.training_form.rows["hooks_file"].message.startswith('There is no file "gone.py"')


def test_presets_that_cannot_be_read_say_so(shown, tmp_path) -> None:
    dialog = shown()
    dialog.presets_button.presets = Presets(tmp_path)
    last = dialog.presets_button.menu_now().actions()[-1]
    assert (last.text(), last.isEnabled()) == ("Your presets cannot be read", False)
    assert str(tmp_path) in last.toolTip()


def test_a_strategy_that_does_not_go_with_the_options_says_so_in_the_words_of_the_command_line(qtbot, shown) -> None:
    project = Project(environment=EnvironmentOptions(target="multi-cpu", num_workers=2, strategy="fully-sharded"))
    dialog = shown(project)
    assert dialog.buttons.ok.isEnabled()
    dialog.training_form.set_value("solver", "lbfgs")
    (refused,) = dialog.project().option_problems()
    assert dialog.environment_form.rows["strategy"].message == sentence(refused.message)
    assert not dialog.buttons.ok.isEnabled()
    assert dialog.buttons.trouble.text() == "Go to Strategy"
    dialog.cards.choose("auto")  # which takes the strategy along, where there are several GPUs
    assert dialog.sentence.text() == sentence(refused.message)
    assert dialog.buttons.trouble.text() == "Go to Environment"
    dialog.cards.choose("cpu")
    assert dialog.buttons.ok.isEnabled()
    dialog.cards.choose("multi-cpu")
    dialog.environment_form.set_value("strategy", "data-parallel")
    assert dialog.buttons.ok.isEnabled()


def test_what_stands_out_ends_with_the_sentence(qtbot, shown) -> None:
    options = EnvironmentOptions(target="multi-gpu", worker_load="measured")
    dialog = shown(Project(environment=options), TWO_GPUS)
    strong, rest = dialog.sentence.text().split("</b>")
    assert strong.endswith("64 samples each")
    assert rest == ". The samples per worker will follow the speed of each device, measured when training starts."


def test_letters_are_looked_for_and_enter_goes_to_what_was_found(qtbot, shown) -> None:
    dialog = shown()
    dialog.activateWindow()
    card = dialog.cards.cards["auto"]
    qtbot.waitUntil(card.hasFocus, timeout=60_000)
    qtbot.keyClicks(card, "m")
    assert dialog.focusWidget() is dialog.search
    qtbot.keyClicks(dialog.search, "ax epochs")
    assert dialog.search.text() == "max epochs"
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.training_form.rows["max_epochs"].widget.hasFocus()
    qtbot.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert dialog.focusWidget() is dialog.search


def stops(dialog: TrainingOptionsDialog) -> list[QWidget]:
    """What the Tab key goes through, from the first link on."""
    found: list[QWidget] = []
    widget: QWidget | None = dialog.presets_button
    while widget is not None and widget not in found[:1]:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            found.append(widget)
        widget = widget.nextInFocusChain()
    return found


def test_the_tab_key_goes_down_the_dialog(shown) -> None:
    dialog = shown()
    found = stops(dialog)
    assert found[1:4] == [dialog.search, dialog._grouped.groups, dialog.cards.cards["auto"]]
    assert found[-2:] == [dialog.buttons.cancel, dialog.buttons.ok]
    inside = [one for one in found if dialog._grouped.holder.isAncestorOf(one)]
    heights = [one.mapTo(dialog._grouped.holder, QPoint(0, one.height() // 2)).y() for one in inside]
    assert len(heights) > 15
    assert heights == sorted(heights)


def test_enter_in_a_field_starts_nothing(shown) -> None:
    buttons = shown().findChildren(QPushButton)
    assert [one.text() for one in buttons if one.autoDefault() or one.isDefault()] == []


def test_an_option_varies_in_the_experiment_around_the_value_typed(qtbot, shown: Shown) -> None:
    dialog = shown()
    type_over(qtbot, dialog, "initial_learn_rate", "0.02")
    label = dialog.training_form.rows["initial_learn_rate"].label
    label.sweep_requested.emit()
    assert label.is_swept
    assert dialog.sweeps.label.text() == "Varies in experiments: training.initial_learn_rate=log 0.002..0.2"
    assert [p.path for p in dialog.project().experiment.parameters] == ["training.initial_learn_rate"]
    label.sweep_ended.emit()
    assert dialog.project().experiment.parameters == ()
    label.sweep_requested.emit()
    dialog.sweeps.links[EDIT].click()
    assert dialog.result() == QDialog.DialogCode.Accepted
    assert dialog.sweeps.leads_to_search
