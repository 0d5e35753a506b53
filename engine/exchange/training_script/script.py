"""Put a training script together: constants, functions and `main`, as plain PyTorch."""

import textwrap

from netwright.engine.exchange.training_script import loss_section, model_section
from netwright.engine.exchange.training_script.data_section import Section, names_of
from netwright.engine.exchange.training_script.model_section import text
from netwright.engine.exchange.training_script.recipe import Recipe
from netwright.engine.lowering.classes import LINE_LENGTH, call, literal

EVALUATION_BATCH = 256
DROPOUT_SEED = 1_000_003
"""Each process of a run seeds dropout with the project's seed times this, plus 1 and its rank."""
EPOCHS_LIMIT = 2**20
"""The seed of an epoch's order is the project's seed times this, plus the epoch."""


def script(recipe: Recipe, section: Section, stem: str, *, title: str) -> str:
    """Return the text of the script that trains the network in the file `stem`.py."""
    parts = [
        _heading(recipe, section, stem, title),
        list(section.lines),
        _batches(recipe),
        *loss_section.loss_functions(recipe),
        model_section.optimizer_function(recipe),
        model_section.schedule_function(recipe),
        _processes(),
        _evaluate(recipe, section),
        *([_best(recipe)] if recipe.validates else []),
        _train(recipe, section),
        _main(recipe, section, stem),
        text("""
            if __name__ == "__main__":
                main()
        """),
    ]
    return "\n\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _heading(recipe: Recipe, section: Section, stem: str, title: str) -> list[str]:
    """Return docstring, imports and constants."""
    docstring = [
        f'"""Train the network of {stem}.py on one process, or on several under torchrun.',
        "",
        f"    python train_{stem}.py",
        f"    torchrun --nproc-per-node 2 train_{stem}.py",
        "",
        *_wrapped(
            "Several processes share each batch, so that the losses are the same. With the data and the initial "
            f"weights that were exported, each step on the CPU has the loss that {title} has in Netwright, to rounding."
        ),
        "",
        *(line for note in (*((section.note,) if section.note else ()), *recipe.notes) for line in _wrapped(note)),
        '"""',
    ]
    standard = {"import argparse", "import math", "import os"}
    standard |= {line for line in section.imports if line.split()[1].partition(".")[0] in ("csv", "json")}
    froms = {"from collections.abc import Iterator", "from pathlib import Path"}
    froms |= {line for line in section.imports if "concurrent" in line}
    # DistributedDataParallel imports torch.distributed.nn, whose functions have the process group that there is then as
    # a default: it outlives `destroy_process_group`, and its threads end Python with 'terminate called'.
    third = ["import numpy as np", "import torch", "import torch.distributed as dist"]
    third += ["import torch.distributed.nn  # before the process group, which its functions would hold to the end"]
    third_froms = [line for line in section.imports if "PIL" in line]
    third_froms += ["from safetensors.torch import load_file, save_file", "from torch import nn"]
    third_froms += ["from torch.nn import functional"] if _uses(recipe, "functional.") else []
    third_froms += ["from torch.nn.parallel import DistributedDataParallel"]
    third_froms += _schedulers(recipe)
    third_froms += ["from torch.utils.data import TensorDataset"] if section.split_type == "TensorDataset" else []
    network = f"from {stem} import {'CLASSES, ' if section.needs_classes else ''}Network"
    imports = [*sorted(standard), *sorted(froms), "", *third, *third_froms, "", network]
    return [*docstring, "", *imports, "", *_constants(recipe, section, stem)]


def _wrapped(sentence: str) -> list[str]:
    printable = "".join(c if c.isprintable() and c not in '"\\' else " " for c in sentence)
    return textwrap.wrap(printable, LINE_LENGTH)


def _uses(recipe: Recipe, name: str) -> bool:
    return any(name in line for part in loss_section.loss_functions(recipe) for line in part)


