"""The phases of the run that is shown."""

import pytest

from netwright.app.runs.phases import Lifecycle, Phase, Step


def after(*steps: Step) -> Lifecycle:
    lifecycle = Lifecycle()
    for step in steps:
        lifecycle.take(step)
    return lifecycle


@pytest.mark.parametrize(
    ("steps", "phase"),
    [
        ([], Phase.NONE),
        ([Step.PROJECT_OPENED], Phase.UNSEEN),
        ([Step.PROJECT_OPENED, Step.TAB_SEEN], Phase.NONE),
        ([Step.REQUESTED, Step.REFUSED, Step.LIVE_RUN_SHOWN], Phase.RUNNING),
        ([Step.REQUESTED, Step.ENDED_RUN_SHOWN], Phase.PREPARING),
        ([Step.REQUESTED, Step.STOP_REQUESTED], Phase.STOP_WHEN_READY),
        ([Step.REQUESTED, Step.STOP_AFTER_EPOCH_REQUESTED], Phase.STOP_AFTER_EPOCH_WHEN_READY),
        ([Step.REQUESTED, Step.STOP_AFTER_EPOCH_REQUESTED, Step.STOP_REQUESTED], Phase.STOP_WHEN_READY),
        ([Step.LIVE_RUN_SHOWN, Step.HALTED], Phase.PAUSED),
        ([Step.LIVE_RUN_SHOWN, Step.HALTED, Step.WENT_ON], Phase.RUNNING),
        ([Step.LIVE_RUN_SHOWN, Step.HALTED, Step.ENDED], Phase.ENDED),
        ([Step.ENDED_RUN_SHOWN], Phase.REPLAYING),
        ([Step.ENDED_RUN_SHOWN, Step.HALTED, Step.WENT_ON], Phase.REPLAYING),
        ([Step.ENDED_RUN_SHOWN, Step.ENDED], Phase.REPLAYED),
        ([Step.ENDED], Phase.NONE),
    ],
)
def test_each_step_leads_to_a_phase(steps: list[Step], phase: Phase) -> None:
    assert after(*steps).phase is phase


def test_a_refusal_leads_back_to_the_run_that_is_shown() -> None:
    assert after(Step.REQUESTED, Step.REFUSED).phase is Phase.NONE
    assert after(Step.LIVE_RUN_SHOWN, Step.ENDED, Step.REQUESTED, Step.REFUSED).phase is Phase.ENDED
    assert after(Step.ENDED_RUN_SHOWN, Step.REQUESTED, Step.ENDED, Step.STOP_REQUESTED, Step.REFUSED).phase is (
        Phase.REPLAYED
    )
    # The message that refuses stays in sight: the last run of the project does not replace it.
    assert after(Step.PROJECT_OPENED, Step.REQUESTED, Step.REFUSED).phase is Phase.NONE


def test_a_run_that_is_read_while_another_request_waits_keeps_its_own_phase() -> None:
    lifecycle = after(Step.ENDED_RUN_SHOWN, Step.REQUESTED)
    assert (lifecycle.phase, lifecycle.shown) == (Phase.PREPARING, Phase.REPLAYING)
    assert lifecycle.take(Step.ENDED)
    assert (lifecycle.phase, lifecycle.shown) == (Phase.PREPARING, Phase.REPLAYED)
    assert not lifecycle.take(Step.ENDED)


def test_another_run_may_be_chosen_while_one_is_prepared() -> None:
    lifecycle = after(Step.LIVE_RUN_SHOWN, Step.ENDED, Step.REQUESTED, Step.ENDED_RUN_SHOWN)
    assert (lifecycle.phase, lifecycle.shown) == (Phase.PREPARING, Phase.REPLAYING)
    assert lifecycle.take(Step.STOP_REQUESTED)
    assert lifecycle.phase is Phase.STOP_WHEN_READY


def test_what_can_be_done_follows_from_the_phase() -> None:
    assert {phase for phase in Phase if phase.is_running} == {
        *(Phase.PREPARING, Phase.STOP_WHEN_READY, Phase.STOP_AFTER_EPOCH_WHEN_READY),
        *(Phase.RUNNING, Phase.PAUSED),
    }
    assert {phase for phase in Phase if phase.can_resume} == {
        *(Phase.PAUSED, Phase.ENDED, Phase.REPLAYING, Phase.REPLAYED),
    }
    assert {phase for phase in Phase if phase.has_room_for_next} == {Phase.NONE, Phase.UNSEEN, Phase.ENDED}
    assert {phase for phase in Phase if not phase.shows_run} == {Phase.NONE, Phase.UNSEEN}
