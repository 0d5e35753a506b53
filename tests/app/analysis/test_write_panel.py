"""The card in which a language model writes on: what is asked, the text as it grows, Stop, and who has no such card."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from netwright.app.analysis.write_panel import WritePanel
from netwright.engine.analysis.operations.generate import WRITTEN
from netwright.engine.project.preparation import InputPreparation, Preparation, TargetPreparation, TextPreparation
from tests.app.fake_server import FakeServer

RUN = Path("/runs/2")
TEXT = InputPreparation(
    name="text",
    reads="text",
    axes=("T",),
    sizes=(None,),
    content="indices",
    dtype="int64",
    text=TextPreparation(tokens="byte", vocabulary=256),
)
NEXT = TargetPreparation(
    name="next", task="classes", axes=("T", "C"), sizes=(None, 256), classes=tuple(map(str, range(256)))
)
MODEL = Preparation(kind="text", inputs=(TEXT,), targets=(NEXT,))


@pytest.fixture
def panel(server: FakeServer, qtbot) -> Iterator[WritePanel]:
    shell: Any = SimpleNamespace(server=server)
    panel = WritePanel(shell)
    qtbot.addWidget(panel)
    panel.show_network(RUN, MODEL, {"weights": "last"})
    yield panel
    panel.shutdown()


def test_a_text_is_written_as_it_comes(panel: WritePanel, server: FakeServer) -> None:
    assert panel.isVisible()
    assert not panel.button.isEnabled()
    panel.prompt.setPlainText("red ")
    panel.temperature.setValue(0.5)
    panel.stop_at.setText(r"\n")
    panel.button.click()
    (asked,) = server.waiting
    given = {name: asked.given[name] for name in ("model", "prompt", "temperature", "weights", "stop")}
    assert given == {"model": str(RUN), "prompt": "red ", "temperature": 0.5, "weights": "last", "stop": ["\n"]}
    assert panel.button.text() == "Stop"
    folder = Path(asked.given["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WRITTEN).write_bytes("bird é".encode()[:-1])  # half of a character
    asked.on_progress({"done": 6, "total": 100, "unit": "tokens"})
    assert (panel.text.toPlainText(), panel.state.text()) == ("red bird ", "6 of 100 tokens")
    server.answer("generate", {"text": "bird é sings", "tokens_per_s": 812.4})
    assert (panel.text.toPlainText(), panel.state.text()) == ("red bird é sings", "812 tokens per second")
    assert panel.button.text() == "Write"


def test_stop_keeps_the_text_and_an_error_is_shown(panel: WritePanel, server: FakeServer) -> None:
    panel.prompt.setPlainText("red ")
    panel.button.click()
    panel.button.click()
    assert server.cancelled == ["generate"]
    assert (panel.text.toPlainText(), panel.state.text(), panel.button.text()) == ("red ", "Stopped.", "Write")
    panel.button.click()
    server.refuse("generate", "The prompt has no tokens.")
    assert panel.text.toPlainText() == "The prompt has no tokens."


def test_other_networks_have_no_such_card(panel: WritePanel) -> None:
    one_class = replace(NEXT, axes=("C",), sizes=(256,))
    panel.show_network(RUN, replace(MODEL, targets=(one_class,)), {})
    assert not panel.isVisible()
