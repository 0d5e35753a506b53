"""The loss functions of a training script."""

from dataclasses import replace

from netwright.engine.exchange.training_script.recipe import Recipe, Target
from netwright.engine.lowering.classes import call
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.training.losses import EPSILON

TITLES = {
    "cross-entropy": "cross-entropy",
    "index-cross-entropy": "cross-entropy",
    "binary-cross-entropy": "binary cross-entropy",
    "focal": "focal loss",
    "half-mse": "half squared error",
    "mse": "squared error",
    "mae": "absolute error",
    "huber": "Huber loss",
    "dice": "dice loss",
    "generalized-dice": "generalized dice loss",
}


def loss_functions(recipe: Recipe) -> list[list[str]]:
    """Return a function per output that sums its loss over samples, and for several outputs the one that adds them."""
    targets = recipe.targets
    names = [loss_name(recipe, number) for number in range(len(targets))]
    parts = [part for one, name in zip(targets, names, strict=True) for part in _losses(recipe, one, name)]
    if len(targets) == 1:
        return parts
    terms = [
        f"{'' if one.weight == 1.0 else f'{one.weight!r} * '}{name}(outputs[{number}], targets[{number}])"
        for number, (one, name) in enumerate(zip(targets, names, strict=True))
    ]
    tensors = "tuple[torch.Tensor, ...]"
    return [
        *parts,
        [
            f"def loss_sum(outputs: {tensors}, targets: {tensors}) -> torch.Tensor:",
            '    """Return the weighted sum of the losses of all outputs, summed over samples."""',
            *call(4, "return torch.stack([", terms, "]).sum()"),
        ],
    ]


def loss_name(recipe: Recipe, number: int) -> str:
    """Return the name of the loss function of an output."""
    return "loss_sum" if len(recipe.targets) == 1 else f"loss_sum_{number + 1}"


def suffix(number: int) -> str:
    """Return the end of the names of constants of an output: nothing for the first."""
    return f"_{number + 1}" if number else ""


def constants(recipe: Recipe) -> list[str]:
    """Return the constants of the losses: weights of classes, and what normalises numbers."""
    lines = []
    for number, target in enumerate(recipe.targets):
        lists = {"CLASS_WEIGHTS": target.class_weights, "TARGET_SHIFT": target.shift, "TARGET_SCALE": target.scale}
        for name, values in lists.items():
            if values:
                numbers = [f"{value:.9g}" if value % 1 else f"{value:.1f}" for value in values]
                lines += call(0, f"{name}{suffix(number)} = [", numbers, "]")
    return lines


def _losses(recipe: Recipe, target: Target, name: str) -> list[list[str]]:
    """Return the function of the loss of an output, after those of the two losses that it may be the sum of."""
    if target.loss != "dice-cross-entropy":
        return [_loss(recipe, target, name)]
    number = recipe.targets.index(target)
    other = "binary-cross-entropy" if target.task == "labels" else "cross-entropy"
    names = f"dice_{name}", f"cross_entropy_{name}"
    return [
        _loss(recipe, replace(target, loss="dice"), names[0], number),
        _loss(recipe, replace(target, loss=other), names[1], number),
        [
            f"def {name}(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:",
            '    """Return the sum of dice loss and cross-entropy, summed over samples."""',
            f"    return {names[0]}(output, target) + {names[1]}(output, target)",
        ],
    ]


def _loss(recipe: Recipe, target: Target, name: str, number: int | None = None) -> list[str]:
    number = recipe.targets.index(target) if number is None else number
    title = TITLES[target.loss]
    of = "" if len(recipe.targets) == 1 else f" of {target.wanted.name}"
    title += " of normalised numbers" if target.scale else ""
    if target.per == "sample" or "dice" in target.loss:
        docstring = f"Return the {title}{of}, summed over samples."
    else:
        counted = " that have a target" if target.has_gaps else ""
        docstring = f"Return the {title}{of}: mean over the {target.per}s{counted} of each sample, summed over samples."
    body = _regression(recipe, target) if target.task == "numbers" else _classification(recipe, target, number)
    return [
        f"def {name}(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:",
        f'    """{docstring}"""',
        *(f"    {line}" for line in (*_normalised(target, number), *body)),
    ]


