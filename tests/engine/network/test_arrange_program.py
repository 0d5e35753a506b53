import subprocess
from pathlib import Path

import pytest

from netwright.engine.core.process import module_command
from netwright.engine.network import arrange_program
from netwright.engine.network.arrangement import arrange, outline
from netwright.engine.network.layout import FLOWS, Flow, Layout
from tests.builders import classifier

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("flow", FLOWS)
def test_a_process_places_layers_as_we_do(flow: Flow) -> None:
    network = classifier()
    shape = outline(network, Layout(), flow)
    command = module_command("netwright.engine.network.arrange_program")
    done = subprocess.run(command, input=arrange_program.request(shape), capture_output=True, cwd=ROOT, check=True)
    assert arrange_program.answer(shape, done.stdout) == arrange(network, flow=flow).positions


@pytest.mark.parametrize("told", [b"", b"{}", b"[[1,2]]", b'[["a","b"],[1,2],[1,2],[1,2],[1,2]]', b"[1,2,3,4,5]"])
def test_what_is_no_answer_is_refused(told: bytes) -> None:
    shape = outline(classifier(), Layout())
    with pytest.raises(ValueError, match=r"."):
        arrange_program.answer(shape, told)
