"""A stand-in for the engine server: it answers from a dictionary, when the test says so."""

from collections.abc import Mapping
from typing import Any

from netwright.app.processes import EngineServer, OnError, OnResult, PendingRequest, _ignore_progress


class FakeServer(EngineServer):
    """Keeps what was asked; `answer` and `refuse` reply to the oldest request of a kind that waits."""

    def __init__(self, answers: Mapping[str, dict[str, Any]] | None = None) -> None:
        super().__init__()
        self.answers = dict(answers or {})
        self.asked: list[PendingRequest] = []
        self.waiting: list[PendingRequest] = []
        self.cancelled: list[str] = []

    def start(self) -> None:
        """There is no process."""
        self.is_ready = True
        self.ready.emit()

    def request(
        self,
        do: str,
        given: dict[str, Any],
        on_result: OnResult,
        on_error: OnError,
        on_progress: OnResult = _ignore_progress,
    ) -> int:
        """Answer at once if there is an answer, else wait for the test."""
        request = PendingRequest(do, given, on_result, on_error, on_progress)
        self.asked.append(request)
        if do in self.answers:
            on_result(self.answers[do])
        else:
            self.waiting.append(request)
        return len(self.asked)

    def cancel(self, id: int, *, only_waiting: bool = False) -> None:
        """Note what is cancelled, if it was not answered yet."""
        request = self.asked[id - 1]
        if request in self.waiting:
            self.waiting.remove(request)
            self.cancelled.append(f"{request.do}, if it waits" if only_waiting else request.do)

    def _take_waiting(self, do: str) -> PendingRequest:
        request = next(request for request in self.waiting if request.do == do)
        self.waiting.remove(request)
        return request

    def answer(self, do: str, result: dict[str, Any]) -> None:
        """Reply to the oldest request of this kind."""
        self._take_waiting(do).on_result(result)

    def refuse(self, do: str, message: str, **error: Any) -> None:
        """Refuse the oldest request of this kind. `error`: what else the engine says of it."""
        self.error = {"message": message, **error}
        self._take_waiting(do).on_error(message)

    def tell(self, do: str, done: int, total: int, unit: str) -> None:
        """Report the progress of the oldest request of this kind."""
        request = next(request for request in self.waiting if request.do == do)
        request.on_progress({"done": done, "total": total, "unit": unit})

    def count(self, do: str) -> int:
        """How often this was asked."""
        return sum(request.do == do for request in self.asked)
