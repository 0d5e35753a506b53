"""What workers send to find each other grows with their number, not with its square."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import torch.distributed

from netwright.engine.parallel.process_group import ends_of_strangers, ends_sum, ends_total
from netwright.engine.parallel.rendezvous import AddressStore, Exchange, apart, joined

PATIENCE = timedelta(seconds=60)
SIZES = (2, 3, 7, 64)


class CountingStore:
    """A store of keys in memory, for threads, which counts requests."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: bytes | str) -> None:
        with self._changed:
            self.requests["set"] += 1
            self._values[key] = value.encode() if isinstance(value, str) else value
            self._changed.notify_all()

    def add(self, key: str, amount: int) -> int:
        with self._changed:
            self.requests["add"] += 1
            count = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(count).encode()
            return count

    def wait(self, keys: Sequence[str], timeout: timedelta) -> None:
        with self._changed:
            self.requests["wait"] += 1
            if not self._changed.wait_for(lambda: all(key in self._values for key in keys), timeout.total_seconds()):
                raise RuntimeError("timed out")

    def get(self, key: str) -> bytes:
        return self.multi_get([key])[0]

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        with self._changed:
            self.requests["get"] += 1
            return [self._values[key] for key in keys]


def by_all(size: int, store: Any, work: Callable[[Exchange], Any]) -> list[Any]:
    """Return what each of so many workers makes of the store."""
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: work(Exchange(store, rank, size, PATIENCE)), range(size)))


@pytest.mark.parametrize("size", SIZES)
def test_all_read_one_answer_to_the_values_of_all(size: int) -> None:
    store = CountingStore()
    told = by_all(size, store, lambda exchange: exchange.agree("here", f"{exchange.rank} ", b"".join))
    assert told == ["".join(f"{rank} " for rank in range(size)).encode()] * size
    assert store.requests == {"set": size + 1, "wait": size + 1, "get": size + 1}


@pytest.mark.parametrize("size", SIZES)
def test_workers_leave_together(size: int) -> None:
    store = CountingStore()
    by_all(size, store, lambda exchange: exchange.leave(PATIENCE))
    assert store.requests == {"add": size, "set": 1, "wait": size}


@pytest.mark.parametrize("size", SIZES)
def test_addresses_come_all_at_once(size: int) -> None:
    store = CountingStore()

    def connect(exchange: Exchange) -> list[bytes]:
        """Do what gloo does."""
        view, keys = AddressStore(exchange), [f"cpu/0/{rank}" for rank in range(size)]
        view.set(keys[exchange.rank], bytes(8 * [exchange.rank]))
        read = []
        for key in keys:
            view.wait([key])
            read.append(view.get(key))
        return read

    assert by_all(size, store, connect) == [[bytes(8 * [rank]) for rank in range(size)]] * size
    assert store.requests == {"set": size + 1, "wait": size + 1, "get": size + 1}


def test_values_that_are_alike_take_little_place() -> None:
    alike = bytes(range(256)) * 32
    values = [alike, b"x" + alike[1:], b"", b"short", *(alike[:-1] + bytes([number]) for number in range(90))]
    assert apart(joined(values)) == values
    assert len(joined(values)) < 2 * len(alike)


def test_gloo_connects_through_the_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    monkeypatch.setenv("TORCH_GLOO_LAZY_INIT", "0")
    server = torch.distributed.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)  # type: ignore[attr-defined]

    def total(rank: int) -> float:
        store = torch.distributed.TCPStore("127.0.0.1", server.port, None, False)  # type: ignore[attr-defined]
        view = AddressStore(Exchange(store, rank, 3, PATIENCE))
        group: Any = torch.distributed.ProcessGroupGloo(view, rank, 3, PATIENCE)
        view.is_collecting = False
        tensor = torch.full((1,), float(rank))
        group.allreduce([tensor]).wait()
        assert view.add("count", 2) in (2, 4, 6)
        return tensor.item()

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(total, range(3))) == [3.0] * 3


def test_a_worker_that_does_not_come_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="timed out"):
        Exchange(CountingStore(), 0, 2, timedelta(milliseconds=20)).agree("here", "", b"".join)


@pytest.mark.parametrize("size", [3, 7])
def test_sums_show_whether_a_connection_leads_elsewhere(size: int) -> None:
    """Of a full mesh nothing is left over; of a connection from elsewhere, its end."""
    ends: list[list[Any]] = [[] for _ in range(size)]
    for a in range(size):
        for b in range(a):
            pair = ("127.0.0.1", 1000 + a), ("127.0.0.1", 2000 + 100 * a + b)
            ends[a].append(pair)
            ends[b].append(pair[::-1])
    secret = b"s" * 32
    assert not any(ends_total([ends_sum(each, secret) for each in ends]))
    assert ends_of_strangers([json.dumps(each).encode() for each in ends]) == "[]"
    ends[1].append((("127.0.0.1", 1001), ("127.0.0.1", 999)))
    assert any(ends_total([ends_sum(each, secret) for each in ends]))
    assert ends_sum(ends[1], secret) != ends_sum(ends[1], b"t" * 32)
    assert json.loads(ends_of_strangers([json.dumps(each).encode() for each in ends])) == [["127.0.0.1", 999]]
