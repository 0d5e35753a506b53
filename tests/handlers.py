"""Functions of a test in the place of operations, for requests to processes that answer them."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cli import serve_job
from netwright.engine.operations.data_requests import DataRequest
from netwright.engine.operations.operation import Request, of_window, operation

Handler = Callable[[dict[str, Any]], Any]


class Handled:
    """An operation whose work a function does. It takes any values beside those of the request."""

    def __init__(self, name: str, handler: Handler) -> None:
        self._real = operation(name) or of_window(name, Request, "")
        self._handler = handler

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def read(self, values: dict[str, Any]) -> Any:
        if self._real.request is Request:
            request = DataRequest(data=values["data"], base=Path(values["base"])) if "data" in values else Request()
        else:
            names = {field.name for field in fields(self._real.request)}
            request = self._real.read({name: value for name, value in values.items() if name in names})
        object.__setattr__(request, "values", values)
        return request

    def run(self, request: Any) -> Any:
        return self._handler(request.values)

    def write(self, result: Any) -> Any:
        return result


def handle(monkeypatch: pytest.MonkeyPatch, name: str, handler: Handler) -> None:
    """Let a function answer the requests of this name."""
    before, handled = vars(serve_job)["operation"], Handled(name, handler)
    monkeypatch.setattr(serve_job, "operation", lambda asked: handled if asked == name else before(asked))
