"""Samples as points in two dimensions, by the activations of a layer: PCA, t-SNE or UMAP.

Van der Maaten, Hinton: Visualizing data using t-SNE, 2008. McInnes, Healy, Melville: UMAP, 2018.
"""

from collections.abc import Callable, Mapping

import numpy as np
import torch

from netwright.engine.analysis.activations import Found
from netwright.engine.analysis.subject import Layer, Subject, rows_of
from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.progress import report
from netwright.engine.data.loading.apply_preparation import present
from netwright.engine.data.loading.preview import target_text
from netwright.engine.data.sources.source import Array
from netwright.engine.network.analysis import owner_path

MOST_SAMPLES = 2000
BATCH = 64
SEED = 0
LEAST_SAMPLES = 3
PERPLEXITY, NEIGHBOURS = 30.0, 15
"""As in scikit-learn and umap-learn; fewer samples have smaller ones."""
FIRST_COMPONENTS = 50
"""Dimensions that t-SNE and UMAP start from, as their authors advise."""


def embedding(subject: Subject, name: str, reduction: str = "pca", most: int = MOST_SAMPLES) -> Found:
    """Return samples of the split in two dimensions: arrays `points` (N, 2), `places` and `indices` (N), where `labels`
    and `predictions` (N) are numbers of `told["classes"]`, or numbers of their own.

    By default the layer before the last one with weights that is not an output: what the last decision is made from.
    """
    if reduction not in REDUCTIONS:
        raise UserError(f"There is no reduction '{reduction}'. Choose {', '.join(REDUCTIONS)}.")
    layer = _layer(subject, name)
    places = subject.places(most)
    if len(places) < LEAST_SAMPLES:
        raise UserError(f"The {subject.split} split has {len(places)} samples: an embedding needs {LEAST_SAMPLES}.")
    rows, labels, predictions, texts = [], [], [], []
    first, target_facts = subject.record.targets[0], subject.trained.wanted[0].facts
    is_class = first.task == "classes" and target_facts.per == "sample"
    count = 0
    for (some, _, targets), outputs, values in subject.layer_outputs(places, BATCH, {layer.path}):
        rows.append(rows_of(values[layer.path]).double())
        prediction = present(subject.record, [x.numpy() for x in outputs])[0]
        labels.append(_number(targets[0].numpy(), is_class=is_class))
        predictions.append(_number(np.asarray(prediction.values), is_class=is_class))
        texts += [target_text(target_facts, target.numpy()) for target in targets[0]]
        count += len(some)
        report(count, len(places), "samples")
    points, facts = REDUCTIONS[reduction](torch.cat(rows).numpy())
    arrays = {"points": points.astype(np.float32), "places": np.array(places), "indices": subject.indices(places)}
    arrays |= {"labels": np.concatenate(labels), "predictions": np.concatenate(predictions)}
    findings = Found({"layer": layer.name, "layer_path": layer.path, "reduction": reduction, "texts": texts}, arrays)
    findings.told |= {"classes": list(first.classes) if is_class else [], "split": subject.split, **facts}
    findings.told |= {"samples": len(places), "of": len(subject.dataset)}
    return findings


def _layer(subject: Subject, name: str) -> Layer:
    """Return the layer of this name; without one that which the last layer with weights takes."""
    if name:
        return subject.layer(name, lambda layer: True, "layer")
    layers = list(subject.layers.values())
    names, network = subject.trained.module_names, subject.trained.network
    learned = [at for at, layer in enumerate(layers) if any(names.get(owner_path(network, layer.path), ()))]
    has_weights = [at for at in learned if layers[at].family in ("Fully connected", "Convolution", "Recurrent")]
    return layers[max(0, has_weights[-1] - 1)] if has_weights else layers[-1]


def _number(values: Array, *, is_class: bool) -> Array:
    """Return one number per sample: the class, or the mean of the numbers."""
    if is_class:
        return values.reshape(len(values)).astype(np.int64)
    return np.asarray(values.reshape(len(values), -1).astype(np.float64).mean(1))


def principal_components(rows: Array, count: int = 2) -> tuple[Array, Array]:
    """Return the first principal components (N, count) of rows (N, C), and their shares of the variance (count).

    The sign of a component is that of its largest weight, as in scikit-learn.
    """
    centred = torch.from_numpy(rows - rows.mean(0))
    u, s, v = torch.linalg.svd(centred, full_matrices=False)
    largest = v.abs().argmax(1)
    signs = torch.sign(v[torch.arange(len(v)), largest])
    points = (u * signs * s)[:, :count].numpy()
    total = float(s.square().sum()) or 1.0
    shares = (s.square() / total)[:count].numpy()
    missing = count - points.shape[1]
    return np.pad(points, ((0, 0), (0, max(0, missing)))), np.pad(shares, (0, max(0, missing)))


def _pca(rows: Array) -> tuple[Array, dict[str, object]]:
    points, shares = principal_components(rows)
    return points, {"explained": shares.tolist()}


def _prepared(rows: Array) -> Array:
    return principal_components(rows, FIRST_COMPONENTS)[0] if rows.shape[1] > FIRST_COMPONENTS else rows


def _tsne(rows: Array) -> tuple[Array, dict[str, object]]:
    manifold = import_extra("sklearn.manifold", "explain", "Points by t-SNE", "PCA needs no further library.")
    perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
    method = manifold.TSNE(perplexity=perplexity, init="pca", random_state=SEED)
    return method.fit_transform(_prepared(rows)), {"perplexity": perplexity}


def _umap(rows: Array) -> tuple[Array, dict[str, object]]:
    library = import_extra("umap", "umap", "Points by UMAP", "PCA and t-SNE do without it.")
    neighbours = min(NEIGHBOURS, len(rows) - 1)
    method = library.UMAP(n_neighbors=neighbours, random_state=SEED)
    return method.fit_transform(_prepared(rows)), {"neighbours": neighbours}


REDUCTIONS: Mapping[str, Callable[[Array], tuple[Array, dict[str, object]]]] = {
    "pca": _pca,
    "tsne": _tsne,
    "umap": _umap,
}
