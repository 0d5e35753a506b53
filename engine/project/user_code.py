"""A project's own Python: its functions and layers, their files, signature checks, trust and measured sizes."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from netwright.engine.core.errors import ShapeError, UserError, did_you_mean, plural
from netwright.engine.layers.custom_layers import UserCode
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network, Port
from netwright.engine.network.problems import Fix, Problem, Severity
from netwright.engine.project.data import DataOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.user_code import registry, trust
from netwright.engine.user_code.expression import code_target
from netwright.engine.user_code.registry import CodeFile, Question
from netwright.engine.user_code.signature import Named, split_reference

HOOKS = ("on_start", "on_step", "on_validation", "on_epoch_end", "on_checkpoint", "on_end")
"""The events of a training, and the functions of a hooks file that are called at them."""
STATE = ("state_dict", "load_state_dict")
"""The functions of a hooks file that return and restore its state."""
LONGEST = 20
_GIVEN: dict[str, tuple[str, ...]] = {"state_dict": (), "load_state_dict": ("state",)}
"""Arguments of functions of a hooks file that are called with something other than `run`."""
Look = Callable[[str], CodeFile | None]


@dataclass(frozen=True)
class Role:
    """Purpose of a user's function: its usual name, and its arguments."""

    usual: str
    arguments: tuple[str, ...]


ROLES: dict[str, Role] = {
    "loss_function": Role("loss", ("outputs", "targets")),
    "metric_function": Role("metric", ("outputs", "targets")),
    "step_function": Role("training_step", ("network", "inputs", "targets", "loss")),
}
"""The functions that a training option names, by the option."""
EXPERIMENT_ROLES: dict[str, Role] = {
    "strategy_function": Role("next_values", ("trials",)),
    "initialization_function": Role("initialize", ("values",)),
}
"""The same for the options of an experiment."""
FIELDS = ("hooks_file", *ROLES)
"""The options that name files of code."""


def reference(options: TrainingOptions, name: str) -> tuple[str, str] | None:
    """Return the file and function that an option names, or None where it names none or has no effect."""
    text = str(getattr(options, name))
    return split_reference(text, ROLES[name].usual) if text and options.is_visible(name) else None


def target(options: TrainingOptions, name: str) -> str:
    """Return the function that an option names, as `netwright.engine.lowering.run_user_code.find` accepts it, or an
    empty text."""
    function = reference(options, name)
    return code_target(*function) if function else ""


def files(options: TrainingOptions) -> tuple[str, ...]:
    """Return the files of code that a training runs, by their paths in the project."""
    references = [reference(options, name) for name in ROLES]
    paths = [file for file, _ in filter(None, references)]
    return tuple(dict.fromkeys([*([options.hooks_file] if options.hooks_file else []), *paths]))


def experiment_reference(options: ExperimentOptions, name: str) -> tuple[str, str]:
    """Return the file and function that an option of an experiment names."""
    return split_reference(str(getattr(options, name)), EXPERIMENT_ROLES[name].usual)


def experiment_files(of: Network | Project) -> tuple[str, ...]:
    """Return the files of code that an experiment runs beside those of its trials; none for a network alone."""
    if isinstance(of, Network):
        return ()
    options = of.experiment
    names = (name for name in EXPERIMENT_ROLES if getattr(options, name) and options.is_visible(name))
    return tuple(dict.fromkeys(experiment_reference(options, name)[0] for name in names))


def experiment_problems(project: Project, look: Look) -> Iterator[tuple[str, str]]:
    """Yield option and message of the errors of an experiment's functions, without running them."""
    options = project.experiment
    for name, role in EXPERIMENT_ROLES.items():
        if getattr(options, name) and options.is_visible(name):
            file, function = experiment_reference(options, name)
            code = look(file)
            if code and (message := _signature_error(code, file, function, role.arguments)):
                yield name, message


def moved_options(options: TrainingOptions, move: Callable[[str], str]) -> TrainingOptions:
    """Return the options with another path for each file of code."""
    changed = {}
    if options.hooks_file:
        changed["hooks_file"] = move(options.hooks_file)
    for name in ROLES:
        text = str(getattr(options, name))
        if text:
            file, _ = split_reference(text, "")
            changed[name] = move(file) + text[len(file) :]
    return options.replace(**changed) if changed else options