def _normalised(target: Target, number: int) -> list[str]:
    """Return the lines that undo the units of numbers, for the loss alone."""
    if not target.scale:
        return []
    type = target.wanted.facts.type
    ones = type.rank - type.dim("C")
    view = f".view({', '.join(['-1', *['1'] * ones])})" if ones else ""
    shift, scale = (f"output.new_tensor({name}{suffix(number)}){view}" for name in ("TARGET_SHIFT", "TARGET_SCALE"))
    return [
        f"shift, scale = {shift}, {scale}",
        "output, target = (output - shift) / scale, (target - shift) / scale",
    ]


def _regression(recipe: Recipe, target: Target) -> list[str]:
    """Return the body of the loss of numbers: the mean over all numbers of a sample; half-mse sums responses."""
    options = recipe.options
    each = "(output - target).square()"
    if target.loss == "mae":
        each = "(output - target).abs()"
    elif target.loss == "huber":
        delta = f", delta={options.huber_delta!r}" if options.huber_delta != 1.0 else ""
        each = f'functional.huber_loss(output, target{delta}, reduction="none")'
    factor = "0.5 * " if target.loss == "half-mse" else ""
    channels = target.wanted.facts.type["C"]
    if target.per == "sample":
        divisor = "" if target.loss == "half-mse" or channels == 1 else f" / {channels}"
        return [f"return {factor}{each}.sum(){divisor}"]
    if target.loss != "half-mse" and not target.has_gaps:
        return [f"return {each}.flatten(1).mean(1).sum()"]
    lines = []
    if target.has_gaps:
        lines = [
            "counted = ~target.isnan()",
            "output, target = output.where(counted, 0.0), target.where(counted, 0.0)",
        ]
    axis = target.wanted.facts.type.dim("C")
    if not target.has_gaps:
        return [*lines, f"return {factor}{each}.sum({axis}).flatten(1).mean(1).sum()"]
    counts = f"counted.any({axis})" if target.loss == "half-mse" else "counted"
    return [
        *lines,
        f"count = {counts}.flatten(1).sum(1).clamp(min=1)",
        f"return {factor}({each}.flatten(1).sum(1) / count).sum()",
    ]


def _classification(recipe: Recipe, target: Target, number: int) -> list[str]:
    options, output = recipe.options, target.wanted
    smoothing = options.label_smoothing if options.is_visible("label_smoothing") else 0.0
    weight = f"output.new_tensor(CLASS_WEIGHTS{suffix(number)})" if target.class_weights else ""
    axis = output.type.dim("C")
    is_dice = "dice" in target.loss
    if target.task == "labels" and not is_dice:
        return _labels(target, smoothing, weight)
    lines = [f"output = output.transpose(1, {axis})  # classes first"] if axis != 1 else []
    if is_dice and target.task == "labels" and axis != 1:
        lines += [f"target = target.transpose(1, {axis})"]
    if output.is_binary and (smoothing or weight or target.has_gaps or target.loss == "focal" or is_dice):
        lines += ["output = torch.cat([torch.zeros_like(output), output], 1)  # the logit of the second class"]
    elif output.is_binary:
        return _two_classes(target, axis)
    if is_dice:
        return [*lines, *_dice(target, weight)]
    if target.loss == "focal":
        return [*lines, *_focal(target, options.focal_gamma, weight)]
    arguments = ["output", "target"]
    arguments += [f"weight={weight}"] if weight else []
    arguments += [f"label_smoothing={smoothing!r}"] if smoothing else []
    if target.per == "sample":
        return [*lines, *call(0, "return functional.cross_entropy(", [*arguments, 'reduction="sum"'], ")")]
    arguments += [f"ignore_index={IGNORED}"] if target.has_gaps and IGNORED != -100 else []
    lines += call(0, "each = functional.cross_entropy(", [*arguments, 'reduction="none"'], ")")
    if not target.has_gaps:
        return [*lines, "return each.flatten(1).mean(1).sum()"]
    return [
        *lines,
        f"count = (target != {IGNORED}).flatten(1).sum(1).clamp(min=1)",
        "return (each.flatten(1).sum(1) / count).sum()",
    ]


