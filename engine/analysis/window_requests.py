"""Requests of the window about trained networks that are no operations: samples to look at, and a network to ask."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.analysis import predict_request  # noqa: F401  # imported before the first question
from netwright.engine.analysis.assumed import Assumptions
from netwright.engine.analysis.predictors import kept_predictor
from netwright.engine.analysis.request import sample_views


def samples(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return samples of the data of a run to look at."""
    return sample_views(values)


def predictor(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Load a run or an ONNX file for `predict`. Return its preparation, and what is assumed where it has none."""
    assumptions = Assumptions(str(values.get("pixels", "")), tuple(map(str, values.get("classes", ()))))
    weights = str(values.get("weights", ""))
    network = kept_predictor(Path(values["path"]), weights_kept=weights, assumptions=assumptions)
    inputs = network.record.inputs
    if any("H" in given.axes for given in inputs):
        from PIL import Image

        Image.init()  # imports what reads and writes pictures
    if all(None not in given.sizes for given in inputs):  # the first pass takes longer: it builds the network
        network.outputs(tuple(np.zeros((1, *map(int, filter(None, given.sizes))), given.dtype) for given in inputs))
    return {"preparation": network.record.write(), "assumed": list(network.assumed)}
