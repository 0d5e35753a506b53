"""`endpoint MODEL`: a model that answers over HTTP, until it is told to stop.

The libraries are imported by the command alone; for an ONNX file torch is not.
"""

import argparse
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from netwright.engine.cli.commands import Commands
from netwright.engine.cli.operation_command import add_argument
from netwright.engine.cli.printing import say
from netwright.engine.core.errors import EXIT_DONE, UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.files import read_file
from netwright.engine.core.part_registry import imported
from netwright.engine.operations.model_request import ModelRequest
from netwright.engine.operations.operation import Argument, Device, Operation, Parameter

HOST, PORT = "127.0.0.1", 8000
TOKEN_CHARACTERS = range(16, 1025)
LIMITS = "limits"


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"expected a whole number from {low:,} to {high:,}, received '{text}'")
        return int(text)

    return read


@dataclass(frozen=True, kw_only=True)
class EndpointRequest(ModelRequest):
    """Answer over HTTP what a model says to rows, texts, pictures, sounds and arrays, as predict --json does. It
    listens on this machine alone, and wants a token, which it prints. A page to try it is at /, its OpenAPI at
    /openapi.json. Ctrl-C ends it, once everything that was asked is answered."""

    device: Device = "auto"
    host: Annotated[str, Argument("where it listens (default: this machine alone)", metavar="ADDRESS")] = HOST
    port: Annotated[int, Argument(f"default {PORT}; 0: any that is free", metavar="N", read=_number(0, 65_535))] = PORT
    token_file: Annotated[
        Path | None, Argument("file with the token that clients send, in place of a new one", metavar="FILE")
    ] = None
    max_batch: Annotated[
        int,
        Argument("samples that are computed at once (default: 64)", metavar="N", read=_number(1, 65_536), group=LIMITS),
    ] = 64
    max_wait: Annotated[
        int,
        Argument(
            "milliseconds that a batch waits for more samples (default: 0)",
            metavar="MS",
            read=_number(0, 10_000),
            group=LIMITS,
        ),
    ] = 0
    max_body: Annotated[
        int, Argument("MiB per request (default: 16)", metavar="MIB", read=_number(1, 4096), group=LIMITS)
    ] = 16
    queue: Annotated[
        int,
        Argument(
            "requests that are answered at once; more are turned away (default: 256)",
            metavar="N",
            read=_number(1, 65_536),
            group=LIMITS,
        ),
    ] = 256
    timeout: Annotated[
        int, Argument("seconds per request (default: 30)", metavar="S", read=_number(1, 86_400), group=LIMITS)
    ] = 30
    container: Annotated[
        Path | None, Argument("write a Containerfile (Dockerfile) of the endpoint, and end", metavar="FILE")
    ] = None

    def token(self) -> str:
        """Return the token of the file, or a new one. Raises `UserError`."""
        if self.token_file is None:
            return secrets.token_urlsafe(32)
        try:
            token = read_file(self.token_file, 2 * TOKEN_CHARACTERS.stop).decode("ascii").strip()
        except UnicodeDecodeError:
            token = ""
        except OSError as error:
            raise UserError(f"{self.token_file} cannot be read: {error.strerror or error}.") from error
        if len(token) not in TOKEN_CHARACTERS or not token.isprintable() or " " in token:
            raise UserError(
                f"{self.token_file} holds no token.",
                hint=f"Expected {TOKEN_CHARACTERS.start} to {TOKEN_CHARACTERS.stop - 1:,} letters, digits and signs.",
            )
        return token


def _parameters() -> Iterator[Parameter]:
    declared: Operation[EndpointRequest, None] = Operation(name="endpoint", function="", request=EndpointRequest)
    return (one for one in declared.parameters() if "command" in one.argument.faces)


def register(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser("endpoint", description=" ".join((EndpointRequest.__doc__ or "").split()))
    limits = command.add_argument_group(LIMITS)
    for parameter in _parameters():
        add_argument(limits if parameter.argument.group else command, parameter)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal says to stop; with `--container` write a Containerfile. Raises `UserError`."""
    request = EndpointRequest(**{one.name: getattr(arguments, one.name) for one in _parameters()})
    if request.container is not None:
        imported("netwright.engine.endpoint.container_file:write_container")(request.choice.path, request.container)
        say(f"{request.container}: how to build and run it is said at its beginning.")
        return EXIT_DONE
    for module in ("fastapi", "uvicorn", "python_multipart"):
        import_extra(module, "endpoint", "Endpoints")
    imported("netwright.engine.endpoint.endpoint_server:serve")(request)
    return EXIT_DONE
