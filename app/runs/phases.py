"""The phases that the page of a run goes through."""

from enum import Enum, auto


class Phase(Enum):
    """The phase of a run, from the request for a run to its end."""

    NONE = auto()
    """No run is shown."""
    UNSEEN = auto()
    """Another project was opened; its last run is looked up when the tab is seen."""
    PREPARING = auto()
    """The engine prepares a run, or resumes one that has ended."""
    STOP_WHEN_READY = auto()
    """As `PREPARING`; the run is to be stopped as soon as it can be asked."""
    STOP_AFTER_EPOCH_WHEN_READY = auto()
    """As `PREPARING`; the run is to be stopped after its first epoch."""
    REPLAYING = auto()
    """The events of a run that had ended before are being read."""
    REPLAYED = auto()
    """A run that had ended before is shown."""
    RUNNING = auto()
    """A run is followed."""
    PAUSED = auto()
    """The run that is followed waits."""
    ENDED = auto()
    """The run that was followed has ended."""

    @property
    def is_preparing(self) -> bool:
        """Whether the engine prepares a run that cannot be asked for anything yet."""
        return self in (Phase.PREPARING, Phase.STOP_WHEN_READY, Phase.STOP_AFTER_EPOCH_WHEN_READY)

    @property
    def is_running(self) -> bool:
        """Whether no other run can be started: one is prepared or followed."""
        return self.is_preparing or self in (Phase.RUNNING, Phase.PAUSED)

    @property
    def shows_run(self) -> bool:
        """Whether a run of the project is shown, or will be in a moment."""
        return self not in (Phase.NONE, Phase.UNSEEN)

    @property
    def has_room_for_next(self) -> bool:
        """Whether the queue's next run may be shown: no run is, or the one that was followed was seen to end."""
        return self in (Phase.NONE, Phase.UNSEEN, Phase.ENDED)

    @property
    def can_resume(self) -> bool:
        """Whether the run can go on: it waits, or it has ended."""
        return self in (Phase.PAUSED, Phase.ENDED, Phase.REPLAYING, Phase.REPLAYED)


class Step(Enum):
    """Events that lead from one phase to another."""

    PROJECT_OPENED = auto()
    TAB_SEEN = auto()
    REQUESTED = auto()
    """The engine was asked to start or resume a run."""
    REFUSED = auto()
    """The engine refused to do so, or has answered: another run is shown next."""
    STOP_REQUESTED = auto()
    STOP_AFTER_EPOCH_REQUESTED = auto()
    LIVE_RUN_SHOWN = auto()
    ENDED_RUN_SHOWN = auto()
    WENT_ON = auto()
    """The run trains, by its events."""
    HALTED = auto()
    """The run is paused, by its events."""
    ENDED = auto()
    """All events of a run that has ended have been read."""


_SHOWN = {Step.LIVE_RUN_SHOWN: Phase.RUNNING, Step.ENDED_RUN_SHOWN: Phase.REPLAYING}
_ANYWHERE = {Step.PROJECT_OPENED: Phase.UNSEEN, Step.REQUESTED: Phase.PREPARING, **_SHOWN}
_FROM = {
    (Phase.UNSEEN, Step.TAB_SEEN): Phase.NONE,
    (Phase.PREPARING, Step.STOP_REQUESTED): Phase.STOP_WHEN_READY,
    (Phase.PREPARING, Step.STOP_AFTER_EPOCH_REQUESTED): Phase.STOP_AFTER_EPOCH_WHEN_READY,
    (Phase.STOP_WHEN_READY, Step.STOP_AFTER_EPOCH_REQUESTED): Phase.STOP_AFTER_EPOCH_WHEN_READY,
    (Phase.STOP_AFTER_EPOCH_WHEN_READY, Step.STOP_REQUESTED): Phase.STOP_WHEN_READY,
    (Phase.RUNNING, Step.HALTED): Phase.PAUSED,
    (Phase.PAUSED, Step.WENT_ON): Phase.RUNNING,
    (Phase.RUNNING, Step.ENDED): Phase.ENDED,
    (Phase.PAUSED, Step.ENDED): Phase.ENDED,
    (Phase.REPLAYING, Step.ENDED): Phase.REPLAYED,
}


class Lifecycle:
    """The phase of now. While a run is being prepared it also keeps the phase of the run that is still shown, to which
    a refusal leads back; another one may be chosen meanwhile."""

    def __init__(self) -> None:
        self.phase = Phase.NONE
        self._shown = Phase.NONE

    @property
    def shown(self) -> Phase:
        """The phase of the run that is shown, whatever is being prepared."""
        return self._shown if self.phase.is_preparing else self.phase

    def take(self, step: Step) -> bool:
        """Go to the next phase; a step that leads nowhere from here changes nothing. Return whether it did."""
        before = self.phase, self._shown
        if self.phase.is_preparing and (step in _SHOWN or step in (Step.WENT_ON, Step.HALTED, Step.ENDED)):
            self._shown = _SHOWN.get(step) or _FROM.get((self._shown, step), self._shown)
        elif step is Step.REFUSED:
            self.phase = self.shown
        else:
            if step is Step.REQUESTED:
                self._shown = Phase.NONE if self.phase is Phase.UNSEEN else self.shown
            self.phase = _ANYWHERE.get(step) or _FROM.get((self.phase, step), self.phase)
        return (self.phase, self._shown) != before
