"""Import of an ONNX file with 5,000 operators: with its comparison with ONNX Runtime, and without.

    python benchmarks/onnx_import.py [--nodes 5000] [--rounds 3]

The file is made of residual parts: convolution, batch normalisation, ReLU, convolution, addition, ReLU, over small
images, so that what is measured is the import and not the arithmetic. Each figure is the processor's time, with that of
ONNX Runtime's process, and the time by the clock of a process of its own, from the path to the files written, without
the start of Python and its imports; the best of all rounds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIZE = 8, 6


def make(path: Path, count: int) -> int:
    """Write a file with about `count` operators, and return their number."""
    drawn = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    numbers: list[onnx.TensorProto] = []

    def constant(name: str, *shape: int, scale: float = 0.1, shift: float = 0.0) -> str:
        values = shift + scale * drawn.standard_normal(shape)
        numbers.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def add(op: str, *inputs: str, **attributes: Any) -> str:
        made = helper.make_node(op, list(inputs), [f"v{len(nodes)}"], f"n{len(nodes)}", **attributes)
        nodes.append(made)
        return str(made.output[0])

    def convolution(x: str, name: str) -> str:
        weight = constant(f"{name}.weight", CHANNELS, CHANNELS, 3, 3, scale=0.02)
        return add("Conv", x, weight, constant(f"{name}.bias", CHANNELS), pads=[1] * 4)

    x = "x"
    while len(nodes) + 6 <= count:
        part = f"part{len(nodes)}"
        y = convolution(x, f"{part}.first")
        statistics = [constant(f"{part}.{word}", CHANNELS, scale=0.0, shift=one) for word, one in
                      (("scale", 1.0), ("shift", 0.0), ("mean", 0.0), ("variance", 1.0))]  # fmt: skip
        y = add("Relu", add("BatchNormalization", y, *statistics))
        x = add("Relu", add("Add", x, convolution(y, f"{part}.second")))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", CHANNELS, SIZE, SIZE])
    graph = helper.make_graph(nodes, "net", [given], [helper.make_empty_tensor_value_info(x)], numbers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return len(nodes)


def timed(path: Path, compares: bool) -> tuple[float, float]:
    """Import the file in this process. Return the processor's time and the time by the clock, in seconds."""
    from netwright.engine.exchange.importing.importer import import_file

    with tempfile.TemporaryDirectory() as folder:
        start, busy = time.perf_counter(), _busy()
        report = import_file(path, Path(folder) / "net.netwright", compares=compares)
        assert report.parity.agrees or not compares, report.parity
        return _busy() - busy, time.perf_counter() - start


def _busy() -> float:
    """Return the processor's time of this process and of its children that have ended, in seconds."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("FILE", "COMPARES"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(timed(Path(arguments.one[0]), arguments.one[1] == "True")))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        count = make(path, arguments.nodes)
        print(f"{count:,} operators, {path.stat().st_size / 1e6:.1f} MB")
        for compares in (False, True):
            command = [sys.executable, __file__, "--one", str(path), str(compares)]
            rounds = [
                json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
                for _ in range(arguments.rounds)
            ]
            busy, clock = (min(one[at] for one in rounds) for at in (0, 1))
            words = "with the comparison" if compares else "without the comparison"
            print(f"{words}: {busy:.2f} s of the processor, {clock:.2f} s by the clock")


if __name__ == "__main__":
    main()