def _schedulers(recipe: Recipe) -> list[str]:
    if recipe.options.schedule == "plateau":
        return ["from torch.optim.lr_scheduler import ReduceLROnPlateau"]
    return ["from torch.optim.lr_scheduler import LambdaLR"] if model_section.schedule_function(recipe) else []


def _constants(recipe: Recipe, section: Section, stem: str) -> list[str]:
    options, length = recipe.options, recipe.length
    lines = ["HERE = Path(__file__).parent"]
    default = f"Path({literal(str(section.path))})" if section.path else f"HERE / {literal(stem + section.ending)}"
    lines += [f"DATA = {default}", f"INITIAL_WEIGHTS = HERE / {literal(f'{stem}.initial.safetensors')}"]
    lines += ['RANK = int(os.environ.get("RANK", "0"))  # torchrun sets both']
    lines += ['WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))', "", *section.constants]
    lines += [f"EPOCHS = {length.epochs}", f"BATCH_SIZE = {length.batch}  # samples per step, over all processes"]
    lines += [f"LEARN_RATE = {options.initial_learn_rate!r}"]
    if options.l2_regularization:
        lines += [f"WEIGHT_DECAY = {options.l2_regularization!r}"]
    if options.shuffle != "never":
        lines += [f"ORDER_SEED = {options.seed * EPOCHS_LIMIT}"]
    lines += [f"DROPOUT_SEED = {options.seed * DROPOUT_SEED + 1}"]
    if recipe.validates:
        lines += [f"VALIDATION_STEPS = {recipe.validation_steps}  # from one validation to the next"]
        lines += [f"PATIENCE = {options.validation_patience}  # validations"] if options.validation_patience else []
    lines += loss_section.constants(recipe)
    if other := model_section.exceptions(recipe):
        lines += ["FACTORS = {  # of learn rate and weight decay, by parameter"]
        lines += [f"    {literal(name)}: {literal(own)}," for name, own in other.items()]
        lines += ["}"]
    for name, modules in (("FROZEN", recipe.frozen), ("FROZEN_NORMS", recipe.frozen_norms)):
        if modules:
            lines += call(0, f"{name} = (", [literal(module) for module in modules], ",)" if len(modules) == 1 else ")")
    return lines


def _batches(recipe: Recipe) -> list[str]:
    options, count, size = recipe.options, recipe.samples["training"], recipe.length.batch
    head = ["def batches(count: int, epoch: int) -> Iterator[torch.Tensor]:"]
    if options.shuffle == "never":
        words, order = "as they are stored", ["    order = torch.arange(count)"]
    else:
        seed = "epoch" if options.shuffle == "every-epoch" else "1"
        words = "anew every epoch" if options.shuffle == "every-epoch" else "once for all epochs"
        order = [
            f"    generator = torch.Generator().manual_seed(ORDER_SEED + {seed})",
            "    order = torch.randperm(count, generator=generator)",
        ]
        words = f"shuffled {words}"
    if options.last_batch == "discard" and count > size:
        words += ", without a last part"
        order += ["    order = order[: count - count % BATCH_SIZE]"]
    docstring = f'    """Yield the sample numbers of each batch of an epoch, from 1: {words}."""'
    return [*head, docstring, *order, "    yield from order.split(BATCH_SIZE)"]


def _processes() -> list[str]:
    return text('''
        def start_processes() -> torch.device:
            """Join the other processes, if there are any, and return the device of this one."""
            if WORLD_SIZE > 1:
                dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
            if not torch.cuda.is_available():
                return torch.device("cpu")
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            return torch.device("cuda", torch.cuda.current_device())


        def over_processes(numbers: torch.Tensor) -> torch.Tensor:
            """Return the sum over all processes."""
            if WORLD_SIZE > 1:
                dist.all_reduce(numbers)
            return numbers


        def say(line: str) -> None:
            """Print a line, from the first process alone."""
            if RANK == 0:
                print(line, flush=True)
    ''')


