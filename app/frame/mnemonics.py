"""The letters that choose the entries of a menu by the keyboard: each is there once in its menu."""

import re
from collections.abc import Sequence
from string import ascii_lowercase

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

LETTERS = "letters"
"""The property of an entry with its English text: one in Chinese takes its letter from there."""
_HAN = re.compile("[\u4e00-\u9fff]")
_BEHIND = re.compile(r"\(&[A-Z0-9]\)")


def with_mnemonics(texts: Sequence[str], english: Sequence[str] = ()) -> list[str]:
    """Return the texts with an ampersand before a letter of each: the initial of a word where that is free. A text in
    Chinese has the letter of its English text behind it, in parentheses."""
    plain = [_BEHIND.sub("", text).replace("&&", "\0").replace("&", "").replace("\0", "&&") for text in texts]
    sources = [_letters(text) for text in plain]
    for number, text in enumerate(plain):
        if _HAN.search(text):
            words = english[number] if number < len(english) else text
            sources[number] = [letter for letter in (*_letters(words), *ascii_lowercase) if letter.isascii()]
    owners: dict[str, int] = {}

    def take(number: int, refused: set[str]) -> bool:
        """Give an entry a letter that is free, else that of an entry which can take another one."""
        letters = [letter for letter in sources[number] if letter not in refused]
        for letter in sorted(letters, key=owners.__contains__):
            refused.add(letter)
            if letter not in owners or take(owners[letter], refused):
                owners[letter] = number
                return True
        return False

    for number in range(len(plain)):
        take(number, set())
    letters = {number: letter for letter, number in owners.items()}
    return [_marked(text, letters.get(number, "")) for number, text in enumerate(plain)]


def _letters(text: str) -> list[str]:
    """Return the letters and digits of a text, the initials of its words first."""
    initials = [word[0] for word in text.lower().split()]
    return [letter for letter in dict.fromkeys([*initials, *text.lower()]) if letter.isalnum()]


def _marked(text: str, letter: str) -> str:
    if not letter:
        return text
    if _HAN.search(text):
        return f"{text.removesuffix('…')}(&{letter.upper()}){'…' if text.endswith('…') else ''}"
    words = text.lower()
    starts = [place for place in range(len(words)) if place == 0 or words[place - 1] == " "]
    at = next((place for place in starts if words[place] == letter), words.index(letter))
    return f"{text[:at]}&{text[at:]}"


def mark_entries(titles: Sequence[QAction]) -> None:
    """Give every entry of these menus, and of those in them, its letter."""
    for title in titles:
        menu = title.menu()
        if isinstance(menu, QMenu):
            entries = [action for action in menu.actions() if action.text() and not action.isSeparator()]
            english = [str(entry.property(LETTERS) or entry.text()) for entry in entries]
            texts = with_mnemonics([entry.text() for entry in entries], english)
            for action, text in zip(entries, texts, strict=True):
                action.setText(text)
            mark_entries(entries)
