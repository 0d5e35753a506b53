"""Work in a child that is forked for it."""

import os
import signal
from typing import Any

import pytest

from engine.core.child_process import PipedChild, fork, run_in_child_process
from engine.core.errors import UserError


def test_the_answer_comes_back_from_another_process() -> None:
    answer = run_in_child_process(lambda: {"pid": os.getpid(), "much": "x" * 200_000})
    assert answer["pid"] != os.getpid()
    assert len(answer["much"]) == 200_000


def test_a_forked_child_ends_with_its_code_and_prints_once(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        print("child")
        return 7

    def fail() -> int:
        raise ValueError("oops")

    print("parent")
    codes = [os.waitstatus_to_exitcode(os.waitpid(fork(*call), 0)[1]) for call in ((work,), (fail, 70))]
    assert codes == [7, 70]
    printed = capfd.readouterr()
    assert printed.out.split() == ["parent", "child"]
    assert "ValueError: oops" in printed.err


def test_refusals_and_defects_come_back_as_such(capfd: pytest.CaptureFixture[str]) -> None:
    def refuse() -> dict[str, Any]:
        raise UserError("No such file.")

    with pytest.raises(UserError, match="No such file"):
        run_in_child_process(refuse)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_in_child_process(lambda: {"x": 1 // 0})
    assert "Traceback" in capfd.readouterr().err


def test_a_child_that_dies_or_hangs_is_told() -> None:
    def die() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def hang() -> dict[str, Any]:
        signal.pause()
        return {}

    with pytest.raises(RuntimeError, match="ended before it answered"):
        run_in_child_process(die)
    with pytest.raises(UserError, match="longer than 0 s"):
        run_in_child_process(hang, patience_s=0.1)


def test_a_child_answers_until_it_dies() -> None:
    def answer(question: bytes) -> bytes:
        if question == b"die":
            os.kill(os.getpid(), signal.SIGKILL)
        if question == b"wait":
            signal.pause()
        return question * 2

    child = PipedChild(answer)
    try:
        long = os.urandom(300_000)
        assert [child.ask(one, 60.0) for one in (b"a", long, b"b")] == [b"aa", long * 2, b"bb"]
        assert child.ask(b"die", 60.0) is None
        assert child.ask(b"c", 60.0) is None
    finally:
        child.close()
    late = PipedChild(answer)
    assert late.ask(b"wait", 0.1) is None
    late.close()
