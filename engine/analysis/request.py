"""Evaluations as they are asked for: of a run on its own or on other data, alone or against another run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netwright.engine.analysis import predict_request  # noqa: F401  # imported before the first question
from netwright.engine.analysis.evaluate import Deciding, Evaluation
from netwright.engine.analysis.operations.evaluate import ComparisonResult, EvaluateRequest, EvaluateResult
from netwright.engine.analysis.operations.trained_network import PredictorRequest, SamplesRequest
from netwright.engine.analysis.other_data import data_of, other_data
from netwright.engine.analysis.paired_comparison import compare
from netwright.engine.analysis.predictors import kept_predictor
from netwright.engine.analysis.report import with_pictures, write_report
from netwright.engine.analysis.sample_views import look
from netwright.engine.core.dataclass_json import to_json
from netwright.engine.models.open_model import open_model
from netwright.engine.runs.model_files import Assumptions, ModelChoice


def evaluate_model(request: EvaluateRequest) -> EvaluateResult | ComparisonResult:
    """Evaluate the network of a model, or compare it with another one. Raises `UserError`."""
    other, choice, path = data_of(request), request.choice, str(request.model.absolute())
    if request.against is not None:
        second = replace(choice, path=request.against)
        comparison = compare(choice, second, request.split, other, fresh=request.fresh)
        return ComparisonResult(path=path, **comparison)
    evaluation = Evaluation(open_model(choice), request.split, other)
    deciding = Deciding(request.threshold, request.calibrate, request.store, request.reset)
    result = evaluation.decided(deciding, fresh=request.fresh)
    if request.by:
        result["groups"] = evaluation.grouped(request.by)
    if request.html is not None:
        write_report(request.model, request.html, with_pictures(evaluation, result))
    if request.with_groupings:
        result["groupings"] = list(evaluation.group_values(evaluation.result()[1]))
    return EvaluateResult(path=path, **result)


def samples(request: SamplesRequest) -> Mapping[str, Any]:
    """Return single samples of an evaluation, with pictures in `folder`; see
    `netwright.engine.analysis.sample_views`."""
    choice = ModelChoice(request.path, request.weights)
    other = other_data(request.path, request.source, request.settings) if request.source else None
    return look(Evaluation(open_model(choice), request.split, other), to_json(request), request.folder)


def predictor(request: PredictorRequest) -> Mapping[str, Any]:
    """Load a run or an ONNX file for `predict`. Return its preparation, and what is assumed where it has none."""
    assumptions = Assumptions(request.pixels, request.classes)
    network = kept_predictor(ModelChoice(request.path, request.weights, assumptions=assumptions))
    inputs = network.record.inputs
    if any("H" in given.axes for given in inputs):
        from PIL import Image

        Image.init()  # imports what reads and writes pictures
    if all(None not in given.sizes for given in inputs):  # the first pass takes longer: it builds the network
        network.outputs(tuple(np.zeros((1, *map(int, filter(None, given.sizes))), given.dtype) for given in inputs))
    return {"preparation": network.record.write(), "assumed": list(network.assumed)}