def _unpacking(recipe: Recipe, source: str) -> list[str]:
    """Return the lines that move a batch to the device."""
    names = names_of(recipe)
    return [f"{', '.join(names)} = (part.to(device) for part in {source})"]


def _fed(recipe: Recipe) -> str:
    return ", ".join(names_of(recipe)[: len(recipe.inputs)])


def _loss_of(recipe: Recipe, output: str) -> str:
    """Return the call of the loss of an output and the targets."""
    targets = names_of(recipe)[len(recipe.inputs) :]
    if len(targets) > 1:
        return f"loss_sum({output}, ({', '.join(targets)}))"
    return f"loss_sum({output}{'[0]' if recipe.num_outputs > 1 else ''}, {targets[0]})"


def _evaluate(recipe: Recipe, section: Section) -> list[str]:
    metric = recipe.metric
    words = {"accuracy": "mean loss and accuracy", "rmse": "mean loss and root mean squared error"}.get(
        metric, "mean loss"
    )
    first = f"output{'[0]' if recipe.num_outputs > 1 else ''}"
    target = names_of(recipe)[len(recipe.inputs)]
    lines = [
        "@torch.no_grad()",
        f"def evaluate(network: Network, data: {section.split_type}, device: torch.device) -> {_values_type(recipe)}:",
        f'    """Return {words} over a split."""',
        "    network.eval()",
        f"    sums = torch.zeros({3 if metric else 1}, dtype=torch.float64, device=device)",
        f"    for numbers in torch.arange(len(data)).tensor_split(WORLD_SIZE)[RANK].split({EVALUATION_BATCH}):",
        *(f"        {line}" for line in _unpacking(recipe, "data[numbers]")),
        f"        output = network({_fed(recipe)})",
        f"        sums[0] += {_loss_of(recipe, 'output')}",
    ]
    if metric:
        lines += [f"        {line}" for line in model_section.measured(recipe, first, target)]
    lines += ["    network.train()"]
    lines += ["    freeze(network)"] if recipe.frozen_norms else []
    if not metric:
        return [*lines, "    return float(over_processes(sums)) / len(data)"]
    value = "correct / count" if metric == "accuracy" else "(squares / count) ** 0.5"
    name = value.split(" ")[0].strip("(")
    return [
        *lines,
        f"    loss, {name}, count = over_processes(sums).tolist()",
        f"    return loss / len(data), {value}",
    ]


def _values_type(recipe: Recipe) -> str:
    return "tuple[float, float]" if recipe.metric else "float"


def _objective(recipe: Recipe) -> str:
    """Return the name of what validations compare."""
    return "loss" if recipe.options.objective_metric == "loss" else recipe.metric


def _best(recipe: Recipe) -> list[str]:
    """Return the class that remembers the best validation."""
    objective, maximizes = _objective(recipe), recipe.maximizes
    keeps, counts = recipe.keeps_best, bool(recipe.options.validation_patience)
    lines = [
        "class Best:",
        f'    """The best validation so far: the {"highest" if maximizes else "lowest"} {objective}."""',
        "",
        "    def __init__(self) -> None:",
        f"        self.value = {'-' if maximizes else ''}math.inf",
        *(["        self.weights: dict[str, torch.Tensor] = {}"] if keeps else []),
        *(["        self.worse_in_a_row = 0"] if counts else []),
        "",
        "    def compare(self, value: float, network: Network) -> None:",
        '        """Remember a validation if it is better."""',
        *(["        self.worse_in_a_row += 1"] if counts else []),
        f"        if value {'>' if maximizes else '<'} self.value:",
        "            self.value = value",
        *(["            self.worse_in_a_row = 0"] if counts else []),
    ]
    if keeps:
        lines += [
            "            self.weights = {name: value.cpu().clone() for name, value in network.state_dict().items()}"
        ]
    return lines


