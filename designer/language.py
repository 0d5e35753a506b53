"""The language of the window.

Texts are written in English where they are shown, as literals in `tr`, which `scripts/make_translations.py` extracts
with Qt's lupdate: `tr("Rename to {name}", name=name)`, `tr("%n layer(s)", "", count)`. A text in a table that is
made before the language is known stands in `noop` and is shown by `translation`, as are the texts of the engine, which
knows English alone: labels, help, families. A text without a translation is shown in English.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from string import Formatter
from typing import Any

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from netwright.designer.settings import settings
from netwright.engine.core.fields import Field
from netwright.engine.core.files import RESOURCES

VARIABLE = "NETWRIGHT_LANGUAGE"
"""The environment variable that overrides the setting."""
SETTING = "language"
FOLDER = RESOURCES / "translations"
LAYER = "layer"
"""The comment of the labels of layer types."""
METRIC = "metric"
"""The comment of the titles of metrics: `Precision` is an option too."""
MESSAGE = "engine message"
"""The comment of the sentences that the engine writes, of which `engine_messages` shows the translations."""
PSEUDO = "pseudo"
"""A language for tests: English with accents, 40 % longer, in brackets. What it leaves as it was is not translated."""
ENGLISH, CHINESE = "en", "zh_CN"
LANGUAGES = {"system": "", ENGLISH: "English", CHINESE: "简体中文"}
"""The choices of a user, each by its own name; "system" has none of its own."""
DEFAULT = "system"
"""The choice before there is one."""
FONTS = {CHINESE: ("Noto Sans CJK SC", "Source Han Sans SC", "Microsoft YaHei", "PingFang SC", "WenQuanYi Micro Hei")}
"""Fonts that complete Inter in a language, as far as the system has them, the preferred one first."""

_PLURAL = re.compile(r"\((e?s)\)")
_PLACEHOLDER = re.compile(r"(\{[^}]*\}|%n|&\w|\t.*)", re.DOTALL)
_FORMATTER = Formatter()
_APART = re.compile("[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]")
"""What Chinese writes with a space between."""
_FULL_WIDTH = re.compile("[\u3000-\u303f\uff00-\uffef]$")
_BETWEEN_HAN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_ACCENTS = str.maketrans("AEIOUaceinouy", "ÅÉÎÖÛåçéîñöûý")

Translate = Callable[[str, str, int], str]
"""Translates a text with a comment and a count, which is -1 where nothing is counted; empty without a translation."""


def tr(text: str, comment: str = "", n: int = -1, /, **values: object) -> str:
    """Translate a literal, and fill its placeholders. `comment` tells two uses of the same words apart; `%n` stands
    for a count, beside which English has its plural as `(s)` or `(es)`."""
    shown = _language().translate(text, comment, n) or text
    if n >= 0:
        shown = _PLURAL.sub("" if n == 1 else r"\1", shown).replace("%n", f"{n:,}")
    return with_values(shown, values) if values else shown


def with_values(text: str, values: Mapping[str, object]) -> str:
    """Return a text with values for its placeholders. Chinese has a space between its characters and Latin letters or
    digits, and a translation cannot know with which of them a value begins or ends."""
    if current() != CHINESE:
        return text.format(**values)
    whole = ""
    for literal, name, spec, conversion in _FORMATTER.parse(text):
        whole = _beside(whole, literal)
        if name is not None:
            value = _FORMATTER.convert_field(_FORMATTER.get_field(name, (), values)[0], conversion)
            whole = _beside(whole, format(value, spec or ""))
    return whole


def _beside(before: str, after: str) -> str:
    if _BETWEEN_HAN.search(before[-2:] + after[:2]):  # a translation expects a Latin name there
        return before.rstrip(" ") + after.lstrip(" ")
    return f"{before}{' ' if _APART.fullmatch(before[-1:] + after[:1]) else ''}{after}"


def sentences(texts: Iterable[str]) -> str:
    """Return sentences as one text, with spaces between them; the punctuation of Chinese has its own."""
    return reduce(lambda before, text: f"{before}{'' if _FULL_WIDTH.search(before) else ' '}{text}".strip(), texts, "")


def named(name: str, text: str) -> str:
    """Return a text behind the name of what it tells of: `fc_1: The input is not connected.`"""
    return tr("{name}: {value}", name=name, value=text)


def noop(text: str, comment: str = "") -> str:
    """Mark a literal for extraction; it is shown by `translation`, with the same comment."""
    return text


def translation(text: str, comment: str = "") -> str:
    """Translate a text that is no literal here: one of the engine, or of a table with `noop`."""
    return _language().translate(text, comment, -1) or text if text else text


def layer_label(label: str) -> str:
    """Translate the label of a layer type: `Fold` and `Maximum` are labels of fields too."""
    return translation(label, LAYER)


def in_sentence(text: str, comment: str = "") -> str:
    """Translate a label for the middle of a sentence: English has it in lower case."""
    shown = translation(text, comment)
    return shown if shown != text else text.lower()


def field_help(field: Field[Any]) -> str:
    """Translate the help of a field: its description, and below it its names in MATLAB and torch."""
    names = field.help.removeprefix(field.description).removeprefix(". ")
    return "\n".join(filter(None, (translation(field.description), names)))


def listed(words: Sequence[str]) -> str:
    """Return words as one text: `a, b and c`."""
    *first, last = words
    return close_han(tr("{words} and {last}", words=tr(", ").join(first), last=last)) if first else last


def close_han(text: str) -> str:
    """Return a text that was filled, without the spaces between Chinese characters: they part them from Latin ones."""
    return _BETWEEN_HAN.sub("", text)


def with_english(text: str, comment: str = "") -> str:
    """Translate a name, with the English one beside it: papers and documentation have that."""
    shown = translation(text, comment)
    return shown if shown == text else f"{shown} · {text}"


def current() -> str:
    """Return the name of the installed language: "en", "zh_CN" or "pseudo"."""
    return _language().name


def chosen() -> str:
    """Return the choice of the user: "system" or one of `LANGUAGES`."""
    name = settings().value(SETTING, DEFAULT)
    return name if isinstance(name, str) and name in LANGUAGES else DEFAULT


def set_language(name: str) -> None:
    """Remember the choice of a user, one of `LANGUAGES`. It holds from the next start on."""
    if name not in LANGUAGES:
        raise ValueError(f"No language is named {name!r}. The languages are {', '.join(LANGUAGES)}.")
    settings().setValue(SETTING, name)


def install(app: QCoreApplication) -> None:
    """Install the language of the environment, of the user's choice or of the system, before any widget is made."""
    name = os.environ.get(VARIABLE) or chosen()
    use(app, _of_system() if name == "system" else name)


