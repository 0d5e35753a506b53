"""`notify`: who is told when a run, an experiment or a queue has ended."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from netwright.engine.core import webhook
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.operations.operation import Argument, Line, Operation, Request, Result

STANDARD_INPUT = "-"


def read_address(text: str) -> str:
    """Return the address in a text of the command line: of the first line of standard input for `-`."""
    return (sys.stdin.readline() if text == STANDARD_INPUT else text).strip()


@dataclass(frozen=True, kw_only=True)
class NotifyRequest(Request):
    """What is set or tested; without a value what is set is said."""

    webhook: Annotated[
        str | None,
        Argument(
            "the address (https://...); - reads it from standard input, so that no list of commands keeps it",
            metavar="URL",
            read=read_address,
            one_of="ways",
        ),
    ] = None
    off: Annotated[bool, Argument("tell nobody any more", one_of="ways")] = False
    test: Annotated[bool, Argument("send a test message now; exit 3 if it is not taken")] = False

    def check(self) -> None:
        """Refuse an empty address."""
        if self.webhook == "":
            raise UserError("The webhook is empty.", hint="Expected an address; --off switches it off.")


@dataclass(frozen=True, kw_only=True)
class NotifyResult(Result):
    """Who is told when something ends."""

    webhook_host: str
    """Host of the user's webhook; empty where none is set."""
    is_tested: bool
    """Whether it has taken a test message now."""


def notify(request: NotifyRequest) -> NotifyResult:
    """Change the setting, and send a test. Raises `UserError`, and `RunError` where the test was not taken."""
    if request.off or request.webhook is not None:
        webhook.store(request.webhook or "")
    url = webhook.read()
    if request.test:
        if not url:
            raise UserError("No webhook is set.", hint="Set one with --webhook URL.")
        if why := webhook.send(url, webhook.message("test", "Netwright", "finished", "a test", {})):
            raise RunError(why, code="unreachable")
    return NotifyResult(webhook_host=webhook.host_of(url) if url else "", is_tested=request.test)


def text(_: NotifyRequest, result: NotifyResult) -> Iterator[Line]:
    """Yield who is told."""
    host = result.webhook_host
    if result.is_tested:
        yield f"The webhook on {host} took the test message."
    else:
        yield f"The webhook on {host} is told when something ends." if host else "No webhook is set."


OPERATION = Operation(
    name="notify",
    request=NotifyRequest,
    results=(NotifyResult,),
    function=f"{__name__}:notify",
    description=(
        "Show or set the webhook: an address that gets a small JSON object (kind, name, state, reason, metrics) when a "
        "run, an experiment or a queue of yours has ended, by this program or by the window. None is set at first. It "
        "is kept in your settings, never in a project, and no output shows more of it than its host."
    ),
    text=text,
    faces=("command", "window"),
)