def _train(recipe: Recipe, section: Section) -> list[str]:
    """Return the training loop, and the function of a validation."""
    options = recipe.options
    schedule = model_section.schedule_function(recipe)
    splits = f"dict[str, {section.split_type}]"
    lines = [
        f"def train(network: Network, data: {splits}, device: torch.device, losses: Path) -> None:",
        *_train_docstring(recipe),
        f"    model = DistributedDataParallel(network{_unused(recipe)}) if WORLD_SIZE > 1 else network",
        "    optimizer = make_optimizer(network)",
        *(["    scheduler = LambdaLR(optimizer, learn_rate_factor)"] if schedule else []),
        *_plateau(recipe),
        *(["    best = Best()"] if recipe.validates else []),
        "    step = 0",
    ]
    if recipe.validates:
        lines += ["", *_validation(recipe), "", "    validate()"]
    mine = [
        "            mine = batch.tensor_split(WORLD_SIZE)[RANK]",
        *(f"            {line}" for line in _unpacking(recipe, 'data["training"][mine]')),
        f"            loss = {_loss_of(recipe, f'model({_fed(recipe)})')} / len(batch)",
        "            optimizer.zero_grad()",
        "            (loss * WORLD_SIZE).backward()  # DistributedDataParallel takes the mean over the processes",
        *(f"            {line}" for line in model_section.clipping(recipe)),
        "            optimizer.step()",
        "            step += 1",
        "            value = float(over_processes(loss.detach().clone()))",
        "            if not math.isfinite(value):",
        '                raise SystemExit(f"The loss is {value} at step {step}.")',
        '            print(step, epoch, optimizer.param_groups[0]["lr"], f"{value:.9g}", sep=",", file=log)',
        *(["            scheduler.step()"] if schedule else []),
    ]
    lines += [
        '    with (losses if RANK == 0 else Path(os.devnull)).open("w", encoding="utf-8") as log:',
        '        print("step", "epoch", "learn rate", "loss", sep=",", file=log)',
        "        for epoch in range(1, EPOCHS + 1):",
        '            for batch in batches(len(data["training"]), epoch):',
        *(f"    {line}" for line in mine),
    ]
    if recipe.validates:
        lines += ["                if step % VALIDATION_STEPS == 0:", "                    validate()"]
        if options.validation_patience:
            lines += [
                "                    if best.worse_in_a_row >= PATIENCE:",
                "                        break",
                "            if best.worse_in_a_row >= PATIENCE:",
                "                break",
            ]
        lines += ["    if step % VALIDATION_STEPS:", "        validate()"]
    if recipe.keeps_best:
        lines += ["    network.load_state_dict(best.weights)"]
    return lines


def _train_docstring(recipe: Recipe) -> list[str]:
    weights = f" with its best weights by validation {_objective(recipe)}" if recipe.keeps_best else ""
    return [
        f'    """Train the network, and leave it{weights or " as it is after the last step"}.',
        "",
        "    The loss of each step, over the whole batch, is written to the file `losses`.",
        '    """',
    ]


def _unused(recipe: Recipe) -> str:
    return ", find_unused_parameters=True" if recipe.num_outputs > len(recipe.targets) else ""


def _plateau(recipe: Recipe) -> list[str]:
    options = recipe.options
    if options.schedule != "plateau":
        return []
    arguments = [
        "optimizer",
        *(['mode="max"'] if recipe.maximizes else []),
        f"factor={options.learn_rate_drop_factor!r}",
        f"patience={options.plateau_patience}",
        f"threshold={options.plateau_threshold!r}",
        *([f"min_lr=LEARN_RATE * {options.lowest_rate_factor!r}"] if options.lowest_rate_factor else []),
        "eps=0.0",
    ]
    return call(4, "plateau = ReduceLROnPlateau(", arguments, ")")


