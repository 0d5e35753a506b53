"""Network interfaces of this machine by name and by IPv4 address. Needs the standard library alone."""

import contextlib
import fcntl
import socket
import struct

from netwright.engine.core.errors import UnavailableError

_SIOCGIFADDR = 0x8915
"""Of Linux: the request for the address of an interface."""


def address_of(interface: str) -> str:
    """Return the IPv4 address of an interface. Raises `UnavailableError` where there is none."""
    with socket.socket(type=socket.SOCK_DGRAM) as end:
        try:
            answer = fcntl.ioctl(end, _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
        except OSError:
            names = ", ".join(name for _, name in socket.if_nameindex())
            raise UnavailableError(
                f"{socket.gethostname()} has no network interface {interface} with an IPv4 address.",
                hint=f"Name one of {names} as interface of the cluster profile.",
            ) from None
    return socket.inet_ntoa(answer[20:24])


def interface_with(address: str) -> str:
    """Return the name of the interface that has this IPv4 address. Raises `UnavailableError`."""
    if address.startswith("127."):
        address = "127.0.0.1"
    for _, name in socket.if_nameindex():
        with contextlib.suppress(UnavailableError):
            if address_of(name) == address:
                return name
    raise UnavailableError(
        f"No network interface of {socket.gethostname()} has the address {address}.",
        hint="Name the interface in the cluster profile.",
    )


def address_towards(host: str) -> str:
    """Return this machine's address on the way to a host, to which nothing is sent. Raises `UnavailableError`."""
    with socket.socket(type=socket.SOCK_DGRAM) as end:
        try:
            end.connect((host, 9))
        except OSError as error:
            raise UnavailableError(
                f"The host {host} of the cluster profile cannot be reached: {error.strerror or error}.",
                hint="Correct the address of the profile, or name the interface.",
            ) from None
        return str(end.getsockname()[0])