def _dice(target: Target, weight: str) -> list[str]:
    """Return the body of the overlap of each class with its target: Milletari et al., V-Net, 2016; generalized: Sudre
    et al., 2017."""
    if target.task == "labels":
        lines = ["counted = ~target.isnan()", "t = target.where(counted, 0.0)"] if target.has_gaps else ["t = target"]
        lines += [f"p = torch.sigmoid(output){' * counted' if target.has_gaps else ''}"]
    else:
        numbers = "target.clamp(min=0)" if target.has_gaps else "target"
        lines = [
            "p = torch.softmax(output, 1)",
            f"t = functional.one_hot({numbers}, output.shape[1]).movedim(-1, 1).to(p.dtype)",
        ]
        if target.has_gaps:
            lines += [f"counted = (target != {IGNORED}).unsqueeze(1)", "p, t = p * counted, t * counted"]
    lines += ["p, t = p.flatten(2), t.flatten(2)"]
    if target.loss == "generalized-dice":
        return [
            *lines,
            "count = t.sum(2)",
            "weight = torch.where(count > 0, count.clamp(min=1), torch.inf).square().reciprocal()",
            "weight = torch.where(count > 0, weight, weight.amax(1, keepdim=True))  # of a class that does not occur",
            "both, each = (weight * (p * t).sum(2)).sum(1), (weight * (p.square().sum(2) + count)).sum(1)",
            f"return (1 - (2 * both + {EPSILON!r}) / (each + {EPSILON!r})).sum()",
        ]
    lines += [f"overlap = (2 * (p * t).sum(2) + {EPSILON!r}) / (p.square().sum(2) + t.sum(2) + {EPSILON!r})"]
    if weight:
        return [*lines, f"weight = {weight}", "return (1 - (overlap * weight).sum(1) / weight.sum()).sum()"]
    return [*lines, "return (1 - overlap.mean(1)).sum()"]


def _focal(target: Target, gamma: float, weight: str) -> list[str]:
    numbers = "target.clamp(min=0)" if target.has_gaps else "target"
    lines = [
        f"log_p = functional.log_softmax(output, 1).gather(1, {numbers}.unsqueeze(1)).squeeze(1)",
        f"each = -((-torch.expm1(log_p)).clamp(min=1e-12) ** {gamma!r}) * log_p",
        *([f"each = each * {weight}[{numbers}]"] if weight else []),
    ]
    if target.per == "sample":
        return [*lines, "return each.sum()"]
    if not target.has_gaps:
        return [*lines, "return each.flatten(1).mean(1).sum()"]
    return [
        *lines,
        f"counted = target != {IGNORED}",
        "count = counted.flatten(1).sum(1).clamp(min=1)",
        "return ((each * counted).flatten(1).sum(1) / count).sum()",
    ]


def _two_classes(target: Target, axis: int) -> list[str]:
    """Return the body for two classes by one channel: the logit of the second class."""
    fit = f"target = target.unsqueeze({axis}).to(output.dtype)"
    head = "functional.binary_cross_entropy_with_logits(output, target"
    if target.per == "sample":
        return [fit, f'return {head}, reduction="sum")']
    return [fit, f'each = {head}, reduction="none")', "return each.flatten(1).mean(1).sum()"]


def _labels(target: Target, smoothing: float, weight: str) -> list[str]:
    """Return the body for labels, each by itself: mean over labels and positions."""
    type, lines = target.wanted.type, []
    axis = type.dim("C")
    if target.has_gaps:
        lines += ["counted = ~target.isnan()", "target = target.where(counted, 0.0)"]
    if smoothing:
        lines += [f"target = target * {1 - smoothing!r} + {smoothing / 2!r}"]
    arguments = ["output", "target"]
    if weight:
        ones = ", ".join(["-1", *["1"] * (type.rank - axis)])
        arguments += [f"pos_weight={weight}.view({ones})" if type.rank > axis else f"pos_weight={weight}"]
    lines += call(0, "each = functional.binary_cross_entropy_with_logits(", [*arguments, 'reduction="none"'], ")")
    if not target.has_gaps:
        return [*lines, "return each.flatten(1).mean(1).sum()"]
    return [
        *lines,
        "count = counted.flatten(1).sum(1).clamp(min=1)",
        "return ((each * counted).flatten(1).sum(1) / count).sum()",
    ]
