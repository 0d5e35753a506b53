"""The shortcuts of the window's actions: those of the program, and those that the user has set in their place.

The window declares them with `use`; menus, tooltips, context menus and lists ask here by the id of an action, so that a
changed shortcut is shown everywhere. `changed` of the `Shortcuts` in use is emitted when one was set or reset.
"""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from netwright.designer.language import noop, tr, translation

_GROUP = "shortcuts"
_TIP, _ACTION = "tip", "tipAction"
_BARE = noop(
    "{key} is a key without Ctrl or Alt, which types text or works on the canvas. Add Ctrl or Alt, or take F1 to F12."
)


def written(key: str) -> str:
    """Return a shortcut as Qt writes it."""
    return QKeySequence(key).toString()


class Shortcuts(QObject):
    """The keys of each action, by its id. `texts` are the names of the actions, `fixed` keys of the canvas with what
    they do: no action can have them."""

    changed = Signal()

    def __init__(
        self,
        defaults: Mapping[str, tuple[str, ...]],
        texts: Mapping[str, str],
        fixed: Mapping[str, str],
        settings: QSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._defaults, self._texts, self._settings = defaults, texts, settings
        self._fixed = {written(key): words for key, words in fixed.items()}

    def keys(self, id: str) -> tuple[str, ...]:
        """Return the keys of an action, first the one that menus show; none for an action that does not exist."""
        own = self._settings.value(f"{_GROUP}/{id}")
        if own is None or id not in self._defaults:
            return self._defaults.get(id, ())
        return (str(own),) if own else ()

    def is_changed(self, id: str) -> bool:
        """Whether the user has set the keys of an action."""
        return self.keys(id) != self._defaults[id]

    def refusal(self, id: str, key: str) -> str:
        """Return why an action cannot have a key; empty if it can."""
        key = written(key)
        is_own = key in [written(own) for own in self._defaults[id]]
        if key in self._fixed and not is_own:
            return tr("{key} is a key of the canvas: {use}. Choose another one.", key=key, use=self._fixed[key])
        if key and not is_own and not _has_modifier(key):
            return translation(_BARE).format(key=key)
        for other in self._defaults:
            if other != id and key in [written(taken) for taken in self.keys(other) if key]:
                action = self._texts[other]
                return tr(
                    "{key} belongs to {action}. Choose another one, or change that first.", key=key, action=action
                )
        return ""

    def set(self, id: str, key: str) -> None:
        """Let an action have one key, or none where the text is empty."""
        if (written(key),) == self._defaults[id]:
            self._settings.remove(f"{_GROUP}/{id}")
        else:
            self._settings.setValue(f"{_GROUP}/{id}", written(key))
        self._tell()

    def reset(self, id: str) -> str:
        """Give an action its own keys again. Return why it cannot have them, where another one has a key of them."""
        for key in self._defaults[id]:
            if reason := self.refusal(id, key):
                return reason
        self._settings.remove(f"{_GROUP}/{id}")
        self._tell()
        return ""

    def reset_all(self) -> None:
        """Give every action its own keys again."""
        self._settings.remove(_GROUP)
        self._tell()

    def _tell(self) -> None:
        self.changed.emit()
        for widget in QApplication.allWidgets():
            if widget.property(_TIP) is not None:
                _show_tip(widget)


def _has_modifier(key: str) -> bool:
    """Whether a key does not stand for a character or an edit in a field of text."""
    name = key.removeprefix("Shift+")
    return "Ctrl+" in key or "Alt+" in key or "Meta+" in key or (name[:1] == "F" and name[1:].isdigit())


_in_use: list[Shortcuts] = []


def use(shortcuts: Shortcuts) -> None:
    """Show these shortcuts from now on."""
    _in_use[:] = [shortcuts]


def text(id: str) -> str:
    """Return the shortcut of an action; empty for one without."""
    keys = _in_use[0].keys(id) if _in_use else ()
    return written(keys[0]) if keys else ""


def all_keys(id: str) -> str:
    """Return all shortcuts of an action, with commas between."""
    return ", ".join(written(key) for key in _in_use[0].keys(id)) if _in_use else ""


def with_key(words: str, id: str) -> str:
    """Return words and, in parentheses, the shortcut of the action that does this."""
    key = text(id)
    return f"{words} ({key})" if key else words


def set_tip(widget: QWidget, words: str, id: str) -> None:
    """Give a widget a tooltip, or a field a placeholder, with the shortcut of the action that does the same; it follows
    when that is changed."""
    widget.setProperty(_TIP, words)
    widget.setProperty(_ACTION, id)
    _show_tip(widget)


def _show_tip(widget: QWidget) -> None:
    words, id = widget.property(_TIP), widget.property(_ACTION)
    if isinstance(widget, QLineEdit):
        widget.setPlaceholderText(f"{words}  {text(id)}".strip())
    else:
        widget.setToolTip(with_key(words, id))
