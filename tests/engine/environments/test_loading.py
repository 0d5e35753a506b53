"""torch without what a training has no use for becomes torch with all of it. In fresh processes: torch is here."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BEGIN = """
import sys
from engine.environments import loading
loading.begin_loading()
loading.import_torch()
import torch
assert not loading.is_complete()
"""
COUNT = """
names = torch._C._dispatch_get_all_op_names()
has = torch._C._dispatch_has_kernel_for_dispatch_key
print(sum(has(name, "Meta") for name in names if name.startswith("aten::")))
"""


def said(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_completed_it_has_every_kernel() -> None:
    whole = said("import torch\n" + COUNT)
    assert said(BEGIN + "loading.complete()\n" + COUNT) == whole
    assert int(said(BEGIN + COUNT)) < int(whole), "nothing was left out"


@pytest.mark.parametrize(
    "use",
    [
        "torch.export.export(model, (x,)).module()(x)",
        "torch.compile(model, backend='eager')(x)",
        "torch.export.ExportedProgram and model(x)",
        "__import__('torch._refs')._refs.abs and model(x)",
    ],
    ids=["exported", "compiled", "looked at", "imported"],
)
def test_it_completes_itself_where_it_is_asked_for(use: str) -> None:
    code = f"""
model, x = torch.nn.Linear(3, 2), torch.ones(4, 3)
assert torch.equal({use}, model(x))
assert torch._meta_registrations.__spec__ is not None and torch.export.__spec__ is not None
print(type(sys.modules["torch.export"]) is type(sys))
"""
    assert said(BEGIN + code) == "True"


def test_training_does_not_ask_for_it() -> None:
    code = """
import engine.training.worker
from engine.project.training import TrainingOptions
from engine.training.solvers.solver import Solver
model = torch.nn.Linear(3, 2)
torch.autograd.backward(model(torch.ones(4, 3)).sum())
Solver(TrainingOptions(), model).step(0.1)
print(loading.is_complete())
"""
    assert said(BEGIN + code) == "False"


@pytest.mark.parametrize(
    ("words", "code"), [(["--help"], 0), ([], 2), (["nowhere.netwright"], 2)], ids=["help", "no project", "not there"]
)
def test_a_command_that_ends_while_libraries_are_loaded_ends_well(words: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "engine", "train", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert "netwright-engine" in (done.stdout if code == 0 else done.stderr)


@pytest.mark.parametrize("library", ["libtorch_cuda.so", "libtorch_hip.so", "torch_xpu.dll"])
def test_a_torch_with_accelerators_is_imported_whole(library: str, tmp_path: Path) -> None:
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from engine.environments import loading
print(loading._is_for_cpu())
open({str(tmp_path / "torch" / "lib" / library)!r}, "w").close()
loading.import_torch()
print(loading._is_for_cpu(), loading.is_complete())
"""
    assert said(code).split() == ["True", "False", "True"]
