"""Read facts of Python files from their syntax trees: sizes, signatures, names, and the imports between modules.

Nothing is imported. Files are named by their paths from the root of the checkout.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("engine", "app", "designer")
"""The folders with the source."""
PREFIX = "netwright."
"""What stands before the name of a room where it is imported, such as `netwright.`."""

POSIX_MODULES = frozenset({
    "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty",
})  # fmt: skip
POSIX_NAMES = frozenset({
    "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg", "getpgid", "getuid", "killpg", "mkfifo",
    "nice", "pidfd_open", "pidfd_send_signal", "sched_getaffinity", "sched_setaffinity", "setpgid", "setsid",
    "statvfs", "waitid",
})  # fmt: skip
"""Functions of `os` and `signal` that Windows does not have."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Measure:
    """A figure of a class or function, and where it begins."""

    name: str
    line: int
    value: int


@dataclass(frozen=True)
class Import:
    """A name that a module imports: of a module, or of a function or class in one."""

    name: str
    line: int
    is_in_function: bool = False
    is_for_types: bool = False

    @property
    def is_at_start(self) -> bool:
        """Whether the name is imported when the module is."""
        return not self.is_in_function and not self.is_for_types


@dataclass
class Facts:
    """What is measured in one file."""

    path: str
    num_lines: int
    functions: list[Measure] = field(default_factory=list)
    """Lines per function."""
    classes: list[Measure] = field(default_factory=list)
    """Lines per class."""
    arguments: list[Measure] = field(default_factory=list)
    """Arguments per function, without `self` and `cls`."""
    any_dict_signatures: list[Measure] = field(default_factory=list)
    """Public functions that take or return `dict[str, Any]`, and how often they name it."""
    num_any_dicts: int = 0
    imports: list[Import] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    """Variables and arguments, each as often as it is assigned or declared."""
    num_what_docstrings: int = 0
    """Docstrings of functions that begin with 'What' or 'Return what'."""
    num_popens: int = 0
    num_writers: int = 0
    """Methods `write` that return a dictionary."""
    num_readers: int = 0
    """Class methods `read`."""
    num_line_splitters: int = 0
    """Calls that cut bytes at a line end."""
    is_program: bool = False
    is_posix: bool = False

    @property
    def module(self) -> str:
        """The name that the file is imported by."""
        return PREFIX + self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def has_content(self) -> bool:
        """Whether there is more than the docstring of a package."""
        return self.num_lines > 3


def read_facts(root: Path = ROOT) -> list[Facts]:
    """Measure the files of all rooms below a folder, in the order of their paths."""
    paths = (path for room in ROOMS for path in sorted((root / room).rglob("*.py")))
    return [measure(path, root) for path in paths]


