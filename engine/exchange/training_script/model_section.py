"""The functions of a training script that are about the network: loss, solver, learn rate, clipping, evaluation."""

import math
import textwrap
from collections.abc import Sequence

from engine.exchange.training_script.recipe import Recipe, Target
from engine.lowering.classes import call, literal
from engine.project.dataset_info import IGNORED

TITLES = {
    "cross-entropy": "cross-entropy",
    "index-cross-entropy": "cross-entropy",
    "binary-cross-entropy": "binary cross-entropy",
    "focal": "focal loss",
    "half-mse": "half squared error",
    "mse": "squared error",
    "mae": "absolute error",
    "huber": "Huber loss",
}


def text(code: str) -> list[str]:
    """Return the lines of a literal piece of code."""
    return textwrap.dedent(code).strip("\n").split("\n")


def loss_functions(recipe: Recipe) -> list[list[str]]:
    """Return a function per output that sums its loss over samples, and for several outputs the one that adds them."""
    targets = recipe.targets
    names = [loss_name(recipe, number) for number in range(len(targets))]
    parts = [_loss(recipe, one, name) for one, name in zip(targets, names, strict=True)]
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


def weights_constant(recipe: Recipe, number: int) -> str:
    """Return the name of the constant with the class weights of an output."""
    return "CLASS_WEIGHTS" if len(recipe.targets) == 1 else f"CLASS_WEIGHTS_{number + 1}"


def _loss(recipe: Recipe, target: Target, name: str) -> list[str]:
    number = recipe.targets.index(target)
    title = TITLES[target.loss]
    of = "" if len(recipe.targets) == 1 else f" of {target.wanted.name}"
    if target.per == "sample":
        docstring = f"Return the {title}{of}, summed over samples."
    else:
        counted = " that have a target" if target.has_gaps else ""
        docstring = f"Return the {title}{of}: mean over the {target.per}s{counted} of each sample, summed over samples."
    body = _regression(recipe, target) if target.task == "numbers" else _classification(recipe, target, number)
    return [
        f"def {name}(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:",
        *_docstring(docstring),
        *(f"    {line}" for line in body),
    ]


def _docstring(sentence: str) -> list[str]:
    return [f'    """{sentence}"""']


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
    options, wanted = recipe.options, target.wanted
    smoothing = options.label_smoothing if options.is_visible("label_smoothing") else 0.0
    weight = f"output.new_tensor({weights_constant(recipe, number)})" if target.class_weights else ""
    axis = wanted.type.dim("C")
    if target.task == "labels":
        return _labels(target, smoothing, weight)
    lines = [f"output = output.transpose(1, {axis})  # classes first"] if axis != 1 else []
    if wanted.is_binary and (smoothing or weight or target.has_gaps or target.loss == "focal"):
        lines += ["output = torch.cat([torch.zeros_like(output), output], 1)  # the logit of the second class"]
    elif wanted.is_binary:
        return _two_classes(target, axis)
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


def optimizer_function(recipe: Recipe) -> list[str]:
    """Return the function that makes the optimizer, with weight decay and learn rate per parameter."""
    options = recipe.options
    lines = ["def make_optimizer(network: nn.Module) -> torch.optim.Optimizer:"]
    factors = set(recipe.factors.values())
    name, arguments = _optimizer(recipe)
    if len(factors) == 1 or (not options.l2_regularization and len({rate for rate, _ in factors}) == 1):
        ((rate, l2), *_) = factors
        decay = options.l2_regularization * l2
        used = ["network.parameters()", f"lr={'LEARN_RATE' if rate == 1.0 else f'LEARN_RATE * {rate!r}'}", *arguments]
        # AdamW has a decay of its own by default.
        used += ["weight_decay=WEIGHT_DECAY" if decay else "weight_decay=0.0"] if decay or name == "AdamW" else []
        return [
            *lines,
            '    """Return the optimizer of all parameters."""',
            *call(4, f"return torch.optim.{name}(", used, ")"),
        ]
    other = exceptions(recipe)
    if not other:
        return [
            *lines,
            '    """Return the optimizer. Weights decay; biases and normalisation do not."""',
            "    decayed = [parameter for parameter in network.parameters() if parameter.dim() > 1]",
            "    others = [parameter for parameter in network.parameters() if parameter.dim() <= 1]",
            '    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]',
            *call(4, f"return torch.optim.{name}(", ["groups", "lr=LEARN_RATE", *arguments], ")"),
        ]
    return [
        *lines,
        '    """Return the optimizer. Weights decay, biases and normalisation do not; and see `FACTORS`."""',
        "    groups = []",
        "    for name, parameter in network.named_parameters():",
        "        rate, decay = FACTORS.get(name, (1.0, float(parameter.dim() > 1)))",
        '        options = {"lr": LEARN_RATE * rate, "weight_decay": WEIGHT_DECAY * decay}',
        '        groups.append({"params": [parameter], **options})',
        *call(4, f"return torch.optim.{name}(", ["groups", "lr=LEARN_RATE", *arguments], ")"),
    ]


