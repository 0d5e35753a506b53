"""A stand-in for the engine server: it answers from a dictionary, when the test says so."""

from collections.abc import Mapping
from typing import Any

from app.processes import EngineServer, OnError, OnResult, PendingRequest


class FakeServer(EngineServer):
    """Keeps what was asked; `answer` and `refuse` reply to the oldest request of a kind that waits."""

    def __init__(self, answers: Mapping[str, dict[str, Any]] | None = None) -> None:
        super().__init__()
        self.answers = dict(answers or {})
        self.asked: list[PendingRequest] = []
        self.waiting: list[PendingRequest] = []

    def start(self) -> None:
        """There is no process."""
        self.is_ready = True
        self.ready.emit()

    def request(self, do: str, given: dict[str, Any], on_result: OnResult, on_error: OnError) -> None:
        """Answer at once if there is an answer, else wait for the test."""
        request = PendingRequest(do, given, on_result, on_error)
        self.asked.append(request)
        if do in self.answers:
            on_result(self.answers[do])
        else:
            self.waiting.append(request)

    def _take_waiting(self, do: str) -> PendingRequest:
        request = next(request for request in self.waiting if request.do == do)
        self.waiting.remove(request)
        return request

    def answer(self, do: str, result: dict[str, Any]) -> None:
        """Reply to the oldest request of this kind."""
        self._take_waiting(do).on_result(result)

    def refuse(self, do: str, message: str) -> None:
        """Refuse the oldest request of this kind."""
        self._take_waiting(do).on_error(message)

    def count(self, do: str) -> int:
        """How often this was asked."""
        return sum(request.do == do for request in self.asked)
