"""The sentences of the engine in the language of the window.

The engine writes English: errors, problems, findings, reasons. `scripts/message_templates.py` finds its sentences in
the code as templates, `{path} has one class only, '{name}'.`, and they are translated in the catalogue like all texts
of the window, with the comment `MESSAGE`. Here a message is compared with these templates, sentence by sentence, and
what fills a placeholder is translated in turn where it is known; in quotes, it is a name. What is not known stays
English.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

from netwright.designer.language import (
    ENGLISH,
    FOLDER,
    MESSAGE,
    PSEUDO,
    close_han,
    current,
    sentences,
    tr,
    translation,
    with_values,
)
from netwright.engine.core.text import format_duration

MOST_CHARACTERS = 4000
"""A longer text is a log or a listing, and stays as it is."""
MOST_KEPT = 2000
"""Messages that are kept with their translations: lists paint theirs again and again."""
MOST_ENDS = 12
"""Ends of sentences up to which a text is cut."""
FEW_LETTERS = 6
"""Letters below which a template, such as `{a} and {b}`, is for parts of sentences only, unless it begins as one."""
MOST_MATCHES = 4
"""Templates that a text is compared with in full."""
MOST_DEPTH = 3
"""How deep messages are looked for in messages."""
_PART = re.compile(r"(\{\{|\}\}|\{\w+\})")
_END = re.compile(r"[.!?…](?= )")
_PROSE = re.compile(r"(?<![\w/.-])[a-z]{2,}[,;:]? [a-z]{2,}(?![\w/.=-])|\b(?:a|the|is|of|and|to) [a-z]")
"""English words in a row: a value of another language has none in the middle of a sentence."""
_LETTER = re.compile("[A-Za-z]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_WHOLE_WORD = re.compile(r"(?<!\w)[A-Za-z]{2,}(?![\w(])")
_BRACKETED = re.compile(r"\(.*\)")
_END_OF_TEXT = re.compile(r"\Z")
_SUFFIX = re.compile(r"\\\((e?s)\\\)")
_COLON = re.compile(": ")
_NAMED, _BETWEEN_NAMED = re.compile(r"(\S[^()]*) \((.+)\)"), re.compile(r"(?<=\)), ")
_TITLE = re.compile(r"(Run|Trial) (\d+)( · .*|)", re.DOTALL)
_DURATION = re.compile(r"(?:([\d,]+) h )?(?:(\d+) m(?: |$))?(?:([\d.]+) s)?")


def message_text(text: object) -> str:
    """Return a text of the engine, such as an error, in the language of the window."""
    language, words = current(), str(text)
    if language == ENGLISH or not words or len(words) > MOST_CHARACTERS:
        return words
    return translation(words) if language == PSEUDO else _shown(language, words)


def part_text(text: str) -> str:
    """Return a part of a sentence of the engine, such as `row 12`, in the language of the window: what few letters are
    enough for."""
    language = current()
    return message_text(text) if language in (ENGLISH, PSEUDO) else _catalogue(language).part(text)


def message_sentences(texts: Iterable[str]) -> str:
    """Return sentences of the engine, such as notes, as one text in the language of the window."""
    return sentences(map(message_text, texts))


def title_text(title: str) -> str:
    """Return the title of a run, such as `Run 5 · adam, 0.001`, in the language; a name of the user's stays."""
    match = _TITLE.fullmatch(title)
    if match is None:
        return title
    kind, number, options = match.groups()
    name = tr("Run {number}", number=number) if kind == "Run" else tr("Trial {number}", number=number)
    return f"{name}{options}"


def duration_text(seconds: float) -> str:
    """Return a duration in the units of the language: `4 m 36 s`."""
    text = format_duration(seconds)
    return _duration(text) or text


def _duration(text: str) -> str:
    """Return a duration that the engine has written in the units of the language; empty where it is none."""
    match = _DURATION.fullmatch(text)
    if current() == ENGLISH or not text or match is None:
        return ""
    units = tr("h", "hours"), tr("m", "minutes"), tr("s", "seconds")
    return " ".join(f"{amount} {unit}" for amount, unit in zip(match.groups(), units, strict=True) if amount)


@lru_cache(MOST_KEPT)
def _shown(language: str, text: str) -> str:
    return _catalogue(language).text(text)


