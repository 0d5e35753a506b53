"""An answer of the queue, such as an evaluation, computed in a process of its own.

python -m netwright.engine.core.child netwright.engine.cli.queued_answer FOLDER ID
"""

import contextlib
import io
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from netwright.engine.cli.operation_command import print_lines
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, EXIT_RUN_FAILED, EXIT_STOPPED, UserError
from netwright.engine.core.platform import interrupt_main_thread
from netwright.engine.core.progress import Throttle, in_words, listening, noticing
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.operations.operation import installed_operation
from netwright.engine.project.data_hosts import grant, read_hosts
from netwright.engine.runs.queue import Claim, Queue
from netwright.engine.runs.queued_answers import QueuedResult, read_request, stop_file, write_queued_result

LOOK_S = 0.2
AGAIN_S = 5.0
TOLD_S = 1.0


def compute(queue: Queue, id: int) -> int:
    """Compute a waiting answer, from its claim to its end, and return an exit code.

    Returns `EXIT_INPUT` if the entry no longer waits. Raises `RunError` if another process computes it.
    """
    with queue.claimed(id) as claim:
        if not claim.entry.is_waiting:
            return EXIT_INPUT
        stop_file(queue, id).unlink(missing_ok=True)
        claim.change(state="running")
        try:
            with _stoppable(stop_file(queue, id)):
                result = _result(queue, claim)
        except KeyboardInterrupt:
            claim.change(state="stopped", progress="")
            return EXIT_STOPPED
        except UserError as error:
            claim.change(state="failed", reason=str(error), progress="")
            return error.exit_code
        except Exception as error:
            traceback.print_exc()
            reason = f"A defect of Netwright: {type(error).__name__}: {error}"
            claim.change(state="failed", reason=reason, progress="")
            return EXIT_RUN_FAILED
        write_queued_result(queue, id, result)
        claim.change(state="finished", progress="")
        return EXIT_DONE


def _result(queue: Queue, claim: Claim) -> QueuedResult:
    """Compute an answer, with its progress in the queue. Raises `UserError`."""
    queued = read_request(queue, claim.entry.id)
    declared = installed_operation(queued.operation)
    os.chdir(queued.folder)
    grant(read_hosts(claim.entry.hosts))
    calm_threads()

    def tell(count: int, total: int, unit: str) -> None:
        claim.change(progress=in_words(count, total, unit))

    request = declared.read(queued.values)
    with noticing() as notices, listening(Throttle(tell, every_s=TOLD_S)):
        result = declared.whole(declared.run(request))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            print_lines(declared.text(request, result))
        remarks = (*notices, *declared.notices(result), *declared.remarks(result))
        return QueuedResult({**declared.write(result), **declared.failure(result)}, text.getvalue(), remarks)


@contextlib.contextmanager
def _stoppable(file: Path) -> Iterator[None]:
    """Interrupt the caller, which is the main thread, as Ctrl-C does, once a file is there. Again after a while: an
    interrupt in the middle of an import may be lost."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_S):
            if file.exists():
                interrupt_main_thread()
                is_over.wait(AGAIN_S)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        file.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> int:
    """Compute an answer from the command line; return the exit code."""
    folder, id, *_ = arguments
    try:
        return compute(Queue(Path(folder)), int(id))
    except UserError as error:  # another process computes it
        say(str(error), to=sys.stderr)
        return EXIT_DONE
