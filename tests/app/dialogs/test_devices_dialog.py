"""The dialog reads along with a process that looks at the machine; here one that says what it is told to."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from netwright.app.dialogs.devices_dialog import DevicesDialog, Speeds
from netwright.engine.placement.inventory import Device, DeviceInventory

FOUND: list[dict[str, Any]] = [
    {"device": {"name": "cpu", "model": "Some CPU", "memory_bytes": 2**34, "cores": 4}},
    {"device": {"name": "cuda:0", "model": "Fast GPU", "memory_bytes": 2**35, "refusal": "taken", "temperature": 40}},
    {"check": {"layer": "driver", "device": "", "state": "none", "words": "no driver answers"}},
    {"check": {"layer": "rendezvous", "device": "", "state": "ok", "words": "two workers meet"}},
    {"figure": {"device": "cpu", "work": "copy", "kind": "fp32", "value": 3.0, "unit": "GB/s", "refusal": ""}},
    {"figure": {"device": "cpu", "work": "copy", "kind": "fp16", "value": 0.0, "unit": "GB/s", "refusal": "unknown"}},
]


@pytest.fixture
def shown(qtbot) -> Callable[[str], DevicesDialog]:
    def show(code: str) -> DevicesDialog:
        dialog = DevicesDialog(command=[sys.executable, "-c", code])
        qtbot.addWidget(dialog)
        dialog.start()
        dialog.show()
        return dialog

    return show


def says(*lines: dict[str, Any]) -> str:
    return "".join(f"print({json.dumps(json.dumps(line))}, flush=True)\n" for line in lines)


def words(grid) -> list[str]:
    return [grid.itemAt(i).widget().text() for i in range(grid.count())]


def test_what_is_found_is_shown_as_it_comes(qtbot, shown) -> None:
    dialog = shown(says(*FOUND, {"done": True}))
    qtbot.waitUntil(lambda: not dialog.is_testing, timeout=60_000)
    assert words(dialog.devices) == [
        *("cpu", "Some CPU", "4 cores, 16.0 GiB"),
        *("cuda:0", "Fast GPU", "cannot be used: taken"),
    ]
    assert words(dialog.checks)[::3] == ["–", "…", "…", "…", "✓"]
    assert [title.partition(",")[0] for title in dialog.bars.panels] == ["cpu: copy"]
    assert "fp16: not available: unknown" in dialog.bars.accessibleDescription()
    assert dialog.state.text() == "All devices were examined."
    assert dialog.test_button.text() == "Test again"


def test_a_long_look_can_be_stopped_and_begun_again(qtbot, shown) -> None:
    dialog = shown(says(*FOUND[:1]) + "import time; time.sleep(600)")
    qtbot.waitUntil(lambda: dialog.devices.count() > 0, timeout=60_000)
    process = dialog.trial.process
    dialog.test_button.click()
    assert not dialog.is_testing
    assert process.poll() is not None
    assert "Stopped" in dialog.state.text()
    dialog.test_button.click()
    process = dialog.trial.process
    dialog.close_button.click()
    assert process.poll() is not None


def test_a_look_that_breaks_off_says_so(qtbot, shown) -> None:
    dialog = shown(says(*FOUND[:1]) + "raise SystemExit(1)")
    qtbot.waitUntil(lambda: not dialog.is_testing, timeout=60_000)
    assert "interrupted" in dialog.state.text()


def test_panels_of_speeds_stand_two_by_two(qtbot) -> None:
    speeds = Speeds()
    qtbot.addWidget(speeds)
    figure = {"device": "cpu", "kind": "fp32", "value": 2.0, "unit": "GB/s", "refusal": ""}
    speeds.show_figures([{**figure, "work": work} for work in ("one", "two", "three")])
    speeds.resize(600, speeds.sizeHint().height())
    speeds.show()
    one, two, three = speeds.panels.values()
    assert (one.y(), two.x() > one.x()) == (two.y(), True)
    assert (one.x(), three.y() > one.geometry().bottom()) == (three.x(), True)
    speeds.show_figures([])
    assert not speeds.panels


def test_a_heading_is_there_with_what_stands_below_it(qtbot, shown) -> None:
    dialog = shown(says(*FOUND[:1]) + "import time; time.sleep(600)")
    assert words(dialog.checks)[::3] == ["…"] * 5, "what will be checked is listed"
    qtbot.waitUntil(lambda: dialog.devices.count() > 0, timeout=60_000)
    headings = {heading.text(): heading.isVisible() for heading in dialog._headings.values()}
    assert headings == {"THIS MACHINE": True, "CHECKS": True, "SPEED": False}
    dialog.close_button.click()


def test_what_the_window_knows_is_there_before_the_process_answers(qtbot) -> None:
    gpu = Device("cuda:0", "Fast GPU", 2**35)
    known = DeviceInventory(4, "Some CPU", 2**34, devices=(gpu,))
    dialog = DevicesDialog(command=[sys.executable, "-c", "import time; time.sleep(600)"], inventory=known)
    qtbot.addWidget(dialog)
    dialog.start()
    assert words(dialog.devices) == ["cpu", "Some CPU", "4 cores, 16.0 GiB", "cuda:0", "Fast GPU", "32.0 GiB"]
    dialog._take({"device": {"name": "cuda:0", "model": "Fast GPU", "memory_bytes": 2**35, "temperature": 40}})
    assert words(dialog.devices)[-1] == "32.0 GiB, 40 °C", "the same line, not another one"
    dialog._take({"check": {"layer": "capability", "device": "cuda:0", "state": "ok", "words": "computes"}})
    dialog._take({"check": {"layer": "capability", "device": "cuda:1", "state": "ok", "words": "computes"}})
    lines = words(dialog.checks)[1::3]
    assert lines == ["driver", "build", "capability cuda:0", "peer access", "rendezvous", "capability cuda:1"]
    dialog.close_button.click()


def test_the_inventory_may_come_while_the_process_starts(qtbot) -> None:
    dialog = DevicesDialog(command=[sys.executable, "-c", "import time; time.sleep(600)"])
    qtbot.addWidget(dialog)
    dialog.start()
    assert words(dialog.devices) == []
    dialog.set_inventory(DeviceInventory(2, "Some CPU", 2**34, no_devices_because="no GPU was found"))
    assert words(dialog.devices) == ["cpu", "Some CPU", "2 cores, 16.0 GiB", "gpu", "none", "no GPU was found"]
    dialog.close_button.click()
