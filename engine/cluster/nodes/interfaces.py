"""Network interfaces of this machine by name and by IPv4 address."""

import contextlib
import socket

import psutil

from netwright.engine.core.errors import UnavailableError


def address_of(interface: str) -> str:
    """Return the IPv4 address of an interface. Raises `UnavailableError` where there is none."""
    addresses = psutil.net_if_addrs()
    for each in addresses.get(interface, ()):
        if each.family == socket.AF_INET:
            return str(each.address)
    raise UnavailableError(
        f"{socket.gethostname()} has no network interface {interface} with an IPv4 address.",
        hint=f"Name one of {', '.join(addresses)} as interface of the cluster profile.",
    )


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