def use(app: QCoreApplication, name: str) -> None:
    """Install a language; one that is not known is English."""
    language = _language()
    for translator in language.translators:
        app.removeTranslator(translator)
    language.name, language.translate, language.translators = ENGLISH, _untranslated, []
    QLocale.setDefault(QLocale(CHINESE) if name == CHINESE else QLocale.system())  # Qt names kinds of files by it
    if name == PSEUDO:
        language.name, language.translate = PSEUDO, _accented
    elif name in LANGUAGES and name not in (ENGLISH, "system"):
        own, of_qt = QTranslator(app), QTranslator(app)
        if own.load(str(FOLDER / f"netwright_{name}.qm")):
            language.name, language.translators = name, [own]
            language.translate = lambda text, comment, n: own.translate("", text, comment, n)
            if of_qt.load(f"qtbase_{name}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
                app.installTranslator(of_qt)
                language.translators.append(of_qt)


class _Language:
    """The installed language."""

    def __init__(self) -> None:
        self.name = ENGLISH
        self.translate: Translate = _untranslated
        self.translators: list[QTranslator] = []


@cache
def _language() -> _Language:
    return _Language()


def _of_system() -> str:
    """Return Chinese where the system's first language of ours is Chinese in simplified characters."""
    for name in QLocale.system().uiLanguages():
        locale = QLocale(name)
        if locale.language() == QLocale.Language.Chinese:
            return CHINESE if locale.script() == QLocale.Script.SimplifiedHanScript else ENGLISH
        if locale.language() == QLocale.Language.English:
            return ENGLISH
    return ENGLISH


def _untranslated(text: str, comment: str, n: int) -> str:
    return ""


def _accented(text: str, comment: str, n: int) -> str:
    """Return a text of the pseudo-language, with placeholders, mnemonics and shortcuts as they were."""
    if text.startswith("["):  # a text of the engine that was translated already
        return text
    *_, end = ("", *re.findall(r"\t.*$", text, re.DOTALL))
    words = text.removesuffix(end)
    parts = _PLACEHOLDER.split(words)
    accented = "".join(part if number % 2 else part.translate(_ACCENTS) for number, part in enumerate(parts))
    filler = re.sub("(~{8})(?=~)", r"\1 ", "~" * (2 * len(words) // 5))  # with places to break a line
    return f"[{accented}{filler}]{end}"
