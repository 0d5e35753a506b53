"""The stream between a coordinator and the agent of a node: frames of bytes, authenticated in both directions.

Both ends know a random token of the run. Each proves it to the other by an HMAC over two fresh nonces before anything
else is read, and every frame carries a tag with its number, so that none can be changed, repeated or left out on the
way. TLS comes beneath it where the cluster profile asks for encryption. Needs the standard library alone.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from netwright.engine.core.errors import UserError

GREETING = b"netwright-node-1\n"
NONCE_BYTES = 32
TAG_BYTES = 16
HANDSHAKE_S = 10.0
"""Seconds for the whole proof of both ends; a stranger who says nothing, or little at a time, is left then."""
MOST_PAYLOAD = 2**22
CHUNK_BYTES = 2**16
CERTIFICATE_DAYS = 365
_HEADER = struct.Struct("!BHI")
_COUNT = struct.Struct("!Q")


class FrameKind(IntEnum):
    """The kind of a frame. Those with a rank concern one worker."""

    HELLO = 1
    """Agent: the host and its slots, as JSON."""
    READY = 2
    """Agent: workers can be started."""
    REFUSED = 3
    """Agent: why it cannot take part, as JSON `cause`."""
    BIND = 4
    """Coordinator: open a port for the rendezvous of the next attempt."""
    BOUND = 5
    """Agent: `host` and `port` of it."""
    START = 6
    """Coordinator: start a worker; the fields of its `WorkerSpec`."""
    STARTED = 7
    """Agent: its process id."""
    REPORT = 8
    """Agent: bytes of a worker's reports."""
    REQUEST = 9
    """Coordinator: bytes for the requests of a worker."""
    KILL = 10
    """Coordinator: end a worker."""
    ENDED = 11
    """Agent: the exit code of a worker, after its last report."""
    OUTPUT = 12
    """Agent: what its workers printed."""
    ALIVE = 13
    """Both, once per second."""
    LEAVE = 14
    """Coordinator: end the agent."""
    ORPHANED = 15
    """Agent: what has started it is gone, and it stays while the coordinator wants it."""


@dataclass(frozen=True)
class Frame:
    """One message. `rank` is that of a worker, or 0."""

    kind: FrameKind
    rank: int
    payload: bytes


class StreamLostError(ConnectionError):
    """The other end has gone, does not answer, or is not who it should be."""


class Stream:
    """One end of a connection whose other end has proved itself. Never blocks."""

    def __init__(self, connection: socket.socket, sending_key: bytes, receiving_key: bytes) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._keys = sending_key, receiving_key
        self._sent = self._received = 0
        self._outgoing = bytearray()
        self._incoming = bytearray()

    def fileno(self) -> int:
        """Return the descriptor of the connection."""
        return self._connection.fileno()

    @property
    def own_address(self) -> str:
        """Return the address of this end."""
        return str(self._connection.getsockname()[0])

    @property
    def backlog(self) -> int:
        """Return the number of bytes that wait to be sent."""
        return len(self._outgoing)

    def put(self, kind: FrameKind, rank: int = 0, payload: bytes = b"") -> None:
        """Append a frame to what is to be sent; `flush` sends it."""
        for start in range(0, len(payload) or 1, MOST_PAYLOAD):
            part = payload[start : start + MOST_PAYLOAD]
            header = _HEADER.pack(kind, rank, len(part))
            self._outgoing += header + part + _tag(self._keys[0], self._sent, header, part)
            self._sent += 1

    def flush(self) -> None:
        """Send as much as the connection takes now. Raises `StreamLostError`."""
        try:
            while self._outgoing:
                count = self._connection.send(bytes(self._outgoing[:CHUNK_BYTES]))
                del self._outgoing[:count]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return
        except OSError as error:
            raise StreamLostError(_words(error)) from error

    def read(self) -> list[Frame]:
        """Return the frames that have arrived. Raises `StreamLostError` at the end of the connection, and for a frame
        that the other end has not sent so."""
        is_open = True
        try:
            while is_open:
                data = self._connection.recv(CHUNK_BYTES)
                self._incoming += data
                is_open = bool(data)
                if len(self._incoming) > MOST_PAYLOAD:
                    break
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        except OSError as error:
            raise StreamLostError(_words(error)) from error
        frames = self._whole_frames()
        if not is_open and not frames:
            raise StreamLostError("the connection was closed")
        return frames

    def _whole_frames(self) -> list[Frame]:
        frames = []
        while len(self._incoming) >= _HEADER.size:
            kind, rank, length = _HEADER.unpack_from(self._incoming)
            if length > MOST_PAYLOAD:
                raise StreamLostError("it sent what is no frame")
            end = _HEADER.size + length
            if len(self._incoming) < end + TAG_BYTES:
                break
            header, payload = bytes(self._incoming[: _HEADER.size]), bytes(self._incoming[_HEADER.size : end])
            tag = bytes(self._incoming[end : end + TAG_BYTES])
            if not hmac.compare_digest(tag, _tag(self._keys[1], self._received, header, payload)):
                raise StreamLostError("a frame was changed on the way")
            del self._incoming[: end + TAG_BYTES]
            self._received += 1
            frames.append(Frame(FrameKind(kind), rank, payload))
        return frames

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(OSError):
            self._connection.close()


