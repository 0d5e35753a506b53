"""Forms made from declared fields: a record in, changed records out. Every form of the program is one of these."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from netwright.designer.engine_messages import message_text
from netwright.designer.forms.fold_heading import FoldHeading
from netwright.designer.forms.row import Row, section_label, sentence
from netwright.designer.language import named, tr, translation
from netwright.engine.core.errors import FieldError, FieldErrors
from netwright.engine.core.fields import Field
from netwright.engine.core.records import Record
from netwright.engine.project.sweeps import can_vary

LABEL_WIDTH = 128
WIDE_LABEL_WIDTH = 196
WIDE_FIELD_WIDTH = 210
_LINES = 3
"""Lines of the grid per row: the field, what is wrong with it, an offer."""


class Form(QWidget):
    """Shows and edits one record.

    `is_wide` gives the help a column of its own; else it is the tooltip. A refused text stays, with its error under the
    field, and leaves the record as it was. `skip` names fields that somebody else shows. The rows of the groups in
    `folded` are folded away under their heading until it is clicked, the search finds one, or one is refused. `below`
    gives widgets that stand under the rows of a group, or under the field of a name. A long form shows only the rows of
    `page` at first; rows get their widgets when they are first shown, all of a page before it is. `base` is the folder
    that paths start at. `reference` names the page that documents the fields, which a click on a line of help asks for.
    """

    changed = Signal(str)
    """The name of the field that was edited; `record` has its value."""
    validity_changed = Signal(bool)
    reference_requested = Signal(str)
    """The name of a field whose help was clicked."""
    sweep_requested = Signal(str)
    """The name of a field that is to vary in an experiment, or that varies and whose values are to be seen."""
    sweep_ended = Signal(str)
    """The name of a field that is to vary no more."""
    folding_changed = Signal(str, bool)
    """A group, and whether it was folded away by hand."""

    def __init__(
        self,
        record: Record,
        *,
        is_wide: bool = False,
        skip: Collection[str] = (),
        has_headings: bool = True,
        folded: Collection[str] = (),
        below: Mapping[str, QWidget] | None = None,
        page: Collection[str] | None = None,
        base: Path | None = None,
        reference: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._record = record
        self._given: dict[str, str] = {}
        self._warnings: dict[str, str] = {}
        self._was_valid = True
        self._above, self._gap, self._first_gap = (20, 12, 6) if is_wide else (10, 4, 2)
        self._sections: dict[str, QWidget] = {}
        self._is_searched = False
        self._unused: frozenset[str] = frozenset()
        self._below = dict(below or {})
        self.rows: dict[str, Row] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16 if is_wide else 8)
        grid.setVerticalSpacing(4 if is_wide else 2)
        grid.setColumnMinimumWidth(0, WIDE_LABEL_WIDTH if is_wide else LABEL_WIDTH)
        grid.setColumnStretch(2 if is_wide else 1, 1)
        make = partial(
            Row,
            record=record,
            is_wide=is_wide,
            typed=self._on_typed,
            reset=self.reset,
            base=base,
            reference=reference,
            look_up=self.reference_requested.emit,
            sweep=lambda name, ends: (self.sweep_ended if ends else self.sweep_requested).emit(name),
        )
        self._fill(grid, make, is_wide=is_wide, skip=skip, has_headings=has_headings, folded=folded)
        for name, row in self.rows.items():
            row.is_on_page = page is None or name in page
        self._refresh(keep_typing=False)

    def _fill(
        self,
        grid: QGridLayout,
        make: Callable[[Field[Any]], Row],
        *,
        is_wide: bool,
        skip: Collection[str],
        has_headings: bool,
        folded: Collection[str],
    ) -> None:
        """Place a row per field that is not in `skip`, and the headings of their groups."""
        line = 0
        fields = type(self._record).fields
        order = list(dict.fromkeys(field.group for field in fields.values()))
        # Fields of one group stand together, wherever they are declared.
        for name, field in sorted(fields.items(), key=lambda item: order.index(item[1].group)):
            if name in skip:
                continue
            if self.rows:
                line = self._place_below(grid, line, next(reversed(self.rows.values())).field.group, field.group)
            if has_headings and field.group and field.group not in self._sections:
                heading = self._heading(field.group, folds=field.group in folded)
                self._sections[field.group] = heading
                grid.addWidget(heading, line, 0, 1, 3 if is_wide else 2)
                line += 1
            row = make(field)
            row.place(grid, line, WIDE_FIELD_WIDTH if is_wide else None, self._gap)
            self.rows[name] = row
            if name in self._below:
                grid.addWidget(self._below[name], line + _LINES - 1, 1, 1, 2)
            line += _LINES
        if self.rows:
            line = self._place_below(grid, line, next(reversed(self.rows.values())).field.group)
        grid.setRowStretch(line, 1)  # a form that is given more height stays together at the top

    def set_unused(self, names: Collection[str]) -> None:
        """Leave these rows out for a reason that the record does not know, unless they are changed or searched for."""
        self._unused = frozenset(names)
        self._refresh(keep_typing=True)

    def _place_below(self, grid: QGridLayout, line: int, group: str, before: str | None = None) -> int:
        """Place the widgets under a group, once the rows of the next one begin. Return the next free line."""
        if group == before or group not in self._below:
            return line
        grid.addWidget(self._below[group], line, 0, 1, 3)
        return line + 1

    def _heading(self, group: str, *, folds: bool) -> QWidget:
        if folds:
            heading = FoldHeading(translation(group))
            heading.toggled.connect(lambda is_open: self._on_folded(group, not is_open))
            return heading
        return section_label(translation(group))

    def _on_folded(self, group: str, is_folded: bool) -> None:
        self._refresh(keep_typing=True)
        self.folding_changed.emit(group, is_folded)

    def set_folded(self, group: str, is_folded: bool) -> None:
        """Fold a group of rows away, or show it; of no effect where the group does not fold."""
        heading = self._sections.get(group)
        if isinstance(heading, FoldHeading):
            heading.setChecked(not is_folded)

    @property
    def record(self) -> Record:
        """The record without refused values."""
        return self._record

    @property
    def is_valid(self) -> bool:
        """Whether nothing is refused."""
        return not self.reason

    @property
    def reason(self) -> str:
        """The first thing that is wrong, with its label, or nothing."""
        return next((named(translation(r.field.label), r.message) for r in self.rows.values() if r.message), "")

    @property
    def sections(self) -> Mapping[str, QWidget]:
        """The headings by group, in order."""
        return self._sections

    def set_record(self, record: Record, *, keep_typing: bool = True) -> None:
        """Show another record of the same class, in place. A refused text stays unless its field's value changed."""
        before, self._record = self._record, record
        for name, row in self.rows.items():
            if not keep_typing or getattr(before, name) != getattr(record, name):
                row.error = ""
        self._refresh(keep_typing=keep_typing)

    def set_several(self, names: Collection[str]) -> None:
        """Mark the fields in which the records behind this form differ."""
        for name, row in self.rows.items():
            row.is_several = name in names
        self._refresh(keep_typing=True)

    def set_problems(self, messages: Mapping[str, str], warnings: Mapping[str, str] | None = None) -> None:
        """Show under their fields what is wrong with values for reasons that the record does not know, and what is to
        be told of values that will do."""
        texts = dict(messages), dict(warnings or {})
        if texts != (self._given, self._warnings):
            self._given, self._warnings = texts
            self._refresh(keep_typing=True)

    def show_sweeps(self, names: Collection[str] | None) -> None:
        """Offer to vary each field in an experiment, and mark those that do; None offers nothing."""
        for name, row in self.rows.items():
            row.is_swept = name in names if names is not None and can_vary(row.field) else None
        self._refresh(keep_typing=True)

    def offer_columns(self, names: Sequence[str]) -> None:
        """Offer names of columns where a field takes some."""
        for row in self.rows.values():
            row.offer_columns(names)

    def set_resolved(self, texts: Mapping[str, str]) -> None:
        """Show the resolved values of automatic fields: `auto (2)`."""
        for name, row in self.rows.items():
            row.show_resolved(texts.get(name, ""))

    def search(self, text: str, *, only_changed: bool = False, page: Collection[str] | None = None) -> int:
        """Show only the rows that match all words, and perhaps of these the changed ones; how many there are. Without
        either, show the rows of a page, or all of them.

        One that is reset afterwards stays, so that nothing goes away under the hand. Widgets are made at once: nothing
        moves later.
        """
        words = text.lower().split()
        self._is_searched = bool(words) or only_changed
        for name, row in self.rows.items():
            row.is_found = row.matches(words) and (not only_changed or row.is_changed(self._record))
            row.is_on_page = self._is_searched or page is None or name in page
        self._refresh(keep_typing=True)
        return sum(row.is_shown for row in self.rows.values())

    def set_value(self, name: str, value: object) -> None:
        """Give one field another value, as if it had been typed there."""
        self.rows[name].error = ""
        self._replace(name, value)

    def reset(self, name: str) -> None:
        """Give one field its default again."""
        row = self.rows[name]
        row.error, row.is_several = "", False
        self._replace(name, row.field.default_for(self._record))

    def reset_all(self) -> None:
        """Give every field its default again; `changed` tells of each that was another."""
        for name, row in self.rows.items():
            if name in self._record.changed() or row.error:
                self.reset(name)

    def _on_typed(self, name: str, typed: object) -> None:
        try:
            value = self.rows[name].parse(typed)
        except FieldError:
            self._refresh(keep_typing=True)
            return
        self._replace(name, value)

    def _replace(self, name: str, value: object) -> None:
        try:
            self._record = self._record.replace(**{name: value})
        except FieldErrors as refused:
            self.rows[name].error = sentence(message_text(refused.errors[0].message))
            self._refresh(keep_typing=True)
            return
        self._refresh(keep_typing=True)
        self.changed.emit(name)

    def _refresh(self, *, keep_typing: bool) -> None:
        problems = {error.path: error.message for error in reversed(self._record.problems())} | self._given
        for name, row in self.rows.items():
            if row.error and not self._record.is_visible(name):
                row.error = ""
            row.problem = sentence(message_text(problems.get(name, "")))
            row.warning = sentence(message_text(self._warnings.get(name, "")))
            row.is_unused = name in self._unused and not self._is_searched
        self._fold()
        rows_before = [row for row in self.rows.values() if row.is_made]
        for row in self.rows.values():
            row.show(self._record, keep_typing=keep_typing)
            row.decorate(self._record)
        if rows_before and len(rows_before) < sum(row.is_made for row in self.rows.values()):
            self._order_tabs()
        is_top = True
        for group, heading in self._sections.items():
            heading.setVisible(any(row.applies for row in self._rows_of(group)))
            if isinstance(heading, QLabel) and not heading.isHidden():
                heading.setContentsMargins(0, 0 if is_top else self._above, 0, 0)
                is_top = False
            for number, row in enumerate(row for row in self._rows_of(group) if row.is_shown):
                row.set_gap(self._gap if number else self._first_gap)  # a heading belongs to what it heads
        for name, widget in self._below.items():
            rows = [self.rows[name]] if name in self.rows else self._rows_of(name)
            widget.setVisible(any(row.applies and not row.is_folded for row in rows))
        if self.is_valid != self._was_valid:
            self._was_valid = self.is_valid
            self.validity_changed.emit(self._was_valid)

    def _order_tabs(self) -> None:
        """The Tab key goes down the form, also through rows that were made late."""
        for before, after in pairwise(self.tab_stops()):
            QWidget.setTabOrder(before, after)

    def tab_stops(self) -> list[QWidget]:
        """Return the widgets in the order of the Tab key: editors, and the widgets under the rows of a group."""
        stops: list[QWidget] = []
        for group, rows in groupby(self.rows.values(), key=lambda row: row.field.group):
            for row in rows:
                stops += _stops_in(row.widget) if row.is_made else []
                stops += _stops_in(self._below[row.field.name]) if row.field.name in self._below else []
            stops += _stops_in(self._below[group]) if group in self._below else []
        return stops

    def _rows_of(self, group: str) -> Iterator[Row]:
        return (row for row in self.rows.values() if row.field.group == group)

    def _fold(self) -> None:
        """Rows of a folded group are away, unless one of them needs to be seen."""
        for group, heading in self._sections.items():
            if isinstance(heading, FoldHeading):
                rows = list(self._rows_of(group))
                is_needed = self._is_searched or any(row.message for row in rows)
                for row in rows:
                    row.is_folded = not heading.isChecked() and not is_needed
                changed = [translation(row.field.label) for row in rows if row.is_changed(self._record)]
                heading.set_note(_changes(changed))


def _changes(labels: Sequence[str]) -> str:
    """Return the label of the one changed field, or the number of them."""
    return "".join(labels) if len(labels) < 2 else tr("%n changed", "", len(labels))


def _stops_in(widget: QWidget) -> list[QWidget]:
    """The widget, or the parts of one that is made of several: what Qt moves of such a one depends on where it is.
    Lists that drop down from it are windows of their own."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
        return [widget]
    parts = [part for part in widget.findChildren(QWidget) if part.window() is widget.window()]
    return [child for child in parts if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.focusProxy() is None]