def count_lines(folder: Path) -> int:
    """Count the lines of all Python files in a folder."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


def measure(path: Path, root: Path) -> Facts:
    """Measure one file."""
    text = path.read_text(encoding="utf-8")
    facts = Facts(path.relative_to(root).as_posix(), text.count("\n"))
    facts.is_program = path.name == "__main__.py"
    _Reader(facts).visit(ast.parse(text))
    return facts


class _Reader(ast.NodeVisitor):
    """Adds what a syntax tree contains to the facts of its file."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._names: tuple[str, ...] = ()
        self._is_public = True
        self._is_in_function = False
        self._is_for_types = False

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._facts.classes.append(self._of(node, _num_lines(node)))
        self._enter(node, is_function=False)

    def visit_FunctionDef(self, node: Function) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        facts = self._facts
        facts.functions.append(self._of(node, _num_lines(node)))
        num_arguments = sum(argument.arg not in ("self", "cls") for argument in arguments)
        facts.arguments.append(self._of(node, num_arguments))
        facts.num_what_docstrings += (ast.get_docstring(node) or "").startswith(("What ", "Return what "))
        facts.num_writers += node.name == "write" and node.returns is not None and "dict" in ast.dump(node.returns)
        facts.num_readers += node.name == "read" and [argument.arg for argument in arguments][:1] == ["cls"]
        if self._is_public and not self._is_in_function and _is_public(node.name):
            annotations = [argument.annotation for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
            count = sum(_num_any_dicts(annotation) for annotation in (*annotations, node.returns) if annotation)
            if count:
                facts.any_dict_signatures.append(self._of(node, count))
        self._enter(node, is_function=True)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _of(self, node: ast.ClassDef | Function, value: int) -> Measure:
        return Measure(".".join((*self._names, node.name)), node.lineno, value)

    def _enter(self, node: ast.ClassDef | Function, *, is_function: bool) -> None:
        outside = self._names, self._is_public, self._is_in_function
        self._names = (*self._names, node.name)
        self._is_public = self._is_public and _is_public(node.name)
        self._is_in_function = self._is_in_function or is_function
        self.generic_visit(node)
        self._names, self._is_public, self._is_in_function = outside

    def visit_If(self, node: ast.If) -> None:
        match node.test:
            case ast.Compare(ast.Name("__name__")):
                self._facts.is_program = True
        outside = self._is_for_types
        name = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", "")
        self._is_for_types = outside or name == "TYPE_CHECKING"
        for statement in node.body:
            self.visit(statement)
        self._is_for_types = outside
        for child in (node.test, *node.orelse):
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add_import(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._add_import(f"{node.module}.{alias.name}", node.lineno)

    def _add_import(self, name: str, line: int) -> None:
        self._facts.imports.append(Import(name, line, self._is_in_function, self._is_for_types))
        parts = name.split(".")
        self._facts.is_posix |= parts[0] in POSIX_MODULES or (parts[0] == "os" and parts[-1] in POSIX_NAMES)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._facts.names[node.id] += 1

    def visit_arg(self, node: ast.arg) -> None:
        if node.arg not in ("self", "cls"):
            self._facts.names[node.arg] += 1
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        is_system = isinstance(node.value, ast.Name) and node.value.id in ("os", "signal")
        self._facts.is_posix |= is_system and node.attr in POSIX_NAMES
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._facts.is_posix |= isinstance(node.value, str) and node.value.startswith("/proc/")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self._facts.num_popens += name == "Popen"
        self._facts.num_line_splitters += _splits_lines(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._facts.num_any_dicts += _is_any_dict(node)
        self.generic_visit(node)


def _num_lines(node: ast.ClassDef | Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _num_any_dicts(annotation: ast.expr) -> int:
    return sum(isinstance(node, ast.Subscript) and _is_any_dict(node) for node in ast.walk(annotation))


def _is_any_dict(node: ast.Subscript) -> bool:
    match node:
        case ast.Subscript(ast.Name("dict"), ast.Tuple([ast.Name("str"), ast.Name("Any")])):
            return True
    return False


def _splits_lines(node: ast.Call) -> bool:
    match node:
        case ast.Call(ast.Attribute(attr="split" | "partition" | "rpartition"), [ast.Constant(b"\n"), *_]):
            return True
    return False


# ---- imports between modules ----

Graph = dict[str, set[str]]
"""The modules that each module imports; every module has an entry."""


def import_graph(facts: list[Facts], *, in_functions: bool = False, for_types: bool = False) -> Graph:
    """Return the imports at module level and, where asked for, those in functions and those for type checking."""
    modules = {file.module for file in facts}
    return {
        file.module: {
            imported_module(line, modules)
            for line in file.imports
            if (in_functions or not line.is_in_function) and (for_types or not line.is_for_types)
        }
        & modules - {file.module}
        for file in facts
    }


def imported_module(line: Import, modules: set[str]) -> str:
    """Return the module that an import names, whether it imports the module itself or a name in it."""
    return line.name if line.name in modules else line.name.rpartition(".")[0]


def closure(graph: Graph, start: str) -> set[str]:
    """Return the modules that a module imports, also through others."""
    reached: set[str] = set()
    queue = [start]
    while queue:
        new = graph[queue.pop()] - reached
        reached |= new
        queue += new
    return reached


def cycles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that import each other, each sorted, the largest first."""
    core = graph
    while True:  # a module that imports no other of the core, or is imported by none, is in no cycle
        imported = set().union(*core.values())
        core, before = {name: core[name] & core.keys() for name in core if name in imported and core[name]}, len(core)
        if len(core) == before:
            break
    reached = {name: closure(core, name) for name in core}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in core}
    return sorted((sorted(group) for group in groups if group), key=lambda group: (-len(group), group))


def own_imports(file: Facts, modules: set[str]) -> Iterator[tuple[Import, str]]:
    """Yield the imports of modules of ours, and those modules."""
    for line in file.imports:
        module = imported_module(line, modules)
        if module in modules and module != file.module:
            yield line, module