def problems(options: TrainingOptions, look: Look = registry.file) -> Iterator[Problem]:
    """Return the errors of the files that have been read, without running them."""
    for name, role in ROLES.items():
        function = reference(options, name)
        code = look(function[0]) if function else None
        if function and code and (message := _signature_error(code, *function, role.arguments)):
            yield Problem("error", "", "", f"training.{name}", message)
    code = look(options.hooks_file) if options.hooks_file else None
    if code is not None:
        for severity, message in _hook_problems(code, options.hooks_file):
            yield Problem(severity, "", "", "training.hooks_file", message)


def look_in(base: Path) -> Look:
    """Return a function that reads files in a folder without caching them."""
    return lambda name: registry.peek(name, base)


def _where(name: str, file: str, function: Named) -> str:
    """Return the function with its line, and with as much of the file's name as fits into one line of a form."""
    short = PurePath(file).name
    return f"The function {name} ({short if len(short) <= LONGEST else '…' + short[-LONGEST:]}, line {function.line})"


def _error(code: CodeFile, file: str) -> str:
    """Return the error of reading the file; not beginning with a name, whose first letter a form would capitalise."""
    return f"The file {code.error}" if code.error.startswith(file) else code.error


def _signature_error(code: CodeFile, file: str, name: str, arguments: tuple[str, ...]) -> str:
    if code.error:
        return _error(code, file)
    function = code.functions.get(name)
    if function is None:
        hint = did_you_mean(name, code.functions)
        return (
            f"The file {file} has no function '{name}'.{hint} Define {name}({', '.join(arguments)}), or name another."
        )
    return _wrong_arguments(function, _where(name, file, function), arguments)


def _wrong_arguments(function: Named, label: str, arguments: tuple[str, ...]) -> str:
    call = f"it is called with {len(arguments)}: {', '.join(arguments)}" if arguments else "it is called with none"
    if function.must_be_named:
        return f"{label} needs '{function.must_be_named}'; {call}. Give it a default."
    if function.least <= len(arguments) <= function.most:
        return ""
    count = function.most if len(arguments) > function.most else function.least
    return f"{label} takes {plural(count, 'argument')}; {call}."


def _hook_problems(code: CodeFile, file: str) -> Iterator[tuple[Severity, str]]:
    if code.error:
        yield "error", _error(code, file)
        return
    hooks = {name: function for name, function in code.functions.items() if name in HOOKS}
    if not hooks:
        near = next((hint for name in code.functions if (hint := did_you_mean(name, HOOKS))), "")
        yield (
            "error",
            f"The file {file} has none of the functions {', '.join(HOOKS)}.{near}",
        )
        return
    if present := [name for name in STATE if name in code.functions]:
        if len(present) == 1:
            yield "error", f"The file {file} has {present[0]} and needs {' and '.join({*STATE} - {*present})} too."
        hooks |= {name: code.functions[name] for name in present}
    for name, function in hooks.items():
        if message := _wrong_arguments(function, _where(name, file, function), _GIVEN.get(name, ("run",))):
            yield "error", message
    for name, function in code.functions.items():
        if name.startswith("on_") and name not in HOOKS and function.least <= 1 <= function.most:
            hint = did_you_mean(name, HOOKS)
            warning = f"{_where(name, file, function)} is never called: there is no such moment."
            yield "warning", f"{warning}{hint}"


def code_layers(network: Network) -> Iterator[UserCode]:
    """Return the types of all layers of user code, including those in blocks."""
    for layer in network.layers.values():
        if isinstance(layer.type, UserCode):
            yield layer.type
        elif isinstance(layer.type, Block):
            yield from code_layers(layer.type.network)


def has_code(of: Network | Project) -> bool:
    """Return whether the network, or the training of a project, contains user code."""
    return any(True for _ in code_layers(_network(of))) or bool(_training_files(of))


