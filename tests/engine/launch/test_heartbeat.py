"""Who is silent for too long, with a clock that the test turns."""

from netwright.engine.launch.channel import HeartbeatMonitor


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def turns(
    monitor: HeartbeatMonitor, clock: Clock, seconds: float, *, each_s: float = 0.1, heard: tuple[int, ...] = ()
) -> None:
    for _ in range(round(seconds / each_s)):
        clock.now += each_s
        monitor.tick()
        for rank in heard:
            monitor.record(rank)


def test_who_falls_silent_is_found() -> None:
    clock = Clock()
    monitor = HeartbeatMonitor(30.0, clock)
    turns(monitor, clock, 5, heard=(0, 1))
    turns(monitor, clock, 29, heard=(0,))
    assert monitor.silent_ranks() == []
    turns(monitor, clock, 2, heard=(0,))
    assert monitor.silent_ranks() == [1]
    monitor.record(1)
    assert monitor.silent_ranks() == []


def test_before_the_first_word_nothing_is_expected() -> None:
    """An interpreter that starts imports for as long as the disk takes."""
    clock = Clock()
    monitor = HeartbeatMonitor(30.0, clock)
    turns(monitor, clock, 300)
    assert monitor.silent_ranks() == []


def test_a_pause_of_the_coordinator_is_nobodys_fault() -> None:
    """Ctrl-Z stops all of a run; at `fg` the coordinator may be the first to go on."""
    clock = Clock()
    monitor = HeartbeatMonitor(30.0, clock)
    turns(monitor, clock, 5, heard=(0, 1))
    turns(monitor, clock, 3600, each_s=3600)
    assert monitor.silent_ranks() == []
    turns(monitor, clock, 31)
    assert monitor.silent_ranks() == [0, 1]
