"""Workers that have not enough memory, and workers that hang."""

import re
import signal
from pathlib import Path

import pytest

from netwright.engine.network.network import Network
from netwright.engine.runs.events import Checkpointed, Event, Failed, Message, Resumed
from tests.builders import chain, layer
from tests.faults.conftest import project_of
from tests.faults.harness import Workshop, assert_over, assert_undisturbed
from tests.runs import Done
from tests.system.test_training import TWO, digits

LITTLE = 105 * 2**20


def wide() -> Network:
    return chain(
        layer("image_input", size=8),
        layer("conv2d", filters=128, kernel=3, padding="same"),
        layer("relu"),
        layer("conv2d", filters=128, kernel=3, padding="same"),
        layer("relu"),
        layer("fully_connected", outputs=10),
        layer("softmax"),
    )


def test_memory_that_runs_out_is_named_and_half_of_it_is_offered(workshop: Workshop, tmp_path: Path) -> None:
    """The same again would come to the same, so it is not tried; what the words offer is enough."""
    project = digits(wide(), max_epochs=1, mini_batch_size=1024, validation_frequency=1000, deterministic=True)
    run = workshop.train(project, tmp_path / "run", memory_bytes=LITTLE)
    run.end()
    assert_over(run)
    (failed,) = (event for event in run.events if isinstance(event, Failed))
    assert not any(isinstance(event, Resumed) for event in run.events), "the same again would go as wrong"
    # Which of the two that take as much meets the limit depends on what the heap has kept.
    assert re.match(
        r"There is not enough memory to train \(another 32 MiB could not be had\), in the layer (conv_2|relu_1)\. "
        r"A step is estimated to take 131 MiB at batch 1,024\. ",
        failed.cause,
    )
    assert "--set training.gradient_accumulation=2, or more" in failed.cause
    assert "    32 MiB  conv_2 (128 × 8 × 8)" in failed.detail.splitlines()
    assert "   131 MiB  in all" in failed.detail.splitlines()
    assert run.said()["exit_code"] == 3
    assert failed.offer == "training.gradient_accumulation=2"
    assert (run.folder.read_result() or {})["offer"] == failed.offer
    again = workshop.resume(run.folder, memory_bytes=LITTLE, settings=["training.gradient_accumulation=8"])
    assert again.end().folder.state() == "finished", again.printed()


@pytest.mark.faults
def test_a_worker_that_is_paused_is_known_soon_and_replaced(workshop: Workshop, together: Done, tmp_path: Path) -> None:
    """By somebody else: the log says so long before it is given up."""
    run = workshop.train(project_of(TWO), tmp_path / "run", patience_s=8, hold_at=14)
    run.wait_until(lambda events: any(isinstance(e, Checkpointed) and e.iteration == 14 for e in events), "14 steps")
    run.signal(run.workers[1], signal.SIGSTOP)
    run.let_go()

    def warned(events: list[Event]) -> bool:
        return any(isinstance(event, Message) and "gives no sign of life" in event.text for event in events)

    run.wait_until(warned, "it is said")
    done = run.end()
    assert_over(run)
    (resumed,) = (event for event in run.events if isinstance(event, Resumed))
    (worry,) = (event for event in run.events if warned([event]))
    assert worry.n < resumed.n, "it is said before the worker is given up"
    assert resumed.reason.startswith("Worker 1 (process ")
    assert "it is paused, as by SIGSTOP" in resumed.reason
    assert_undisturbed(done, together)