def code_files(of: Network | Project) -> tuple[str, ...]:
    """Return the files of the user code, by their paths in the project."""
    layers = (type.code_file for type in code_layers(_network(of)) if type.code_file)
    return tuple(dict.fromkeys([*layers, *_training_files(of)]))


def _network(of: Network | Project) -> Network:
    return of if isinstance(of, Network) else of.network


def _training_files(of: Network | Project) -> tuple[str, ...]:
    """Return the files that a training runs besides those of layers, and that of its data; none for a network alone."""
    if isinstance(of, Network):
        return ()
    data = (of.data.path,) if of.data.source == "python" and of.data.path else ()
    return (*files(of.training), *data)


def with_type(network: Network, id: str, type: UserCode) -> Network:
    """Return the network with other code in one layer. Connections to ports that no longer exist are removed."""
    changed = replace(network.layers[id], type=type)
    ports = {Port(id, name) for name in (*type.input_ports(), *type.output_ports())}
    before = network.layers[id].type
    if (before.input_ports(), before.output_ports()) == (type.input_ports(), type.output_ports()):
        return network.with_layer(changed)
    connections = (
        c
        for c in network.connections
        if (c.source.layer != id or c.source in ports) and (c.target.layer != id or c.target in ports)
    )
    return Network({**network.layers, id: changed}, tuple(connections))


def moved_project(project: Project, before: Path, after: Path) -> Project:
    """Return a project moved from one folder to another, with relative paths of code, weights and constants adapted."""
    training = moved_options(project.training, lambda file: _moved_file(file, before, after))
    constants = project.constants
    if constants.file:
        constants = constants.replace(file=_moved_file(constants.file, before, after))
    weights = project.weights
    if weights.file:
        weights = weights.replace(file=_moved_file(weights.file, before, after))
    network = moved(project.network, before, after)
    return replace(project, network=network, training=training, constants=constants, weights=weights)


def moved(network: Network, before: Path, after: Path) -> Network:
    """Return the network for a project that is moved from one folder to another."""
    changed = {}
    for id, layer in network.layers.items():
        type = layer.type
        if isinstance(type, Block):
            inner = moved(type.network, before, after)
            if inner is not type.network:
                changed[id] = replace(layer, type=type.with_network(inner))
        elif isinstance(type, UserCode) and type.file:
            file = _moved_file(type.file, before, after)
            if file != type.file:
                changed[id] = replace(layer, type=type.replace(file=file))
    return Network({**network.layers, **changed}, network.connections) if changed else network


def _moved_file(file: str, before: Path, after: Path) -> str:
    is_given = not Path(file).is_absolute()
    return file if is_given and before == after else _relative(before / file, after, is_given=is_given)


def _relative(path: Path, folder: Path, *, is_given: bool) -> str:
    """Return the path as a project in a folder names it: relative to the folder for files in it and for paths that
    were relative before."""
    if not is_given and not path.is_relative_to(folder):
        return str(path)
    return Path(os.path.relpath(path, folder)).as_posix()


def with_code_fix(network: Network, problem: Problem) -> Problem:
    """Return the problem with the edit that solves it, where the file of a layer differs from the layer."""
    layer = network.layers.get(problem.layer)
    if layer is None or not isinstance(layer.type, UserCode) or problem.severity != "error" or not layer.type.file:
        return problem
    code = registry.file(layer.type.file)
    if code is None or code.error:
        return problem
    type = layer.type
    fitting = [signature for signature in code.signatures if signature.kind == type.code_kind and not signature.refusal]
    namesakes = [signature for signature in fitting if signature.name == type.code_name]
    matches = namesakes or (fitting if len(fitting) == 1 else [])
    if not matches:
        return problem
    other = type.with_signature(matches[0])
    if other == type:
        return problem
    label = f"Read the fields of {matches[0].name} again" if namesakes else f"Use {matches[0].name}"

    def edit(project: Project) -> Project:
        return replace(project, network=with_type(project.network, problem.layer, other))

    return replace(problem, fix=Fix(label, edit))


def look(of: Network | Project, base: Path, frozen: Mapping[str, Path] | None = None) -> bool:
    """Read the text of the files of code. Returns whether any of them changed."""
    return registry.look((*code_files(of), *experiment_files(of)), base, frozen)


