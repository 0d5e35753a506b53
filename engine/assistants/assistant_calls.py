"""Calls of tools: which there are, what they may reach, their answers, and the record of them."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from netwright.engine.assistants import own_tools
from netwright.engine.assistants.access import Access, texts
from netwright.engine.assistants.bounded_json import bounded
from netwright.engine.assistants.call_record import record, refuse_unrecorded
from netwright.engine.assistants.engine_link import EngineLink
from netwright.engine.assistants.operation_tools import PROPOSALS, OperationTool, Schema, operation_tools
from netwright.engine.core.dataclass_json import JsonShapeError
from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.finite_json import to_json

DEFECT = "defect"


@dataclass(frozen=True)
class Permissions:
    """What a person allows: proposals and other files beside projects; runs."""

    may_write: bool = False
    may_start: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool as clients see it."""

    description: str
    schema: Schema
    writes: bool
    of: OperationTool | None = None


class AssistantCalls:
    """The tools and what they do. `close` must be called."""

    def __init__(self, access: Access, permissions: Permissions) -> None:
        self.access, self._permissions = access, permissions
        self._engine = EngineLink(access.folders[0])
        of_operations = operation_tools(may_write=permissions.may_write)
        self.tools = {
            name: Tool(tool.operation.description, tool.schema, tool.writes, tool)
            for name, tool in of_operations.items()
        }
        own = [own_tools.READ, own_tools.START, *([own_tools.PROPOSE] if permissions.may_write else [])]
        for name in own:
            writes = name == own_tools.PROPOSE or (name == own_tools.START and permissions.may_start)
            self.tools[name] = Tool(own_tools.DESCRIPTIONS[name], own_tools.schema_of(name), writes)

    def close(self) -> None:
        """End the engine process."""
        self._engine.close()

    async def call(self, name: str, values: Mapping[str, Any], client: str) -> Mapping[str, Any]:
        """Return the result of a call in a bounded form, and record it: there is no call without its record. Raises
        `UserError`, also for a defect."""
        started, outcome = time.monotonic(), DEFECT
        folder = self._folder(values)
        refuse_unrecorded(folder)
        try:
            answer = await self._result(name, values, client)
            outcome = "done"
        except UserError as error:
            outcome = error.code
            raise
        except Exception as error:
            raise UserError(f"{type(error).__name__}: {error}; a defect of Netwright.", code=DEFECT) from error
        finally:
            seconds = round(time.monotonic() - started, 3)
            about: dict[str, Any] = {"time": time.time(), "client": client, "tool": name[:100], "outcome": outcome}
            runs = [path for path in self._places(values) if (path / "run.json").is_file()]
            record(folder, runs, {**about, "seconds": seconds, "arguments": values})
        result, is_cut = bounded(to_json(answer))
        return {"result": result, **({"cut": "The answer was too long: parts are left out."} if is_cut else {})}

    async def _result(self, name: str, values: Mapping[str, Any], client: str) -> Mapping[str, Any]:
        if (tool := self.tools.get(name)) is None:
            raise self._unknown(name)
        if tool.of is None:
            ask = partial(own_tools.call, name, values, self.access, client, may_start=self._permissions.may_start)
            return await anyio.to_thread.run_sync(ask)
        try:
            tool.of.check(values)
        except JsonShapeError as error:
            raise UserError(f"{name}: {error}.", code="usage") from None
        self.access.refuse_outside(values)
        future = self._engine.ask(tool.of.operation.name, {**values, **self._files(tool.of, values)})
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._engine.cancel(future)
            raise

    def _unknown(self, name: str) -> UserError:
        everything = {*operation_tools(may_write=True), own_tools.PROPOSE}
        if name in everything:
            hint = "A person allows that: netwright-engine mcp --write."
            return UserError(f"{name} writes files, and this server only reads.", code="read_only", hint=hint)
        return UserError(f"There is no tool {quoted(name)}.{did_you_mean(name, self.tools)}", code="not_found")

    def _files(self, tool: OperationTool, values: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the paths of the files to write, all in the folder of proposals. Raises `UserError`."""
        paths = {}
        for parameter in tool.parameters():
            if parameter.argument.writes and parameter.name in values:
                name = str(values[parameter.name])
                if Path(name).name != name or name.startswith("."):
                    hint = "It is written into the folder of proposals."
                    raise UserError(f"{parameter.name} takes the name of a file alone.", code="usage", hint=hint)
                path = self._folder(values) / PROPOSALS / name
                if path.exists() or path.is_symlink():
                    raise UserError(f"{path} exists already.", code="exists", hint="Take another name.")
                path.parent.mkdir(exist_ok=True)
                paths[parameter.name] = str(path)
        return paths

    def _places(self, values: Mapping[str, Any]) -> Iterator[Path]:
        """Yield the paths inside of the folders that a call names."""
        for text in texts(values):
            try:
                path = self.access.place(text)
            except UserError:
                continue
            if path.exists():
                yield path

    def _folder(self, values: Mapping[str, Any]) -> Path:
        """Return the folder that a call is about: that of the first path that it names, or the first one."""
        return next((self.access.folder_of(path) for path in self._places(values)), self.access.folders[0])
