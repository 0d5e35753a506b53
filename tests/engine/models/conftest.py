import pytest
import torch
from torch import nn

from netwright.engine.exchange.importing.importer import import_file


@pytest.fixture(scope="session")
def importer_in_memory(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Imports a program once in this process: what torch and onnxscript read for their first one takes a second, which
    else each child takes that is forked to import a file."""
    folder = tmp_path_factory.mktemp("program")
    torch.export.save(torch.export.export(nn.Linear(2, 1).eval(), (torch.zeros(2, 2),)), folder / "net.pt2")
    import_file(folder / "net.pt2", folder / "net.netwright")