def untrusted(of: Network | Project) -> tuple[str, ...]:
    """Return the names of the files and expressions that are not trusted."""
    layers = (type for type in code_layers(_network(of)) if type.code_name and not registry.may_run(type.code_file))
    files = (file for file in _training_files(of) if not registry.may_run(file))
    return tuple(dict.fromkeys([*(type.code_file or type.code_name for type in layers), *files]))


def is_data_untrusted(options: DataOptions) -> bool:
    """Whether the data come from code that is not trusted."""
    code = registry.file(options.path) if options.source == "python" else None
    return code is not None and not code.error and not code.is_trusted


def folders(of: Network | Project) -> tuple[Path, ...]:
    """Return the folders that must be trusted to run all of it: the project's, and those of files elsewhere."""
    base = registry.base()
    files = (*code_files(of), *experiment_files(of))
    paths = {} if not (has_code(of) or files) else {Path(base).resolve(): None}
    for name in files:
        code = registry.file(name)
        if code is not None and not any(folder in code.path.parents for folder in paths):
            paths[code.path.parent] = None
    return tuple(paths)


def grant(of: Network | Project) -> None:
    """Trust all of it in this process and those it starts: the meaning of `--trust`."""
    for folder in folders(of):
        trust.grant(folder)


def refuse_untrusted(of: Network | Project, *, in_experiment: bool = False) -> None:
    """Raise `UserError` for untrusted code, with an explanation and the remedy; `in_experiment` also for the functions
    of an experiment."""
    more = experiment_files(of) if in_experiment else ()
    names = (*untrusted(of), *(file for file in more if not registry.may_run(file)))
    known_files = (registry.file(name) for name in names)
    if unread := [code.error for code in known_files if code is not None and code.error]:
        raise UserError.of_lines(unread)  # there is nothing yet that could be trusted
    if names:
        raise UserError(trust.refusal(list(names), registry.base()))


def open_questions(network: Network, analysis: Analysis) -> list[Question]:
    """Return the permitted measurements that would determine more sizes."""
    questions: list[Question] = []
    for id, layer in network.layers.items():
        if isinstance(layer.type, Block) and id in analysis.inside:
            for copy in analysis.inside[id].copies:
                questions += open_questions(layer.type.network, copy)
        if not isinstance(layer.type, UserCode) or layer.bypassed or not registry.may_run(layer.type.code_file):
            continue
        sources = network.incoming[id]
        types = [analysis.type_at(sources[port]) if port in sources else None for port in layer.type.input_ports()]
        inputs = tuple(type for type in types if type is not None)
        if len(inputs) < len(types):
            continue
        try:
            question = layer.type.question(inputs)
        except ShapeError:
            continue  # it is a problem already, without running anything
        if registry.answer(question) is None:
            questions.append(question)
    return list(dict.fromkeys(questions))


def measure(network: Network) -> list[Question]:
    """Measure all trusted code, layer by layer, until no more sizes can be determined. Returns the measurements."""
    measurements: list[Question] = []
    if has_code(network):
        from netwright.engine.user_code.measurement import Session

        with Session() as session:
            while questions := open_questions(network, analyse(network)):
                session.ask(questions)
                measurements += questions
    return measurements


def contents(of: Network | Project) -> dict[str, bytes]:
    """Return the bytes of each file of code as they were read. Raises `UserError` where a file has changed."""
    data = {}
    for name in code_files(of):
        code = registry.file(name)
        if code is None or code.error:
            raise UserError(code.error if code is not None else f"Nothing is known about the file {name}.")
        data[name] = registry.read_code(code.path, name)
        if registry.hash_of_bytes(data[name]) != code.sha256:
            raise UserError(f"{name} was changed just now.", hint="Try again.")
    return data


def ready(of: Network | Project, base: Path, frozen: Mapping[str, Path] | None = None) -> None:
    """Determine the sizes of the user code, before a training (of a project) or an export (of a network). Raises
    `UserError` where it is not trusted."""
    look(of, base, frozen)
    if has_code(of):
        refuse_untrusted(of)
        measure(_network(of))
