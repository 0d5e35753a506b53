"""Lines out of the pieces of a stream."""


class LineBuffer:
    """Collects the pieces of a stream and returns its whole lines. The end of a line is looked for in the new bytes
    alone, so that a long line takes no longer than its bytes."""

    def __init__(self, limit_bytes: int = 0) -> None:
        """`limit_bytes`: what a line has beyond that is left out; 0 for no limit."""
        self._limit_bytes = limit_bytes
        self._rest = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """Return the lines that end in `data`, the next piece, without their ends."""
        first, end, more = data.partition(b"\n")
        self._rest += first[: max(0, self._limit_bytes - len(self._rest))] if self._limit_bytes else first
        if not end:
            return []
        whole = bytes(self._rest)
        *lines, rest = more.split(b"\n")
        self._rest = bytearray(rest)
        return [whole, *lines]
