"""About Netwright: the add-ons with their versions, and why one is not used."""

from PySide6.QtWidgets import QLabel

from netwright.app.frame.help_dialogs import about_dialog
from netwright.engine.layers.addons import AddOn


def words(dialog) -> list[str]:
    return [label.text() for label in dialog.findChildren(QLabel)]


def test_add_ons_are_listed_with_their_versions_or_with_what_is_wrong(qtbot) -> None:
    good = AddOn("acme-layers", "1.2", ("acme_layers.types",), ("relu", "gelu"))
    bad = AddOn("<b>bolt", "0.1", ("bolt.types",), error="ZeroDivisionError: division by zero (types.py, line 1).")
    dialog = about_dialog(None, [good, bad])
    qtbot.addWidget(dialog)
    assert "acme-layers 1.2: ReLU, GELU" in words(dialog)
    why = "The add-on '<b>bolt 0.1' is not used: ZeroDivisionError: division by zero (types.py, line 1)."
    assert why in words(dialog)


def test_without_add_ons_it_says_so(qtbot) -> None:
    dialog = about_dialog(None, [])
    qtbot.addWidget(dialog)
    assert any(text.startswith("None.") for text in words(dialog))