def exceptions(recipe: Recipe) -> dict[str, tuple[float, float]]:
    """Return the factors of the parameters that the rule does not hold for: weights decay, vectors do not, and all
    learn at the same rate. Empty where the optimizer needs no groups."""
    found = {name: own for name, own in recipe.factors.items() if own != (1.0, float(recipe.axes[name] > 1))}
    if len(set(recipe.factors.values())) == 1:
        return {}
    rates = {rate for rate, _ in recipe.factors.values()}
    return {} if not recipe.options.l2_regularization and len(rates) == 1 else found


def _optimizer(recipe: Recipe) -> tuple[str, list[str]]:
    """Return the class in `torch.optim` and its further arguments, where they differ from torch's defaults."""
    options = recipe.options
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    given = [f"betas={literal(betas)}"] if betas != (0.9, 0.999) else []
    given += [f"eps={options.epsilon!r}"] if options.epsilon != 1e-8 else []
    match options.solver:
        case "adam":
            return "Adam", given
        case "adamw":
            return "AdamW", given
        case "nadam":
            decay = options.momentum_decay
            return "NAdam", [*given, *([f"momentum_decay={decay!r}"] if decay != 0.004 else [])]
        case "rmsprop":
            eps = [f"eps={options.epsilon!r}"] if options.epsilon != 1e-8 else []
            return "RMSprop", [f"alpha={options.squared_gradient_decay_factor!r}", *eps]
    nesterov = ["nesterov=True"] if options.nesterov and options.momentum > 0 else []
    return "SGD", [f"momentum={options.momentum!r}", *nesterov]


def schedule_function(recipe: Recipe) -> list[str]:
    """Return the function of the learn rate's factor at each step; empty for a constant rate and for plateaus."""
    options, epoch = recipe.options, recipe.length.steps_per_epoch
    if options.schedule in ("none", "plateau") or (options.schedule == "warmup" and not options.warmup_iterations):
        return []
    warmup = options.warmup_iterations
    steps = max(1, recipe.length.total_steps - warmup)
    lines = [
        "def learn_rate_factor(step: int) -> float:",
        f'    """Return the factor of the learn rate at a step, from 0: {_said(recipe)}."""',
    ]
    if warmup:
        start = 1.0 / options.one_cycle_start_divisor if options.schedule == "one-cycle" else 1.0
        rising = f"(step + 1) / {warmup}" + (f" * {start!r}" if start != 1.0 else "")
        lines += [f"    if step < {warmup}:", f"        return {rising}"]
        lines += [f"    step -= {warmup}"] if options.schedule != "warmup" else []
    return [*lines, *(f"    {line}" for line in _factor(recipe, steps, epoch))]


def _said(recipe: Recipe) -> str:
    options = recipe.options
    said = {
        "piecewise": f"times {options.learn_rate_drop_factor:g} every {options.learn_rate_drop_period} epochs",
        "cosine": "half a cosine down" + (" per restart period" if options.restart_period else ""),
        "cyclical": "up and down along lines",
        "exponential": f"times {options.learn_rate_decay:g} per epoch",
        "polynomial": "down to 0",
        "one-cycle": "half a cosine up, and one down",
        "warmup": "1 in the end",
    }[options.schedule]
    return f"after a warm-up, {said}" if options.warmup_iterations else said


