"""Tokens per second of the processor that `gpt_small` writes, with the keys and values of earlier tokens kept and
without, in one thread.

    python -m benchmarks.writing [tokens]
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from netwright.engine.core.files import ROOT
from netwright.engine.lowering.cached_steps import cached
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.project.file import load

PROMPT = 16
MOST = 256


def main() -> None:
    """Write greedily in both ways, and print the speeds and whether the tokens are the same."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    count = min(int(sys.argv[1]) if len(sys.argv) > 1 else MOST - PROMPT, MOST - PROMPT)
    network = load(Path(ROOT, "resources", "templates", "gpt_small.netwright")).project.network
    module = build(network, analyse(network)).eval()
    fast = cached(module, MOST)
    assert fast is not None
    begin = np.random.default_rng(0).integers(256, size=PROMPT).tolist()

    def whole(tokens: list[int]) -> np.ndarray:
        with torch.inference_mode():
            return module(torch.tensor([tokens]))[0, -1].numpy()

    def newest(tokens: list[int]) -> np.ndarray:
        return fast.outputs(np.array([tokens[fast.num_seen :]]))[0, -1]

    texts = []
    for name, shares in (("without a cache", whole), ("with a cache", newest)):
        tokens, began = list(begin), time.process_time()
        for _ in range(count):
            tokens.append(int(shares(tokens).argmax()))
        speed = count / (time.process_time() - began)
        print(f"{name}: {speed:,.1f} tokens per second ({count} tokens after {PROMPT})")
        texts.append(tokens)
    print("the same tokens" if texts[0] == texts[1] else "OTHER TOKENS")


if __name__ == "__main__":
    main()