def _validation(recipe: Recipe) -> list[str]:
    """Return the function of one validation, which lies in `train`."""
    objective, metric = _objective(recipe), recipe.metric
    names = f"loss, {metric}" if metric else "loss"
    compared = "loss" if objective == "loss" else metric
    text = f"step {{step}}: validation loss {{loss:.6g}}{f', {metric} {{{metric}:.6g}}' if metric else ''}"
    lines = [
        "def validate() -> None:",
        f'    {names} = evaluate(network, data["validation"], device)',
        f'    say(f"{text}")',
        f"    best.compare({compared}, network)",
        *([f"    plateau.step({compared})"] if recipe.options.schedule == "plateau" else []),
    ]
    return [f"    {line}" for line in lines]


def _main(recipe: Recipe, section: Section, stem: str) -> list[str]:
    lines = ["def main() -> None:", '    """Train the network, test it and save its weights."""']
    body = [
        f'parser = argparse.ArgumentParser(description="Train the network of {stem}.py.")',
        'parser.add_argument("--data", type=Path, default=DATA)',
        'parser.add_argument("--initial-weights", type=Path, default=INITIAL_WEIGHTS)',
        f'parser.add_argument("--losses", type=Path, default=HERE / {literal(f"{stem}.losses.csv")})',
        f'parser.add_argument("--output", type=Path, default=HERE / {literal(f"{stem}.trained.safetensors")})',
        "arguments = parser.parse_args()",
        "",
        "device = start_processes()",
        *(["torch.use_deterministic_algorithms(True)"] if recipe.options.deterministic else []),
        "data = read_data(arguments.data)",
        "network = Network().to(device)",
        "network.load_state_dict(load_file(arguments.initial_weights))",
        *_left_to_the_loss(recipe),
        *(["freeze(network)"] if recipe.frozen or recipe.frozen_norms else []),
        *_synchronized(recipe),
        "torch.manual_seed(DROPOUT_SEED + RANK)",
        "train(network, data, device, arguments.losses)",
        *_tested(recipe),
        "if RANK == 0:",
        "    save_file(network.state_dict(), arguments.output)",
        "if WORLD_SIZE > 1:",
        "    dist.destroy_process_group()",
    ]
    lines += [f"    {line}" if line else "" for line in body]
    return [*_freeze(recipe), *lines]


def _freeze(recipe: Recipe) -> list[str]:
    if not recipe.frozen and not recipe.frozen_norms:
        return []
    lines = ["def freeze(network: Network) -> None:", '    """Keep the weights and statistics of the frozen layers."""']
    if recipe.frozen:
        lines += ["    for name in FROZEN:", "        network.get_submodule(name).requires_grad_(False)"]
    if recipe.frozen_norms:
        lines += ["    for name in FROZEN_NORMS:", "        network.get_submodule(name).eval()"]
    return [*lines, "", ""]


def _left_to_the_loss(recipe: Recipe) -> list[str]:
    """Return the lines that replace the softmax or sigmoid at an output, which the loss includes."""
    lines = []
    for path in recipe.folded:
        owner, _, name = path.rpartition(".")
        where = f"network.get_submodule({literal(owner)})" if owner else "network"
        lines.append(f"{where}.register_module({literal(name)}, nn.Identity())  # the loss includes it")
    return lines


def _synchronized(recipe: Recipe) -> list[str]:
    if not recipe.has_batch_norm:
        return []
    return [
        "if WORLD_SIZE > 1:",
        '    if device.type == "cpu":',
        '        raise SystemExit("torch synchronises batch normalisation on GPUs alone: train on one process.")',
        "    network = nn.SyncBatchNorm.convert_sync_batchnorm(network)",
    ]


def _tested(recipe: Recipe) -> list[str]:
    if not recipe.samples.get("test"):
        return []
    metric = recipe.metric
    names = f"loss, {metric}" if metric else "loss"
    text = f"test loss {{loss:.6g}}{f', {metric} {{{metric}:.6g}}' if metric else ''}"
    return [f'{names} = evaluate(network, data["test"], device)', f'say(f"{text}")']
