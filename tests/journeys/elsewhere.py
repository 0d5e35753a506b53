"""Another machine: an interpreter that has no Netwright, only what an exported file needs."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE_S = 300.0


def run_elsewhere(code: str, folder: Path, *arguments: str) -> str:
    """Run code as somebody who was sent the file would, in the folder of the file; return what it printed."""
    guarded = f"import sys; sys.modules.update(engine=None, app=None, designer=None)\n{code}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-I", "-c", guarded, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{code}\n{done.stderr}"
    return done.stdout


FOREIGN_NETWORK = """
import numpy as np, torch
from pathlib import Path
from PIL import Image
from torch import nn

torch.manual_seed(0)
classes = ("circle", "cross", "square")
files = [(path, number) for number, name in enumerate(classes) for path in sorted(Path("shapes", name).glob("*.jpg"))]
pixels = torch.tensor(np.stack([np.asarray(Image.open(path), np.float32) for path, _ in files]))
pixels = pixels.permute(0, 3, 1, 2).contiguous()
labels = torch.tensor([number for _, number in files])
network = nn.Sequential(
    nn.BatchNorm2d(3), nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, len(classes)),
)
optimizer = torch.optim.Adam(network.parameters(), 3e-3)
for epoch in range(12):
    for batch in torch.randperm(len(pixels)).split(32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(pixels[batch]), labels[batch]).backward()
        optimizer.step()
batch = torch.export.Dim("batch")
torch.onnx.export(
    network.eval(), (pixels[:2],), "backbone.onnx", input_names=["picture"], output_names=["scores"],
    dynamic_shapes=({0: batch},), dynamo=True,
)
"""
"""Program that learns three kinds of shapes from the folder `shapes` in plain PyTorch and writes backbone.onnx."""