@cache
def _catalogue(language: str) -> "Catalogue":
    from xml.etree import ElementTree  # a start of the window in English does not pay for it

    messages = ElementTree.parse(FOLDER / f"netwright_{language}.ts").getroot().iter("message")
    return Catalogue(
        (message.findtext("source", ""), message.findtext("translation", ""))
        for message in messages
        if message.findtext("comment") == MESSAGE
    )


class Template:
    """A sentence with placeholders, and its translation. A value is as short as can be: so a text is read once from
    left to right, however many placeholders there are."""

    def __init__(self, source: str, shown: str) -> None:
        self._names: list[str] = []
        self._literals = [""]
        self._empty: dict[str, str] = {}
        """Placeholders right behind others, which take all."""
        for part in _PART.split(source):
            if part[:1] == "{" and part != "{{" and self._names and not self._literals[-1]:
                self._empty[part[1:-1]] = ""
            elif part[:1] == "{" and part != "{{":
                self._names.append(part[1:-1])
                self._literals.append("")
            else:
                self._literals[-1] += part[:1] if part in ("{{", "}}") else part
        self._shown = shown
        self._pieces: list[re.Pattern[str]] = []
        self.letters = sum(map(str.isalpha, "".join(self._literals)))
        self.words = set(_WHOLE_WORD.findall("0".join(self._literals)))
        """Words that a text has to have, in one piece."""
        self.is_closed = self._literals[-1][-1:] in (".", "!", "?")
        self.is_sentence = self.is_closed and self._literals[0][:1].isupper()

    def match(self, text: str) -> list[str] | None:
        """Return the values of the placeholders in a text; None where it is another sentence."""
        self._pieces = self._pieces or list(map(_pattern, self._literals))
        match, end, values = self._pieces[0].match(text), 0, []
        for number, piece in enumerate(self._pieces[1:], 1):
            if match is None:
                return None
            end = match.end()
            is_word = self._literals[number - 1][-1:].isspace() or end == 0
            match = (piece if self._literals[number] else _END_OF_TEXT).search(text, end + is_word)
            if match is not None and number == len(self._names) and match.end() < len(text):
                match = re.compile(piece.pattern + r"\Z").search(text, match.start())
            if match is not None:
                values.append(text[end : match.start()])
        return values if match is not None and match.end() == len(text) else None

    def written(self, values: Iterable[str]) -> str:
        """Return the translation with values for its placeholders."""
        return close_han(with_values(self._shown, {**self._empty, **dict(zip(self._names, values, strict=True))}))

    def is_apart(self, number: int) -> bool:
        """Return whether a placeholder is in quotes, or stands behind a colon or a bracket: English may be there."""
        return self.is_quoted(number) or self._literals[number].endswith((": ", "("))

    def is_foreign(self, number: int, value: str) -> bool:
        """Return whether a value stays as it is: a name in quotes, or sentences in brackets, which are of a library."""
        in_brackets = self._literals[number].endswith("(") and self._literals[number + 1].startswith(")")
        return self.is_quoted(number) or (in_brackets and _END.search(value) is not None)

    def is_quoted(self, number: int) -> bool:
        """Return whether a placeholder stands in quotes."""
        return self._literals[number].endswith("'") and self._literals[number + 1].startswith("'")


def _pattern(literal: str) -> re.Pattern[str]:
    return re.compile(_SUFFIX.sub(r"(?:\1)?", re.escape(literal)))