def accept(connection: socket.socket, token: bytes, tls: ssl.SSLContext | None) -> Stream:
    """Return the coordinator's end of a connection, after both have proved that they know the token.

    Raises `StreamLostError`; the connection is closed then.
    """
    return _proved(connection, token, tls, time.monotonic() + HANDSHAKE_S, is_coordinator=True)


def connect(address: tuple[str, int], token: bytes, certificate: str) -> Stream:
    """Connect to the coordinator, as an agent. `certificate`: that of the run, as PEM, or empty without encryption.

    Raises `StreamLostError`.
    """
    deadline = time.monotonic() + HANDSHAKE_S
    try:
        connection = socket.create_connection(address, timeout=HANDSHAKE_S)
    except OSError as error:
        raise StreamLostError(_words(error)) from error
    tls = None
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        tls.check_hostname = False  # the certificate itself is known, whatever the coordinator's address is
        tls.load_verify_locations(cadata=certificate)
    return _proved(connection, token, tls, deadline, is_coordinator=False)


def _proved(
    connection: socket.socket, token: bytes, tls: ssl.SSLContext | None, deadline: float, *, is_coordinator: bool
) -> Stream:
    """Return the stream, once the other end has proved itself. `deadline`: of `time.monotonic`, for all of it."""
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _limit(connection, deadline)
        if tls is not None:
            connection = tls.wrap_socket(connection, server_side=is_coordinator)
        own = secrets.token_bytes(NONCE_BYTES)
        connection.sendall(GREETING + own)
        if _exactly(connection, len(GREETING), deadline) != GREETING:
            raise StreamLostError("it does not speak this protocol")
        other = _exactly(connection, NONCE_BYTES, deadline)
        nonces = own + other if is_coordinator else other + own
        ours, theirs = (b"coordinator", b"agent") if is_coordinator else (b"agent", b"coordinator")
        connection.sendall(_derived(token, b"proof of the " + ours, nonces))
        proof = _exactly(connection, hashlib.sha256().digest_size, deadline)
        if not hmac.compare_digest(proof, _derived(token, b"proof of the " + theirs, nonces)):
            raise StreamLostError("it does not know the token of the run")
        keys = (_derived(token, b"frames of the " + name, nonces) for name in (ours, theirs))
        return Stream(connection, *keys)
    except OSError as error:
        connection.close()
        raise error if isinstance(error, StreamLostError) else StreamLostError(_words(error)) from error


def _limit(connection: socket.socket, deadline: float) -> None:
    """Let the next operation of a connection end by a deadline. Raises `TimeoutError` after it."""
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    connection.settimeout(left_s)


def _exactly(connection: socket.socket, count: int, deadline: float) -> bytes:
    data = b""
    while len(data) < count:
        _limit(connection, deadline)
        if not (part := connection.recv(count - len(data))):
            raise StreamLostError("the connection was closed")
        data += part
    return data


def _derived(token: bytes, purpose: bytes, nonces: bytes) -> bytes:
    return hmac.digest(token, purpose + b"\0" + nonces, "sha256")


def _tag(key: bytes, number: int, header: bytes, payload: bytes) -> bytes:
    hashed = hashlib.blake2b(_COUNT.pack(number) + header, key=key, digest_size=TAG_BYTES)
    hashed.update(payload)
    return hashed.digest()


def _words(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return (getattr(error, "reason", "") or error.strerror or str(error) or type(error).__name__).lower()


def tls_of_run() -> tuple[ssl.SSLContext, str]:
    """Return the TLS context of a coordinator with a certificate of its own for this run, and that certificate as PEM.

    Python cannot make a certificate itself. Raises `UserError` where the program openssl is missing or fails.
    """
    program = shutil.which("openssl")
    if program is None:
        raise UserError(
            "The cluster profile asks for encryption, which needs the program openssl, and it is not installed.",
            hint="Install openssl on this machine, or switch off encrypted in the profile.",
        )
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:  # only this user can read it
        key, certificate = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        made_into = ["-keyout", str(key), "-out", str(certificate)]
        command = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", str(CERTIFICATE_DAYS), "-subj", "/CN=netwright", *made_into]
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if process.returncode:
            words = process.stderr.strip().rpartition("\n")[2][:200]
            raise UserError(f"openssl could not make a certificate for the run: {words}.")
        os.chmod(key, 0o600)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(certificate, key)
        return context, certificate.read_text(encoding="ascii")
