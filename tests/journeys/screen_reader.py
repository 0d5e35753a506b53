"""Somebody who cannot see: a screen reader's way to the window, over AT-SPI in a session with a display of its own.

Xvfb is the display, dbus-daemon the session bus, at-spi2-core the accessibility bus. The program runs in a process of
its own on X11, as for a person; of it there is only what Qt tells the accessibility bus: roles, names, states, texts.
Interfaces: https://gitlab.gnome.org/GNOME/at-spi2-core, folder xml.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from jeepney import DBusAddress, MatchRule, Message, MessageType, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.journeys.dialogs import PATIENCE_MS, wait_until

ATSPI = "org.a11y.atspi"
REGISTRY = f"{ATSPI}.Registry"
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
REPLY_S = 60.0
SHOWING, FOCUSED = 1 << 25, 1 << 12
KEY_SYMBOL, KEY_STRING = 3, 4
"""Kinds of made-up keys of the registry: a symbol of X11, and a text."""
PLACELESS = ("application", "desktop frame")
"""Roles without a place on the screen."""


class Thing(NamedTuple):
    """An object on the accessibility bus."""

    bus_name: str
    path: str


class Seen(NamedTuple):
    """What a screen reader says of a thing: its role, its name, its description."""

    role: str
    name: str
    description: str
    thing: Thing


class ScreenReader:
    """Reads and works the windows of the one program on an accessibility bus."""

    def __init__(self, address: str) -> None:
        self._bus = open_dbus_connection(address)
        self._news = open_dbus_connection(address)  # the other drops what is no reply
        rule = MatchRule(type="signal", interface=f"{ATSPI}.Event.Object", member="Announcement")
        self._news.send_and_get_reply(message_bus.AddMatch(rule))
        registry = Thing(REGISTRY, "/org/a11y/atspi/registry")
        self._call(registry, "Registry", "RegisterEvent", "s", ("object:announcement",))
        self._announcements: list[str] = []

    def close(self) -> None:
        """Leave the bus."""
        self._bus.close()
        self._news.close()

    # ---- reading ----

    def read(self) -> Iterator[Seen]:
        """Yield what is shown, windows first, a thing before its parts."""
        yield from self._read(Thing(REGISTRY, f"/{ATSPI.replace('.', '/')}/accessible/root"))

    def _read(self, thing: Thing) -> Iterator[Seen]:
        try:
            role = self._call(thing, "Accessible", "GetRoleName")[0]
            if role not in PLACELESS and not self._state(thing) & SHOWING:
                return
            yield Seen(role, self._property(thing, "Name"), self._property(thing, "Description"), thing)
            parts = self._parts(thing)
        except LookupError:
            return  # it has gone since
        for part in parts:
            yield from self._read(part)

    def wait_for(self, role: str, name: str) -> Seen:
        """Wait for a thing of a role whose name matches a regular expression."""
        seen: list[Seen] = []

        def is_there() -> bool:
            seen[:] = [seen for seen in self.read() if seen.role == role and re.search(name, seen.name)]
            return bool(seen)

        self._wait(is_there, f"a {role} named {name}")
        return seen[0]

    def wait_to_read(self, pattern: str) -> None:
        """Wait for a thing with a description that matches."""
        self._wait(lambda: any(re.search(pattern, seen.description) for seen in self.read()), f"to read {pattern}")

    def wait_to_hear(self, pattern: str) -> str:
        """Wait for an announcement that matches."""

        def is_heard() -> bool:
            self._listen()
            return any(re.search(pattern, text) for text in self._announcements)

        self._wait(is_heard, f"to hear {pattern}")
        return next(text for text in self._announcements if re.search(pattern, text))

    def _listen(self) -> None:
        try:
            while True:
                self._note(self._news.receive(timeout=0.01))
        except TimeoutError:
            pass

    def _note(self, message: Message) -> None:
        if message.header.message_type is MessageType.signal and len(message.body) > 3:
            self._announcements.append(str(message.body[3][1]))

    def _wait(self, fact: Callable[[], bool], what: str) -> None:
        if not wait_until(fact, PATIENCE_MS):
            screen = "\n".join(f"  {seen.role} {seen.name!r}" for seen in self.read() if seen.name)
            raise AssertionError(f"waited for {what}; heard {self._announcements}; on the screen:\n{screen}")

    # ---- acting ----

    def press(self, role: str, name: str) -> None:
        """Wait for a thing and press it."""
        thing = self.wait_for(role, name).thing
        actions = [name for name, *_ in self._call(thing, "Action", "GetActions")[0]]
        does = next((action for action in actions if action in ("Press", "Toggle")), None)
        assert does is not None, f"{role} {name} can do {actions}"
        self._call(thing, "Action", "DoAction", "i", (actions.index(does),))

    def type_into(self, name: str, text: str) -> None:
        """Put the keyboard into a field of text, choose all of it and type."""
        thing = self.wait_for("text", name).thing
        self._call(thing, "Component", "GrabFocus")
        self._wait(lambda: bool(self._state(thing) & FOCUSED), f"the keyboard in {name}")
        length = self._property(thing, "CharacterCount", "Text")
        self._call(thing, "Text", "AddSelection", "ii", (0, length))
        self._make_keys(0, text, KEY_STRING)
        self._wait(lambda: self._text(thing) == text, f"{text} in {name}")

    def _text(self, thing: Thing) -> str:
        return str(self._call(thing, "Text", "GetText", "ii", (0, -1))[0])

    def press_key(self, symbol: int) -> None:
        """Press a key, by its symbol of X11."""
        self._make_keys(symbol, "", KEY_SYMBOL)

    def _make_keys(self, symbol: int, text: str, kind: int) -> None:
        controller = Thing(REGISTRY, "/org/a11y/atspi/registry/deviceeventcontroller")
        self._call(controller, "DeviceEventController", "GenerateKeyboardEvent", "isu", (symbol, text, kind))

    # ---- the bus ----

    def _parts(self, thing: Thing) -> list[Thing]:
        return [Thing(*part) for part in self._call(thing, "Accessible", "GetChildren")[0]]

    def _state(self, thing: Thing) -> int:
        return int(self._call(thing, "Accessible", "GetState")[0][0])

    def _property(self, thing: Thing, name: str, interface: str = "Accessible") -> Any:
        address = DBusAddress(thing.path, thing.bus_name, "org.freedesktop.DBus.Properties")
        return self._ask(new_method_call(address, "Get", "ss", (f"{ATSPI}.{interface}", name)))[0][1]

    def _call(self, thing: Thing, interface: str, method: str, signature: str = "", body: tuple[Any, ...] = ()) -> Any:
        address = DBusAddress(thing.path, thing.bus_name, f"{ATSPI}.{interface}")
        return self._ask(new_method_call(address, method, signature or None, body))

    def _ask(self, call: Message) -> Any:
        reply = self._bus.send_and_get_reply(call, timeout=REPLY_S)
        if reply.header.message_type is MessageType.error:
            raise LookupError(f"{call.body}: {reply.body}")
        return reply.body


@contextmanager
def blind_session(home: Path) -> Iterator[ScreenReader]:
    """Context with the program on a display of its own and a screen reader beside it. `home` is an empty folder."""
    with ExitStack() as stack:
        environment = {
            **os.environ,
            "HOME": str(home),
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        for name, folder in (("CONFIG", "config"), ("DATA", "data"), ("CACHE", "cache")):
            environment[f"XDG_{name}_HOME"] = str(home / folder)
        for name, folder in (("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "temporary")):  # a killed window leaves files there
            environment[name] = str(home / folder)
            (home / folder).mkdir(mode=0o700)
        environment["DISPLAY"] = stack.enter_context(_display())
        environment["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(_session_bus(environment))
        stack.enter_context(_process([_program(LAUNCHER), "--launch-immediately"], environment))
        address = _accessibility_bus(environment["DBUS_SESSION_BUS_ADDRESS"])
        stack.enter_context(_process([sys.executable, "-m", "netwright.app"], environment))
        reader = ScreenReader(address)
        stack.callback(reader.close)
        yield reader


@contextmanager
def _process(command: list[str], environment: dict[str, str], **pipes: Any) -> Iterator[subprocess.Popen[str]]:
    silent = {"stderr": subprocess.DEVNULL, **pipes}
    process = subprocess.Popen(command, env=environment, text=True, **silent)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stdin):
            if pipe:
                pipe.close()


@contextmanager
def _display() -> Iterator[str]:
    """Context with the name of a display that nobody else has: Xvfb chooses it."""
    own, others = os.pipe()
    command = [_program("Xvfb"), "-displayfd", str(others), "-screen", "0", "1440x900x24", "-nolisten", "tcp"]
    with _process(command, dict(os.environ), pass_fds=(others,), stdout=subprocess.DEVNULL):
        os.close(others)
        with os.fdopen(own) as pipe:
            number = pipe.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"


@contextmanager
def _session_bus(environment: dict[str, str]) -> Iterator[str]:
    command = [_program("dbus-daemon"), "--session", "--print-address", "--nofork"]
    with _process(command, environment, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        yield daemon.stdout.readline().strip()


def _accessibility_bus(session_address: str) -> str:
    launcher = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
    session: DBusConnection = open_dbus_connection(session_address)
    with session:
        replies: list[Message] = []

        def is_there() -> bool:
            replies.append(session.send_and_get_reply(new_method_call(launcher, "GetAddress"), timeout=REPLY_S))
            return replies[-1].header.message_type is not MessageType.error

        assert wait_until(is_there, PATIENCE_MS), f"the accessibility bus did not start: {replies[-1].body}"
        return str(replies[-1].body[0])


def _program(name: str) -> str:
    path = shutil.which(name)
    assert path, f"{name} is missing: make journeys installs it"
    return path