class Catalogue:
    """Templates and their translations, which are found by the rarest of their words."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        texts = dict(pairs)
        self._exact = {source: shown for source, shown in texts.items() if "{" not in source}
        templates = [Template(source, shown) for source, shown in texts.items() if shown]
        counts = Counter(word for template in templates for word in template.words)
        self._by_word: dict[str, list[Template]] = {}
        for template in templates:
            rarest = min(template.words, key=lambda word: (counts[word], word), default="")
            self._by_word.setdefault(rarest, []).append(template)

    def text(self, text: str) -> str:
        """Return a text of any number of lines in the language."""
        return "\n".join(self._line(line, 0) for line in text.split("\n"))

    def part(self, text: str) -> str:
        """Return a part of a sentence in the language."""
        return self._line(text, 1)

    def _line(self, line: str, depth: int) -> str:
        """Return the sentences of a line, the longest that are known first: a name may have a full stop in it."""
        ends = [*[match.end() for match in _END.finditer(line)][: MOST_ENDS - 1], len(line)]
        start, joined, is_known = 0, "", False
        while start < len(line):
            later = [end for end in ends if end > start]
            candidates = ((self._known(line[start:end].strip(), depth), end) for end in reversed(later))
            sentence, end = next(((s, end) for s, end in candidates if s), ("", later[0]))
            is_known = is_known or bool(sentence)
            joined = sentences((joined, sentence or line[start:end].strip()))
            start = end
        return joined if is_known else line

    def _known(self, text: str, depth: int) -> str:
        """Return a sentence, or a part of one, in the language; empty where it is not known."""
        if (translated := _duration(text)) or not _WORD.search(text):
            return translated
        if (translated := self._exact.get(text, "") or translation(text)) != text:
            return translated
        if translated := self._matched(text, depth) or self._parted(text, depth):
            return translated
        if not text.endswith(".") or text.endswith(".."):
            return ""
        translated = self._known(text[:-1], depth)  # where a reason ends a sentence, the stop is not in its template
        return f"{translated}。" if translated else ""

    def _matched(self, text: str, depth: int) -> str:
        """Return the translation of a text that is an instance of a template: of several, where least is left in
        English."""
        candidates = {id(t): t for word in ("", *_WORD.findall(text)) for t in self._by_word.get(word, ())}
        least, best, matches, has_several = len(text) + 1, "", 0, _END.search(_BRACKETED.sub("", text)) is not None
        for template in sorted(candidates.values(), key=lambda template: -template.letters):
            is_worth_it = depth > 0 or template.letters >= FEW_LETTERS or template.is_sentence
            if not is_worth_it or (has_several and not template.is_closed) or matches == MOST_MATCHES:
                continue
            if (values := template.match(text)) is None:
                continue
            matches += 1
            own = [v if template.is_foreign(n, v) else self._value(v, depth) for n, v in enumerate(values)]
            rest = sum(len(_LETTER.findall(value)) for n, value in enumerate(own) if not template.is_quoted(n))
            english = [n for n, value in enumerate(own) if _PROSE.search(value)]
            # A sentence behind the reason of another one has a template of its own.
            has_more = (_END.search(v) and not template.is_foreign(n, v) for n, v in enumerate(values) if n in english)
            is_mixed = not all(map(template.is_apart, english)) or any(has_more)
            if rest < least and not is_mixed:
                least, best = rest, template.written(own)
        return best

    def _value(self, value: str, depth: int) -> str:
        return self._line(value, depth + 1) if depth < MOST_DEPTH else value

    def _parted(self, text: str, depth: int) -> str:
        """Return the texts on both sides of a colon, of which the second is known, or several between semicolons or
        commas; or names, each with a text in brackets: `a.jpg (it is damaged), b.jpg (it is empty)`."""
        if depth >= MOST_DEPTH:
            return ""
        if named := self._named(text, depth):
            return named
        for mark in list(_COLON.finditer(text))[:MOST_DEPTH]:
            rest, before = text[mark.end() :], self._value(text[: mark.start()], depth)
            if any(map(_PROSE.search, before.split(", "))):  # names have commas between
                continue
            if second := self._known(rest, depth + 1):
                return f"{before}：{second}"
        for sign, own in (("; ", "；"), (", ", "、")):
            parts = text.removesuffix(".").split(sign)
            translated = [self._known(part, depth + 1) for part in parts] if 1 < len(parts) <= MOST_ENDS else [""]
            if all(translated):
                return own.join(translated) + "。" * text.endswith(".")
        return ""

    def _named(self, text: str, depth: int) -> str:
        """Return names with the texts in brackets behind them; empty where one is not known."""
        names = [_NAMED.fullmatch(part) for part in _BETWEEN_NAMED.split(text)[: MOST_ENDS + 1]]
        translated = [(match[1], self._known(match[2], depth + 1)) for match in names if match is not None]
        if len(translated) < len(names) or len(names) > MOST_ENDS or not all(why for _, why in translated):
            return ""
        return "，".join(f"{name} ({why})" for name, why in translated)
