"""Where a training is, how far it is to go, and why it ends. Needs no torch."""

from dataclasses import dataclass

from engine.project.extent import Extent


@dataclass
class Course:
    """What the trainer does and what is asked of it both change."""

    extent: Extent
    steps_per_epoch: int
    step: int = 0
    """So many steps are done."""
    epochs_done: int = 0
    ends_because: str = ""
    """Why the run ends after this step; empty while it goes on."""
    is_stopped: bool = False
    """Whether it ends because somebody asked for it."""
    is_last_epoch: bool = False
    """Whether it ends with the epoch that is under way."""
    is_paused: bool = False
    gives_way: bool = False
    """Whether it is to wait without its workers, as soon as a checkpoint is made."""
    save_now: bool = False
    """Whether a checkpoint is due as soon as the workers agree."""

    @property
    def epoch(self) -> int:
        """The epoch of the last step, from 1; 0 before it."""
        return -(-self.step // self.steps_per_epoch)

    @property
    def is_at_epoch_end(self) -> bool:
        """Whether the last step was the last of its epoch."""
        return self.step % self.steps_per_epoch == 0

    @property
    def is_complete(self) -> bool:
        """Whether every epoch is done."""
        return self.epochs_done >= self.extent.epochs

    def pause(self, *, release: bool) -> None:
        """No step is done until somebody asks for it. To give back all memory takes a checkpoint first, for which the
        workers have to agree."""
        self.gives_way = release
        self.save_now |= release
        self.is_paused |= not release

    def go_on(self) -> None:
        """Steps are done again."""
        self.is_paused = self.gives_way = False

    def waits(self) -> bool:
        """Whether no step is to be done until somebody asks for it."""
        return self.is_paused and not self.ends_because

    def end(self, because: str) -> None:
        """The run ends here. The first reason stands."""
        self.ends_because = self.ends_because or because

    def stop(self, because: str) -> None:
        """The run ends here, because somebody asked for it: that stands before other reasons."""
        self.ends_because, self.is_stopped = because, True
