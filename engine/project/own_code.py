"""Which functions of the user's take part in a training, and what the text of their files says is wrong with them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from engine.custom import known
from engine.custom.functions import Named, split_reference
from engine.custom.known import CodeFile
from engine.custom.targets import code_target
from engine.errors import did_you_mean, plural
from engine.network.problems import Problem, Severity
from engine.project.training import TrainingOptions

HOOKS = ("on_start", "on_step", "on_validation", "on_epoch_end", "on_checkpoint", "on_end")
"""The moments of a training, and the functions of a file of hooks that are called at them."""
STATE = ("state_dict", "load_state_dict")
"""The functions of a file of hooks that tell what it keeps, and take it back."""
LONGEST = 20
Look = Callable[[str], CodeFile | None]


@dataclass(frozen=True)
class Role:
    """What a function of the user's is for: its usual name, and what it is called with."""

    usual: str
    arguments: tuple[str, ...]


ROLES: dict[str, Role] = {
    "loss_function": Role("loss", ("outputs", "targets")),
    "metric_function": Role("metric", ("outputs", "targets")),
    "step_function": Role("training_step", ("network", "inputs", "targets", "loss")),
}
"""The functions that a training option names, by the option."""
FIELDS = ("hooks_file", *ROLES)
"""The options that name files of code."""


def reference(options: TrainingOptions, name: str) -> tuple[str, str] | None:
    """File and function that an option names, or None where it names none or plays no part."""
    text = str(getattr(options, name))
    return split_reference(text, ROLES[name].usual) if text and options.is_visible(name) else None


def target(options: TrainingOptions, name: str) -> str:
    """The function that an option names, as `engine.build.user_code.find` takes it, or nothing."""
    found = reference(options, name)
    return code_target(*found) if found else ""


def files(options: TrainingOptions) -> tuple[str, ...]:
    """The files of code that a training runs, by their paths in the project."""
    found = [reference(options, name) for name in ROLES]
    named = [file for file, _ in filter(None, found)]
    return tuple(dict.fromkeys([*([options.hooks_file] if options.hooks_file else []), *named]))


def moved(options: TrainingOptions, move: Callable[[str], str]) -> TrainingOptions:
    """The options with another path for each file of code."""
    changed = {}
    if options.hooks_file:
        changed["hooks_file"] = move(options.hooks_file)
    for name in ROLES:
        text = str(getattr(options, name))
        if text:
            file, _ = split_reference(text, "")
            changed[name] = move(file) + text[len(file) :]
    return options.replace(**changed) if changed else options


def problems(options: TrainingOptions, look: Look = known.file) -> Iterator[Problem]:
    """What is wrong with the files, as far as they were looked at: nothing of them runs."""
    for name, role in ROLES.items():
        found = reference(options, name)
        code = look(found[0]) if found else None
        if found and code and (message := _misfit(code, *found, role.arguments)):
            yield Problem("error", "", "", f"training.{name}", message)
    code = look(options.hooks_file) if options.hooks_file else None
    if code is not None:
        for severity, message in _hook_problems(code, options.hooks_file):
            yield Problem(severity, "", "", "training.hooks_file", message)


def look_in(base: Path) -> Look:
    """Looks at files that lie in a folder, without remembering them."""
    return lambda name: known.peek(name, base)


def _where(name: str, file: str, given: Named) -> str:
    """The function with its line, and with so much of the file's name as stands in one line of a form."""
    short = PurePath(file).name
    return f"The function {name} ({short if len(short) <= LONGEST else '…' + short[-LONGEST:]}, line {given.line})"


def _error(code: CodeFile, file: str) -> str:
    """What keeps the file from being read; not with a name at its beginning, which a form would spell large."""
    return f"The file {code.error}" if code.error.startswith(file) else code.error


def _misfit(code: CodeFile, file: str, name: str, arguments: tuple[str, ...]) -> str:
    if code.error:
        return _error(code, file)
    given = code.functions.get(name)
    if given is None:
        hint = did_you_mean(name, code.functions)
        return (
            f"The file {file} has no function '{name}'.{hint} Define {name}({', '.join(arguments)}), or name another."
        )
    return _wrong_arguments(given, _where(name, file, given), arguments)


def _wrong_arguments(given: Named, what: str, arguments: tuple[str, ...]) -> str:
    called = f"it is called with {len(arguments)}: {', '.join(arguments)}" if arguments else "it is called with none"
    if given.must_be_named:
        return f"{what} needs '{given.must_be_named}'; {called}. Give it a default."
    if given.least <= len(arguments) <= given.most:
        return ""
    count = given.most if len(arguments) > given.most else given.least
    return f"{what} takes {plural(count, 'argument')}; {called}."


_GIVEN: dict[str, tuple[str, ...]] = {"state_dict": (), "load_state_dict": ("state",)}
"""What else than `run` functions of a file of hooks are called with."""


def _hook_problems(code: CodeFile, file: str) -> Iterator[tuple[Severity, str]]:
    if code.error:
        yield "error", _error(code, file)
        return
    hooks = {name: given for name, given in code.functions.items() if name in HOOKS}
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
    for name, given in hooks.items():
        if message := _wrong_arguments(given, _where(name, file, given), _GIVEN.get(name, ("run",))):
            yield "error", message
    for name, given in code.functions.items():
        if name.startswith("on_") and name not in HOOKS and given.least <= 1 <= given.most:
            hint = did_you_mean(name, HOOKS)
            what = f"{_where(name, file, given)} is never called: there is no such moment."
            yield "warning", f"{what}{hint}"
