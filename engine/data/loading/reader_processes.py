"""Read samples in processes of their own, where the lock of Python's interpreter would hold threads back.

Each reader thread of `netwright.engine.data.sources.prefetch` sends the indices of a few samples to a process and
receives them straight into their place; meanwhile it holds no lock. A process ends when its
input closes, so none outlives its owner.

    request:  a count, then as many indices (int64)
    answer:   a status and a count of bytes, then the samples in the reader's dtype, or the text of an error
"""

import json
import os
import pickle
import queue
import signal
import struct
import subprocess
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any, BinaryIO

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import start_process, was_ended_by_force
from netwright.engine.core.platform_files import widen_pipe
from netwright.engine.core.process import module_command, module_environment
from netwright.engine.data.sources.source import Array, BadSampleError, SampleReader

HEADER = struct.Struct("<Bq")
DONE, REFUSED, FAILED, BAD = range(4)
"""How a request ended: read, an error of the user's, a defect, one sample that cannot be read."""


class ReaderProcesses:
    """A reader of samples (`SampleReader`) that has another one work in processes, one for each thread that reads.

    The processes are started as threads come to need them, and kept. Where one dies, by a decoder that crashes say,
    the samples it was to read are tried one by one by another, so that the error can name the sample.
    """

    def __init__(self, stored: SampleReader) -> None:
        self.shape, self.kind, self.largest = stored.shape, stored.kind, stored.largest
        self.at_once, self.where = stored.at_once, stored.where
        self._reader = pickle.dumps(stored)
        self._free: queue.LifoQueue[subprocess.Popen[bytes]] = queue.LifoQueue()
        self._name: Callable[[int], str] = getattr(stored, "name_of", lambda number: f"sample {number + 1:,}")
        self._finalizer = weakref.finalize(self, _end, self._free)

    def close(self) -> None:
        """End the processes now, rather than with the last reference to the reader."""
        self._finalizer()

    def read(self, indices: Array, out: Array) -> None:
        """Read the samples with these indices into `out`. Raises `UserError` as the reader does, and where its process
        dies; `RuntimeError` for a defect."""
        try:
            self._read(indices, out)
        except _ProcessDiedError as death:
            if len(indices) == 1:
                name = self._name(int(indices[0]))
                raise BadSampleError(
                    f"{name} of {self.where} cannot be read: {death}. It is probably damaged. Replace it or leave it "
                    "out.",
                    name,
                    str(death),
                ) from None
            for place in range(len(indices)):
                self.read(indices[place : place + 1], out[place : place + 1])

    def _read(self, indices: Array, out: Array) -> None:
        try:
            process = self._free.get_nowait()
        except queue.Empty:
            process = self._start()
        try:
            status, size = self._ask(process, indices)
            if status == DONE:
                self._receive(process, out)
            else:
                words = bytearray(size)
                _fill(process.stdout, memoryview(words))
        except (OSError, EOFError):
            raise _ProcessDiedError(_cause_of_death(process)) from None
        self._free.put(process)
        if status == BAD:
            raise BadSampleError(*json.loads(words))
        if status == REFUSED:
            raise UserError(words.decode())
        if status == FAILED:
            raise RuntimeError(words.decode())

    def _ask(self, process: subprocess.Popen[bytes], indices: Array) -> tuple[int, int]:
        assert process.stdin is not None
        process.stdin.write(struct.pack("<q", len(indices)) + np.ascontiguousarray(indices, np.int64).tobytes())
        process.stdin.flush()
        header = bytearray(HEADER.size)
        _fill(process.stdout, memoryview(header))
        status, size = HEADER.unpack(header)
        return status, size

    def _receive(self, process: subprocess.Popen[bytes], out: Array) -> None:
        is_in_place = out.dtype == self.kind and out.flags.c_contiguous
        samples = out if is_in_place else np.empty(out.shape, self.kind)
        _fill(process.stdout, samples.reshape(-1).view(np.uint8).data)
        if not is_in_place:
            out[...] = samples

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**module_environment(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        streams = (subprocess.PIPE, subprocess.PIPE, None)
        process = start_process(module_command(__name__), streams, environment=environment)
        assert process.stdin is not None
        assert process.stdout is not None
        for pipe in (process.stdin, process.stdout):
            widen_pipe(pipe.fileno())  # several samples without a switch of process
        with suppress(OSError):  # a process that died at once is noticed when its answer is awaited
            process.stdin.write(struct.pack("<q", len(self._reader)))
            _write(process.stdin, self._reader)
            process.stdin.flush()
        return process


class _ProcessDiedError(Exception):
    """A process ended before it answered; the text says how."""


def _fill(pipe: Any, room: memoryview) -> None:
    """Fill `room` from a pipe. Raises `EOFError` where it closes before."""
    while len(room):
        count = pipe.readinto(room)
        if not count:
            raise EOFError
        room = room[count:]


def _write(pipe: Any, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while len(rest):
        rest = rest[pipe.write(rest) :]


def _cause_of_death(process: subprocess.Popen[bytes]) -> str:
    with suppress(OSError):
        process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if code < 0 and not was_ended_by_force(code):
        return f"the process that read it crashed ({signal.Signals(-code).name})"
    if code < 0:
        return "the process that read it was killed, perhaps for want of memory"
    return f"the process that read it ended with exit code {code}"


def _end(processes: "queue.LifoQueue[subprocess.Popen[bytes]]") -> None:
    """End all processes. They are killed, since closing their inputs does not end them where a process that was forked
    meanwhile, such as a worker of torch's DataLoader, holds these open, too; they have nothing to lose."""
    while True:
        try:
            process = processes.get_nowait()
        except queue.Empty:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.kill()
        process.wait()


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input closes. Runs in the process that reads."""
    (size,) = struct.unpack("<q", _exactly(requests, 8))
    reader: SampleReader = pickle.loads(_exactly(requests, size))
    row = prod(reader.shape[1:])
    room = np.empty(0, reader.kind)
    while True:
        try:
            (count,) = struct.unpack("<q", _exactly(requests, 8))
            indices = np.frombuffer(_exactly(requests, 8 * count), np.int64)
        except EOFError:
            return
        if room.size < count * row:
            room = np.empty(count * row, reader.kind)
        out = room[: count * row].reshape(count, *reader.shape[1:])
        try:
            reader.read(indices, out)
            status, data = DONE, out.reshape(-1).view(np.uint8).data
        except BadSampleError as error:
            status, data = BAD, memoryview(json.dumps([str(error), error.sample, error.reason]).encode())
        except UserError as error:
            status, data = REFUSED, memoryview(str(error).encode())
        except Exception as error:
            traceback.print_exc()
            status, data = FAILED, memoryview(f"{type(error).__name__}: {error}".encode())
        _write(answers, HEADER.pack(status, len(data)))
        _write(answers, data)


def _exactly(pipe: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    _fill(pipe, memoryview(data))
    return data


def main(arguments: list[str]) -> None:
    """Be a process that reads, on standard input and output. What a decoder prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the owner decides
    with os.fdopen(os.dup(1), "wb", buffering=0) as answers, os.fdopen(os.dup(0), "rb", buffering=0) as requests:
        os.dup2(2, 1)
        with suppress(OSError, EOFError):  # the owner has ended
            _serve(requests, answers)
