"""Checks of data before training: what may be wrong with it, what a training does about it, and the edit that helps.

The window and `netwright-engine data check` show the same findings. Nothing is changed here.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.progress import report
from netwright.engine.data.loading.data_cures import cures, gaps
from netwright.engine.data.loading.findings import DataCheck, finding_of, kept
from netwright.engine.data.loading.image_check import findings as image_findings
from netwright.engine.data.loading.open_data import Opened, open_source
from netwright.engine.data.loading.scan import Scan, rounded, scan
from netwright.engine.data.loading.target_checks import doubtful_labels, tells_class, tells_number
from netwright.engine.data.sources.source import Array
from netwright.engine.operations.data_check import Finding, Fix, Item, Severity
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit
from netwright.engine.project.dataset_info import SPLITS, TargetInfo

FEW = 10
"""Fewer training samples than this are few for a class."""
ALIKE = 0.02
"""Largest difference of two small versions of an image that count as the same picture, of the range of all values."""
LEAK_SAMPLES = 100_000
LEAST_COLUMNS = 4
"""Number of columns from which on rows that are equal to 4 digits may be no accident."""
ACCIDENTS = 10
"""Near duplicates are told where there are so many times more than by chance."""

PASSED = {
    "unreadable": "Every sample can be read.",
    "duplicates": "No sample is there twice.",
    "near_duplicates": "No two samples are nearly the same.",
    "split_duplicates": "No sample stands in two splits.",
    "contradictions": "Equal samples have equal targets.",
    "few_samples": f"Each class has at least {FEW} training samples.",
    "gaps": "No value is missing.",
    "constant": "No column has one value only.",
    "leak": "No column gives the target away.",
    "labels": "No label is contradicted by similar samples.",
}
"""Title of each check that finds nothing."""


def check_data(options: DataOptions, base: Path, *, labels: bool = False, files: bool = True) -> DataCheck:
    """Check all data; with `labels` also whether similar samples contradict labels, which takes longer. `files=False`
    leaves the check of single image files to the caller. Reports its progress. Raises `UserError` for data on a host
    that is not allowed."""
    admit(options)
    try:
        dataset = open_source(options, base)
        of_files = list(_file_findings(dataset, base)) if files and dataset.declared.has_image_files else []
        content = scan(dataset)
    except UserError as error:
        return DataCheck(findings=(_refused(options, base, error),))
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "unreadable": lambda: _unreadable(dataset, content),
        "duplicates": lambda: _duplicates(dataset, content),
        "near_duplicates": lambda: _near_duplicates(dataset, content),
        "few_samples": lambda: _few_samples(dataset),
        "gaps": lambda: gaps(dataset.options, dataset.outline.columns, len(dataset.outline)),
        "constant": lambda: _constant(dataset, content),
        "leak": lambda: _leaks(dataset, content),
    }
    is_told = {"contradictions", "split_duplicates", *checks}
    if labels and _classes(dataset) is not None and content.signatures is not None:
        checks["labels"] = lambda: _doubtful(dataset, content)
        is_told.add("labels")
    if dataset.outline.inputs[0].type.layout != "features":
        is_told -= {"constant", "leak"}
    if dataset.options.source != "table" or dataset.options.missing_values != "auto":
        is_told.discard("gaps")
    if content.near is None:
        is_told.discard("near_duplicates")
    if _classes(dataset) is None:
        is_told.discard("few_samples")
    if not any(info.per == "sample" and info.task != "transcripts" for info in dataset.outline.wanted):
        is_told.discard("contradictions")
    every = [*of_files, *(finding for check in checks.values() for finding in check())]
    kinds = {finding.kind for finding in every}
    order = {"error": 0, "warning": 1, "note": 2}
    return DataCheck(
        samples=len(dataset.outline),
        checked=len(content.places) + len(content.bad),
        findings=tuple(sorted(every, key=lambda finding: order[finding.severity])),
        passed=tuple(text for kind, text in PASSED.items() if kind in is_told - kinds),
        warnings=dataset.facts.warnings,
    )


def _refused(options: DataOptions, base: Path, error: UserError) -> Finding:
    """Return the finding for data that cannot be opened, with the edits after which it can be."""
    return Finding("refused", "error", str(error), "Training does not begin.", 0, (), cures(options, base))


def _file_findings(dataset: Opened, base: Path) -> Iterator[Finding]:
    """Yield the findings on single image files: damaged, of another size, with or without colours."""
    last: dict[str, Any] = {}
    for last in image_findings(dataset.options, base):
        report(last["checked"], last["total"], "files")
    counts, size = last["counts"], last["size"]
    is_grey = last["channels"] == "grey"
    for kind, title, outcome in (
        ("resized", f"of another size than {size}", f"Each is resized to {size}, the most frequent size."),
        (
            "converted",
            "with colours" if is_grey else "without colours",
            "Each is taken as " + ("grey." if is_grey else "colours, with three equal channels."),
        ),
    ):
        if counts[kind]:
            items = tuple((name, text if kind == "resized" else "") for name, text in last[kind])
            yield Finding(kind, "note", f"{plural(counts[kind], 'file')} {title}", outcome, counts[kind], items, ())


def _without_files(dataset: Opened, names: Sequence[str]) -> tuple[Fix, ...]:
    """Return the edit that leaves files out, where samples are files that can be."""
    if not dataset.declared.has_image_files or not names:
        return ()
    excluded = tuple(dict.fromkeys((*dataset.options.excluded_files, *names)))
    label = f"Leave {'it' if len(names) == 1 else f'all {len(names):,}'} out"
    return (Fix(label, {"excluded_files": list(excluded)}),)


# ---- samples ----


def _unreadable(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    if not scan.bad:
        return
    items = [(sample if scan.names else scan.name(index), reason) for index, sample, reason in scan.bad]
    fixes = _without_files(dataset, [sample for _, sample, _ in scan.bad])
    count = plural(len(items), "sample")
    outcome = "Training ends with an error."
    severity: Severity = "error"
    if dataset.options.skips_bad_samples:
        outcome, severity = "Others stand in for them while training, and the run lists them.", "warning"
    yield finding_of("unreadable", severity, f"{count} cannot be used", outcome, items, fixes)


def _groups(hashes: Array) -> Iterator[Array]:
    """Yield the rows of each group of equal numbers, ascending; without those that are there once."""
    order = np.argsort(hashes, kind="stable")
    edges = np.flatnonzero(np.diff(hashes[order])) + 1
    starts, ends = np.concatenate(([0], edges)), np.concatenate((edges, [len(order)]))
    for start, end in zip(starts[ends - starts > 1].tolist(), ends[ends - starts > 1].tolist(), strict=True):
        yield np.sort(order[start:end])


def _splits_of(dataset: Opened) -> Array:
    """Return the index of the split of each sample of the source (N); -1 for samples that are in none."""
    splits = np.full(len(dataset.outline), -1, np.int8)
    for index, name in enumerate(SPLITS):
        splits[dataset.numbers[name]] = index
    return splits


def _of_other_targets(dataset: Opened, places: Array) -> Array:
    """Return whether each sample has other targets than the first (N); targets of more than one value do not count."""
    other = np.zeros(len(places), bool)
    for info, target in zip(dataset.outline.wanted, dataset.outline.targets, strict=True):
        if info.per == "sample" and info.task != "transcripts":
            values = target[places].reshape(len(places), -1)
            other |= ~((values == values[0]) | (values != values) & (values[0] != values[0])).all(1)
    return other


def _labels(dataset: Opened, place: int, first: int) -> str:
    """Return the classes of two samples, where each has one: `; cat and dog`."""
    if (classes := _classes(dataset)) is None:
        return ""
    info, target = classes
    return f"; {info.classes[target[place]]} and {info.classes[target[first]]}"


def _duplicates(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    """Yield samples whose inputs are equal: within a split, over several, and with different targets."""
    splits = _splits_of(dataset)
    within: list[Item] = []
    across: list[Item] = []
    contradicting: list[Item] = []
    names: list[list[str]] = [[], []]
    for rows in _groups(scan.hashes):
        places = scan.places[rows]
        places = places[np.argsort(splits[places], kind="stable")]  # the training sample is the one that stays
        first = scan.name(int(places[0]))
        other = _of_other_targets(dataset, places)
        contradicting += [
            (scan.name(place), f"the inputs of {first}{_labels(dataset, place, int(places[0]))}")
            for place in places[other].tolist()
        ]
        places = places[~other]
        for place in places[1:].tolist():
            is_across = splits[place] != splits[places[0]]
            text = f"{SPLITS[splits[place]]}; the same as {first}, {SPLITS[splits[places[0]]]}" if is_across else ""
            (across if is_across else within).append((scan.name(place), text or f"the same as {first}"))
            names[int(is_across)].append(scan.name(place))
    if across:
        yield finding_of(
            "split_duplicates",
            "warning",
            f"{plural(len(across), 'sample')} of validation or test {'is' if len(across) == 1 else 'are'} in another "
            "split, too",
            kept(len(across), ": results on that split look better than they are."),
            across,
            _without_files(dataset, names[1]),
        )
    if within:
        yield finding_of(
            "duplicates",
            "warning",
            f"{plural(len(within), 'sample')} equal{'s' if len(within) == 1 else ''} an earlier one of the same split",
            kept(len(within), ". Duplicates count twice."),
            within,
            _without_files(dataset, names[0]),
        )
    if contradicting:
        yield finding_of(
            "contradictions",
            "warning",
            f"{plural(len(contradicting), 'sample')} with the inputs of another one and other targets",
            kept(len(contradicting), ": no network can learn both."),
            contradicting,
            _without_files(dataset, [name for name, _ in contradicting]),
        )


def _near_duplicates(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    """Yield vectors that are equal to about 4 digits, and images that look the same; equal ones are not among them."""
    first = dataset.outline.inputs[0]
    is_image = first.type.layout == "image"
    if scan.near is None or (is_image and scan.signatures is None):
        return
    if not is_image and (scan.low is None or scan.high is None or (scan.low < scan.high).sum() < LEAST_COLUMNS):
        return
    items = []
    span = 1.0
    if is_image:
        assert scan.signatures is not None
        span = float(scan.signatures.max() - scan.signatures.min()) or 1.0
    for rows in _groups(scan.near):
        for row in rows[1:].tolist():
            if scan.hashes[row] == scan.hashes[rows[0]]:
                continue
            if is_image:
                assert scan.signatures is not None
                if np.abs(scan.signatures[row] - scan.signatures[rows[0]]).max() > ALIKE * span:
                    continue
            items.append((scan.name(int(scan.places[row])), f"like {scan.name(int(scan.places[rows[0]]))}"))
    if items and (is_image or len(items) > ACCIDENTS * _pairs_by_chance(scan)):
        how = "look the same as another one" if is_image else "equal another one to 4 digits"
        fixes = _without_files(dataset, [name for name, _ in items])
        title = f"{plural(len(items), 'sample')} that {how}"
        yield finding_of("near_duplicates", "note", title, kept(len(items), "."), items, fixes)


def _pairs_by_chance(scan: Scan) -> float:
    """Return the number of pairs of rows that are equal to 4 digits by accident, where columns know nothing of each
    other: that of all pairs, times the share of equal pairs in each column."""
    if scan.signatures is None or scan.near is None:
        return 0.0
    rows = rounded(scan.signatures[:LEAK_SAMPLES])
    share = 1.0
    for column in rows.T:
        share *= float(((np.unique(column, return_counts=True)[1] / len(rows)) ** 2).sum())
    return share * len(scan.near) ** 2 / 2


# ---- classes ----


def _classes(dataset: Opened) -> tuple[TargetInfo, Array] | None:
    """Return the first target, if it is one class per sample."""
    info = dataset.outline.wanted[0]
    return (info, dataset.outline.targets[0]) if info.is_one_class else None


def _few_samples(dataset: Opened) -> Iterator[Finding]:
    if (classes := _classes(dataset)) is None:
        return
    info, target = classes
    counts = np.bincount(target[dataset.numbers["training"]], minlength=len(info.classes)).tolist()
    few = [
        (name, plural(count, "training sample"))
        for name, count in zip(info.classes, counts, strict=True)
        if count < FEW
    ]
    if few:
        noun = "class" if len(few) == 1 else "classes"
        yield finding_of(
            "few_samples",
            "warning",
            f"{len(few):,} {noun} with fewer than {FEW} training samples",
            kept(len(few), ": the network hardly learns so few, and results on them say little."),
            few,
        )


def _doubtful(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    """Yield samples whose class no similar sample has."""
    assert scan.signatures is not None
    info, target = dataset.outline.wanted[0], dataset.outline.targets[0]
    own = target[scan.places]
    items = [
        (
            scan.name(int(scan.places[doubt.row])),
            f"labelled {info.classes[own[doubt.row]]}; {doubt.agreeing} of {doubt.asked} similar samples are "
            f"{info.classes[doubt.other]}",
        )
        for doubt in doubtful_labels(scan.signatures, own, len(info.classes))
    ]
    if items:
        yield finding_of(
            "labels",
            "warning",
            f"{plural(len(items), 'label')} that similar samples contradict",
            kept(len(items), ". Look at each: similar samples may be wrong, too."),
            items,
            _without_files(dataset, [name for name, _ in items]),
        )


# ---- columns ----


def _without_columns(dataset: Opened, names: Sequence[str]) -> tuple[Fix, ...]:
    """Return the edit that leaves columns out, where the source has that option and columns are left."""
    if not dataset.options.is_visible("left_out") or not names:
        return ()
    inputs = {column.name for column in dataset.outline.columns if column.role == "input"}
    if not inputs - set(names):
        return ()
    every = tuple(dict.fromkeys((*dataset.options.columns_left_out, *names)))
    return (Fix(f"Leave {'it' if len(names) == 1 else f'all {len(names):,}'} out", {"left_out": ", ".join(every)}),)


def _column_blocks(dataset: Opened) -> list[tuple[str, slice]]:
    """Return the name of each column of the first input, and the places of the numbers that it became."""
    first = dataset.outline.inputs[0]
    if first.prepared:
        blocks, start = [], 0
        for column in first.prepared:
            blocks.append((column.name, slice(start, start + len(column.names))))
            start += len(column.names)
        return blocks
    count = first.type.channels
    names = first.columns or tuple(f"{first.name}[{place}]" for place in range(count))
    return [(name, slice(place, place + 1)) for place, name in enumerate(names)]


def _constant(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    if scan.low is None or scan.high is None:
        return
    is_flat = scan.low == scan.high
    items = [
        (name, f"always {scan.low[where][0]:g}" if where.stop - where.start == 1 else "the same in every row")
        for name, where in _column_blocks(dataset)
        if is_flat[where].all()
    ]
    if items:
        fixes = _without_columns(dataset, [name for name, _ in items])
        title = f"{plural(len(items), 'column')} with one value only"
        yield finding_of(
            "constant", "warning", title, kept(len(items), ": the network learns nothing from it."), items, fixes
        )


def _leaks(dataset: Opened, scan: Scan) -> Iterator[Finding]:
    """Yield columns that determine a target alone: each value has one class, or they order the numbers alike."""
    values = scan.signatures
    if scan.low is None or values is None or values.shape[1] != len(scan.low):
        return  # no vectors, or too many numbers to keep
    rows = np.linspace(0, len(values) - 1, min(len(values), LEAK_SAMPLES)).round().astype(np.int64)
    values = values[rows]
    items = []
    for info, target in zip(dataset.outline.wanted, dataset.outline.targets, strict=True):
        if info.per != "sample" or info.task not in ("classes", "numbers"):
            continue
        labels = target[scan.places[rows]]
        columns = labels[:, np.newaxis] if labels.ndim == 1 else labels
        for name, where in _column_blocks(dataset):
            block = values[:, where]
            tell = tells_class if info.task == "classes" else tells_number
            if any((how := tell(block, columns[:, place])) for place in range(columns.shape[1])):
                items.append((name, how.format(target=info.name)))
    if items:
        fixes = _without_columns(dataset, list(dict.fromkeys(name for name, _ in items)))
        title = f"{plural(len(items), 'column')} that {'gives' if len(items) == 1 else 'give'} the target away"
        outcome = kept(len(items), ". Where it is not known when the network is used, the results are worth nothing.")
        yield finding_of("leak", "warning", title, outcome, items, fixes)
