"""The functions of a training script that are about the network: solver, learn rate, clipping, metric."""

import math
import textwrap
from collections.abc import Sequence

from netwright.engine.exchange.training_script.recipe import Recipe
from netwright.engine.lowering.classes import call, literal
from netwright.engine.project.dataset_info import IGNORED


def text(code: str) -> list[str]:
    """Return the lines of a literal piece of code."""
    return textwrap.dedent(code).strip("\n").split("\n")


def optimizer_function(recipe: Recipe) -> list[str]:
    """Return the function that makes the optimizer, with weight decay and learn rate per parameter."""
    options = recipe.options
    lines = ["def make_optimizer(network: nn.Module) -> torch.optim.Optimizer:"]
    factors = set(recipe.factors.values())
    name, arguments = _optimizer(recipe)
    if len(factors) == 1 or (not options.l2_regularization and len({rate for rate, _ in factors}) == 1):
        ((rate, l2), *_) = factors
        decay = options.l2_regularization * l2
        parts = ["network.parameters()", f"lr={'LEARN_RATE' if rate == 1.0 else f'LEARN_RATE * {rate!r}'}", *arguments]
        # AdamW has a decay of its own by default.
        parts += ["weight_decay=WEIGHT_DECAY" if decay else "weight_decay=0.0"] if decay or name == "AdamW" else []
        return [
            *lines,
            '    """Return the optimizer of all parameters."""',
            *call(4, f"return torch.optim.{name}(", parts, ")"),
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
    others = {name: own for name, own in recipe.factors.items() if own != (1.0, float(recipe.axes[name] > 1))}
    if len(set(recipe.factors.values())) == 1:
        return {}
    rates = {rate for rate, _ in recipe.factors.values()}
    return {} if not recipe.options.l2_regularization and len(rates) == 1 else others


def _optimizer(recipe: Recipe) -> tuple[str, list[str]]:
    """Return the class in `torch.optim` and its further arguments, where they differ from torch's defaults."""
    options = recipe.options
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    settings = [f"betas={literal(betas)}"] if betas != (0.9, 0.999) else []
    settings += [f"eps={options.epsilon!r}"] if options.epsilon != 1e-8 else []
    match options.solver:
        case "adam":
            return "Adam", settings
        case "adamw":
            return "AdamW", settings
        case "nadam":
            decay = options.momentum_decay
            return "NAdam", [*settings, *([f"momentum_decay={decay!r}"] if decay != 0.004 else [])]
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
    words = {
        "piecewise": f"times {options.learn_rate_drop_factor:g} every {options.learn_rate_drop_period} epochs",
        "cosine": "half a cosine down" + (" per restart period" if options.restart_period else ""),
        "cyclical": "up and down along lines",
        "exponential": f"times {options.learn_rate_decay:g} per epoch",
        "polynomial": "down to 0",
        "one-cycle": "half a cosine up, and one down",
        "warmup": "1 in the end",
    }[options.schedule]
    return f"after a warm-up, {words}" if options.warmup_iterations else words


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
