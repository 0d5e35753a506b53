"""Computing something with torch for a process that must never do so itself, because workers are forked from it."""

import contextlib
import json
import os
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from engine.core.errors import UserError

PATIENCE_S = 60.0
_BYTES = 2**16


def apart(work: Callable[[], dict[str, Any]], patience_s: float = PATIENCE_S) -> dict[str, Any]:
    """What `work` gives, a JSON object, computed in a child that is forked for it; where there is no fork, here.

    Raises `UserError` where it does, or takes too long; `RuntimeError` for a defect, whose traceback the child prints.
    """
    if not hasattr(os, "fork"):
        return work()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of threads; here none computes
        child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(writing, work)
    os.close(writing)
    try:
        told = read_all(reading, patience_s)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if told is None:
        raise UserError(f"It took longer than {patience_s:.0f} s. Try it with less data, or again.")
    answer: dict[str, Any] = json.loads(told) if told else {"defect": "the process ended before it answered"}
    if "refusal" in answer:
        raise UserError(answer["refusal"])
    if "defect" in answer:
        raise RuntimeError(answer["defect"])
    result: dict[str, Any] = answer["result"]
    return result


def _be_child(writing: int, work: Callable[[], dict[str, Any]]) -> None:
    """The life of the child. Nothing of it may reach the stack below."""
    try:
        _tell(writing, {"result": work()})
    except UserError as error:
        _tell(writing, {"refusal": str(error)})
    except BaseException as error:  # whatever it was, the parent is to say it
        traceback.print_exc()
        _tell(writing, {"defect": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def _tell(writing: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    while data:
        data = data[os.write(writing, data) :]


def read_all(descriptor: int, patience_s: float) -> bytes | None:
    """All that comes out of a pipe until it is closed, as this closes its own end; None where it takes too long."""
    deadline, said = time.monotonic() + patience_s, b""
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if not (data := pipe.read(_BYTES)):
                return said
            said += data
    return None
