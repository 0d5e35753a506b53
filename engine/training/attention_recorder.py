"""Recorder of what the attention layers take from each step of one validation sample, to watch them learn."""

import math
from pathlib import Path

import numpy as np
import torch
from torch import fx

from netwright.engine.data.loading.batches import Tensors
from netwright.engine.data.sources.source import Array
from netwright.engine.lowering.attention_maps import attention_weights, spaced
from netwright.engine.network.analysis import named_path, type_at
from netwright.engine.runs.reported_pictures import ATTENTION, LONGEST_NAME, MOST_NAMES
from netwright.engine.training.job import TrainingJob
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.picture_recorder import MOST_PIXELS, PictureRecorder

GAP = 2
"""Pixels between the heads of a layer."""


class AttentionRecorder:
    """Recorder of a picture per attention layer, with its heads side by side."""

    def __init__(self, run: Path, layers: dict[str, str]) -> None:
        """`run` is the folder of the run, `layers` are the names of the attention layers by id path."""
        self._layers = layers
        self._pictures = PictureRecorder(run, ATTENTION)
        self._heads: dict[str, Array] = {}

    def take(self, model: TrainedModel, inputs: Tensors) -> None:
        """Note the attention to a sample, a batch of one as the network takes it. Computes the sample once more."""
        network, budget = model.network, self._pictures.budget
        if not (isinstance(network, fx.GraphModule) and model.strategy.is_replicated and budget.is_left):
            return
        with budget.spending():
            with model.precision.computing():
                weights = attention_weights(network, inputs, self._layers)
            for path, several in weights.items():
                heads = torch.cat([part.float() for part in several if part.shape == several[0].shape])
                self._heads[self._layers[path]] = side_by_side(heads)

    def end(self, iteration: int, epoch: int) -> None:
        """Write the pictures of the validation after `iteration`."""
        for name, picture in self._heads.items():
            self._pictures.keep(iteration, epoch, name, picture)
        self._heads = {}


def side_by_side(heads: torch.Tensor) -> Array:
    """Return heads (N, queries, keys) as one picture (H, W), in rows as long as there are rows; the largest weight of
    each head is white, and the others as bright as their root, as weights of many steps are all small."""
    columns = math.ceil(math.sqrt(len(heads)))
    rows = -(-len(heads) // columns)
    weights = spaced(heads, max(1, MOST_PIXELS // columns - GAP))
    weights = np.sqrt(weights / np.maximum(weights.max((1, 2), keepdims=True), 1e-12))
    height, width = weights.shape[1] + GAP, weights.shape[2] + GAP
    picture = np.full((rows * height - GAP, columns * width - GAP), 0.5, np.float32)
    for number, head in enumerate(weights):
        top, left = number // columns * height, number % columns * width
        picture[top : top + height - GAP, left : left + width - GAP] = head
    return picture


def attention_recorder_for(job: TrainingJob, run: Path) -> AttentionRecorder | None:
    """Return the recorder of a run, of at most as many layers as pictures are read; None without attention."""
    network = job.project.network
    paths = [path for path, _ in job.analysis.all_shapes() if type_at(network, path).family == "Attention"]
    if not paths:
        return None
    places = np.linspace(0, len(paths) - 1, min(len(paths), MOST_NAMES)).round().astype(int)
    return AttentionRecorder(run, {paths[place]: named_path(network, paths[place])[:LONGEST_NAME] for place in places})