def _factor(recipe: Recipe, steps: int, epoch: int) -> list[str]:
    """Return the body after the warm-up, of `steps` steps in all and `epoch` steps per epoch."""
    options, lowest = recipe.options, recipe.options.lowest_rate_factor
    half = "(1 + math.cos(math.pi * {share})) / 2"
    between = half if lowest == 0.0 else f"{lowest!r} + {1.0 - lowest!r} * {half}"
    match options.schedule:
        case "piecewise":
            period = epoch * options.learn_rate_drop_period
            return [f"return float({options.learn_rate_drop_factor!r} ** (step // {period}))"]
        case "exponential":
            return [f"return float({options.learn_rate_decay!r} ** (step / {epoch}))"]
        case "polynomial":
            power = "" if options.polynomial_power == 1.0 else f" ** {options.polynomial_power!r}"
            return (
                [f"return (1 - min(1.0, step / {steps})){power}"]
                if not power
                else [f"return float((1 - min(1.0, step / {steps})){power})"]
            )
        case "cyclical":
            rise, period = options.cycle_rise, options.cycle_period * epoch
            return [
                f"share = step % {period} / {period}",
                f"up = share / {rise!r} if share <= {rise!r} else (1 - share) / {1 - rise!r}",
                f"return 1 + {options.cycle_top_factor - 1.0!r} * up",
            ]
        case "one-cycle":
            return _one_cycle(recipe, steps)
        case "cosine" if not options.restart_period:
            return ["return " + between.format(share=f"min(1.0, step / {steps})")]
        case "cosine" if options.restart_period_factor == 1:
            period = options.restart_period * epoch
            return ["return " + between.format(share=f"(step % {period}) / {period}")]
        case "cosine":
            return [
                f"period = {options.restart_period * epoch}",
                "while step >= period:",
                f"    step, period = step - period, period * {options.restart_period_factor}",
                "return " + between.format(share="step / period"),
            ]
    return ["return 1.0"]


def _one_cycle(recipe: Recipe, steps: int) -> list[str]:
    options = recipe.options
    start = 1.0 / options.one_cycle_start_divisor
    end, top, last = start / options.one_cycle_end_divisor, options.one_cycle_rise * steps - 1.0, max(1.0, steps - 1.0)
    down = [
        f"share = min(1.0, (step - {top!r}) / {last - top!r})",
        f"return {end!r} + {1.0 - end!r} * (1 + math.cos(math.pi * share)) / 2",
    ]
    if top <= 0:
        return down
    return [
        f"if step <= {top!r}:",
        f"    return 1 + {start - 1.0!r} * (1 + math.cos(math.pi * step / {top!r})) / 2",
        *down,
    ]


def clipping(recipe: Recipe) -> list[str]:
    """Return the lines that limit the gradients, before the optimizer's step."""
    options, limit = recipe.options, recipe.options.gradient_threshold
    if math.isinf(limit):
        return []
    match options.gradient_threshold_method:
        case "global-l2norm":
            return [f"nn.utils.clip_grad_norm_(network.parameters(), {limit!r})"]
        case "absolute-value":
            return [f"nn.utils.clip_grad_value_(network.parameters(), {limit!r})"]
    return ["for parameter in network.parameters():", f"    nn.utils.clip_grad_norm_(parameter, {limit!r})"]


def measured(recipe: Recipe, output: str, target: str) -> Sequence[str]:
    """Return the lines that add to `sums[1]` and `sums[2]` what the metric of the first output is computed of."""
    first = recipe.targets[0]
    axis = first.wanted.type.dim("C")
    if first.task == "numbers":
        error = f"({output} - {target})[~{target}.isnan()]" if first.has_gaps else f"{output} - {target}"
        return [f"errors = {error}", "sums[1] += errors.square().sum()", "sums[2] += errors.numel()"]
    if first.task == "labels":
        right = f"({output} > 0) == ({target} > 0.5)"
        gaps = f"~{target}.isnan()"
    else:
        right = f"{output}.argmax({axis}) == {target}"
        right = f"({output}.squeeze({axis}) > 0) == ({target} > 0)" if first.wanted.is_binary else right
        gaps = f"{target} != {IGNORED}"
    if not first.has_gaps:
        return [f"right = {right}", "sums[1] += right.sum()", "sums[2] += right.numel()"]
    return [
        f"right, counted = {right}, {gaps}",
        "sums[1] += (right & counted).sum()",
        "sums[2] += counted.sum()",
    ]
