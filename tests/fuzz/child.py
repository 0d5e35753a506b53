"""One process that feeds readers: `main` with the arguments FOLDER COUNT SEED READER...

Prints a line of JSON for each reader: how many inputs were read, refused, and what came out that should not.
Memory and time of an input are limited; `FUZZ_SECONDS` limits the time of a reader.
The last input lies in the folder, for the case that the process dies of it.
"""

import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from netwright.engine.core.errors import UserError
from tests.fuzz.fuzzed_readers import READERS, Reader

MEMORY_BYTES = 2 * 2**30
"""More than the process has when it begins. The inputs are some hundred kilobytes at most."""
CPU_S, WALL_S = 20, 300
"""No input takes a second on a quiet machine."""


class HangError(BaseException):
    """An input took too long. No `Exception`, so that no reader takes it for a damaged file."""


def main() -> None:
    """Feed each reader that is named."""
    where, count, seed, *names = sys.argv[1:]
    _load_all(names)
    _limit_memory()
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    for name in names:
        print(json.dumps({"reader": name, **feed(name, Path(where), int(count), int(seed))}), flush=True)


def _load_all(names: list[str]) -> None:
    """Before memory is limited: libraries take much of it once."""
    import tests.fuzz.format_readers
    import tests.fuzz.network_readers
    import tests.fuzz.onnx_readers
    import tests.fuzz.state_readers
    import tests.fuzz.weights_readers

    if any(name not in READERS for name in names):
        import tests.fuzz.window_readers  # noqa: F401


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _hang(number: int, frame: FrameType | None) -> None:
    raise HangError(f"more than {CPU_S} s of the processor, or {WALL_S} s in all")


def feed(name: str, where: Path, count: int, seed: int) -> dict[str, Any]:
    """Inputs of one reader, each from a seed of its own."""
    reader = READERS[name]
    folder = where / name.replace(" ", "-")
    folder.mkdir(parents=True)
    os.chdir(folder)  # where anything lands that is written without a place
    seeds = reader.prepare(folder)
    read = refused = number = 0
    wrong: dict[str, Any] = {}
    end = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "inf"))
    for number in range(count):
        if time.monotonic() > end:
            break
        generator = random.Random(f"{name} {seed} {number}")
        content = reader.mutation(generator, seeds)
        said = _one(reader, folder, content, generator)
        read += said == ""
        refused += said == "refused"
        if said not in ("", "refused"):
            known = wrong.setdefault(said.splitlines()[0], {"count": 0, "first": number, "said": said})
            known["count"] += 1
            if known["count"] == 1:
                (where / f"{folder.name}-{number}.bad").write_bytes(content)
    return {"files": number + 1, "read": read, "refused": refused, "wrong": wrong}


def _one(reader: Reader, folder: Path, content: bytes, generator: random.Random) -> str:
    """Nothing if it was read, `refused`, or what went wrong."""
    path = folder / reader.file
    path.write_bytes(content)
    around = set(os.listdir(folder.parent))
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_S)
    try:
        reader.read(folder, generator)
        said = ""
    except UserError as error:
        said = "refused" if str(error) and len(str(error)) < 20_000 else f"a message of {len(str(error))} characters"
    except (Exception, HangError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if f"{os.sep}tests{os.sep}" not in frame.filename]
        last = next((f for f in reversed(ours) if "/engine/" in f.filename or "/app/" in f.filename), frames[-1])
        place = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
        said = f"{type(error).__name__} at {place}\n{''.join(traceback.format_exception(error))[-3000:]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if (folder / "executed").exists():
        return "A program in the file was executed"
    if set(os.listdir(folder.parent)) != around:
        return f"Written outside of the folder: {set(os.listdir(folder.parent)) - around}"
    return said
