"""The guided tour: it leads through the chapters in a window of its own, explains, and acts when it is asked to.

Nothing is undone: going back opens a fresh project and repeats the steps before. The state of the window is looked at
again and again, so that a step notices what the user has done by hand, and its panel follows what it points at.
"""

from collections.abc import Sequence
from time import monotonic

from PySide6.QtCore import QObject, QRect, QSize, QTimer, Signal
from PySide6.QtWidgets import QWidget

from netwright.app.tour.callout import Callout, Pointer, beside
from netwright.app.tour.stage import Script, Stage, Wait
from netwright.app.tour.steps import Chapter, Step, Target
from netwright.app.window import MainWindow
from netwright.designer.language import tr, translation

LOOK_MS = 60
TARGET_S = 5.0
"""How long a page may take to show what a step points at."""


class Tour(QObject):
    """Leads through `chapters` in `window`. `finished` is emitted when it is over; the window is then to be closed."""

    finished = Signal()

    def __init__(self, window: MainWindow, stage: Stage, chapters: Sequence[Chapter]) -> None:
        super().__init__(window)
        self._window, self._stage, self.chapters = window, stage, chapters
        self._chapter = self._index = 0
        self._script: Script | None = None
        self._wait: Wait | None = None
        self._deadline = 0.0
        self._is_closing = self._has_shown = False
        self._layout: object = None
        self._words: object = None
        self._size = QSize()
        """Size of the window or dialog for which the target was brought into view."""
        self.target: Target | None = None
        """The target of the present step; None where that is not in the window."""
        self.pointer: Pointer | None = None
        self.callout: Callout | None = None
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)

    # ---- where it is ----

    @property
    def chapter(self) -> Chapter:
        """The present chapter."""
        return self.chapters[self._chapter]

    @property
    def step(self) -> Step:
        """The present step."""
        return self.chapter.steps[self._index]

    @property
    def is_busy(self) -> bool:
        """Whether the window is being brought to a step, or something is being done for the user."""
        return self._script is not None

    @property
    def is_shown(self) -> bool:
        """Whether the present step is shown, for the size that its window has now."""
        host = self.callout.parentWidget() if self.callout is not None else None
        return self._has_shown and self._layout is not None and host is not None and host.size() == self._size

    @property
    def is_done(self) -> bool:
        """Whether what the step asks for is done."""
        return self.step.is_done is not None and self.step.is_done(self._window)

    @property
    def _is_first(self) -> bool:
        return self._chapter == 0 and self._index == 0

    @property
    def _is_last(self) -> bool:
        return self._chapter == len(self.chapters) - 1 and self._is_last_of_chapter

    @property
    def _is_last_of_chapter(self) -> bool:
        return self._index == len(self.chapter.steps) - 1

    # ---- what the user asks for ----

    def start(self, key: str = "") -> None:
        """Begin with a chapter, by its key, or with the first one."""
        self._chapter = next((place for place, chapter in enumerate(self.chapters) if chapter.key == key), 0)
        self._timer.start()
        self._rebuild(self._chapter, 0)

    def show_me(self) -> None:
        """Do what the step asks for."""
        if not self.is_busy:
            self._run(self._stage.carry_out(self.step))

    def go_on(self) -> None:
        """Go to the next step, which may be the first of the next chapter; what this one asks for is done before."""
        if self.is_busy:
            return
        if self._is_last:
            self.close()
        elif self._is_last_of_chapter:
            self._rebuild(self._chapter + 1, 0)
        else:
            self._run(self._advance())

    def go_back(self) -> None:
        """Go to the step before, in a fresh project in which all before it is repeated."""
        if self.is_busy or self._is_first:
            return
        if self._index:
            self._rebuild(self._chapter, self._index - 1)
        else:
            chapter = self._chapter - 1
            self._rebuild(chapter, len(self.chapters[chapter].steps) - 1)

    def close(self) -> None:
        """End the tour: close its dialogs, stop its run, and tell that it is over."""
        if not self._is_closing:
            self._is_closing = True
            self._hide()
            self._run(self._end())

    # ---- scripts ----

    def _advance(self) -> Script:
        yield from self._stage.carry_out(self.step)
        self._index += 1
        yield from self._enter()

    def _rebuild(self, chapter: int, index: int) -> None:
        self._chapter, self._index = chapter, index
        self._run(self._replay())

    def _replay(self) -> Script:
        self._say(tr("One moment…"))
        yield from self._stage.begin(self.chapter)
        for step in self.chapter.steps[: self._index]:
            yield from self._stage.carry_out(step)
        yield from self._enter()

    def _enter(self) -> Script:
        """Open the page of the step that is shown next."""
        self.step.show(self._window)
        self._has_shown = False
        yield Wait(lambda: self.step.target(self._window) is not None, TARGET_S)

    def _end(self) -> Script:
        yield from self._stage.close_dialogs()
        yield from self._stage.stop()
        self._timer.stop()
        self.finished.emit()

    def _run(self, script: Script) -> None:
        """Begin a script; one that goes on is given up."""
        self._script, self._wait = script, None
        self._show_buttons()

    def _go_on_with_script(self) -> None:
        """Let the script go on, once what it waits for has come, or its patience has ended."""
        if self._wait is not None and not self._wait.fact() and monotonic() < self._deadline:
            return
        script = self._script
        assert script is not None
        self._wait = next(script, None)
        if self._script is not script:
            return
        if self._wait is None:
            self._script = None
            if not self._is_closing:
                self._show_step()
        else:
            self._deadline = monotonic() + self._wait.patience_s

    # ---- what is seen ----

    def _look(self) -> None:
        """Go on, and show the step where its target is now."""
        if self._script is not None:
            self._go_on_with_script()
        elif not self._is_closing:
            self._show_step()

    def _show_step(self) -> None:
        target = self.step.target(self._window)
        if target is not None and not self._has_shown:
            target.bring()
        place = target.place() if target is not None else QRect()
        if place.isEmpty():
            target = None
        self.target = target
        host = target.window if target is not None else self._window
        if self._has_shown and host.size() != self._size:  # it is brought into view again, with the next look
            self.step.show(self._window)
            self._has_shown = False
            return
        callout = self._callout_in(host)
        words = (self._chapter, self._index, callout)
        is_new = words != self._words
        if is_new:
            heading = tr(
                "{number} of {count} · {title}",
                number=self._chapter + 1,
                count=len(self.chapters),
                title=translation(self.chapter.title),
            )
            steps = self.chapter.steps
            callout.say(
                heading,
                translation(self.step.text),
                tr("Step {number} of {count}", number=self._index + 1, count=len(steps)),
            )
            self._words = words
        if not self._has_shown:
            self._has_shown, self._layout, self._size = True, None, host.size()
        self._show_buttons()
        self._place(callout, host, place)
        if is_new:
            callout.take_keyboard()

    def _say(self, text: str) -> None:
        """Say in the middle of the window what is waited for."""
        self._layout = self._words = self.target = None
        callout = self._callout_in(self._window)
        callout.say(translation(self.chapter.title), text, "")
        self._has_shown = False
        self._place(callout, self._window, QRect())

    def _show_buttons(self) -> None:
        if self.callout is None:
            return
        is_done, is_busy = self.is_done, self.is_busy
        is_end = self._is_last_of_chapter
        forward = tr("Finish") if self._is_last else tr("Next chapter") if is_end else tr("Next", "step")
        state = tr("Working…") if is_busy and self._has_shown else tr("✓ Done") if is_done and not is_busy else ""
        self.callout.show_state(
            state,
            can_act=self.step.act is not None and not is_done and not is_busy,
            can_go_back=not self._is_first and not is_busy,
            can_go_on=not is_busy,
            forward=forward,
        )

    def _place(self, callout: Callout, host: QWidget, place: QRect) -> None:
        """Put the panel beside the target, where it or the window has changed."""
        sizes = callout.sizes()
        layout = (host, place, host.size(), tuple(sizes))
        if layout == self._layout:
            return
        self._layout = layout
        geometry = beside(place, host.rect(), sizes, prefers_below=self.step.prefers_below)
        callout.setGeometry(geometry)
        callout.show()
        assert self.pointer is not None
        self.pointer.point(place, geometry)
        callout.raise_()

    def _callout_in(self, host: QWidget) -> Callout:
        """Return the panel in a window or dialog; it is made anew where it was in another one."""
        if self.callout is not None and self.callout.parentWidget() is host:
            return self.callout
        self._hide()
        self.pointer, self.callout = Pointer(host), Callout(host)
        self.callout.back_requested.connect(self.go_back)
        self.callout.next_requested.connect(self.go_on)
        self.callout.shown_requested.connect(self.show_me)
        self.callout.close_requested.connect(self.close)
        self.callout.destroyed.connect(self._forget)
        return self.callout

    def _hide(self) -> None:
        callout, pointer = self.callout, self.pointer
        self.callout = self.pointer = None
        if callout is not None:
            callout.destroyed.disconnect(self._forget)
        for part in (callout, pointer):
            if part is not None:
                part.hide()
                part.deleteLater()

    def _forget(self) -> None:
        """The dialog that had the panel is gone."""
        self.callout = self.pointer = None
