"""Extract the sentences that the engine writes, as templates: `{path} has one class only, '{name}'.`

The engine knows English alone, and writes errors, problems, findings and reasons where they arise. Their texts are read
from the syntax of its modules: literals, f-strings and their sums, where an expression in braces becomes a placeholder
named after it. A conditional text gives a template for each case; `plural(n, "layer")` is `{n} layer(s)`. A text in a
variable, a constant or what a function of the module returns is a template of its own, which fills a placeholder.
Texts are cut into sentences, of which `designer/engine_messages.py` puts a message together again.
"""

import ast
import builtins
import re
from collections.abc import Container, Iterator, Mapping
from itertools import product

from netwright.engine.core.files import ROOT

ENGINE = ROOT / "engine"
NOT_IN_THE_WINDOW = frozenset({"assistants", "drawing", "scripting"})
"""Rooms whose texts are for programs."""
CALLS = frozenset(
    [
        "Check",
        "Excerpt",
        "Guess",
        "Problem",
        "Finding",
        "CurveFinding",
        "Cure",
        "Fix",
        "Message",
        "AttemptOutcome",
        "reworded",
        "of_lines",
        "notice",
        "stop",
        "stopped",
        "refuse",
        "refused",
        "_damaged",
        "_problem",
        "_refuse",
    ]
)
"""Calls beside those that make an error whose texts are shown."""
FUNCTIONS = frozenset(
    [
        "achieved_text",
        "advice",
        "all_reduce",
        "batch_text",
        "disturbance",
        "hardware_text",
        "held_back_by",
        "places_text",
        "preparation",
        "reach",
        "sentence",
        "sentences",
        "speed",
        "storage",
        "task",
        "workers",
        "_batch",
        "_because",
        "_chosen_because",
        "_columns",
        "_computing",
        "_conclusion",
        "_epoch",
        "_preparation",
        "_rate",
        "_takes",
        "_way_out",
    ]
)
"""Functions whose results are shown, beside those whose name says so."""
UNIT_CALLS = frozenset(["report", "in_words", "plural"])
KEYWORDS = frozenset(
    [
        "hint",
        "reason",
        "refusal",
        "note",
        "text",
        "title",
        "outcome",
        "evidence",
        "detail",
        "message",
        "cause",
        "why",
        "purpose",
    ]
)
"""Arguments whose texts are shown, of whatever call."""
NOT_TEXT = frozenset(["code", "kind", "field", "path", "severity", "name", "port", "what"])
"""Arguments that are words for programs."""
NAMES = re.compile(
    r"(?:^|_)(?:reason|refusal|why|note|hint|message|cause|way_out|problem|warning|finding|expect|expected|all_done|reached|sentence|instead|passed|detail)s?(?:_|$)",
    re.I,
)
"""Names of variables and functions whose texts are shown."""
JOINED = (
    *("It is kept.", "They are kept.", "It is kept{why}", "They are kept{why}", "row {number}", "like {name}"),
    *("the same as {first}", "{split}; the same as {first}, {split_2}", "the inputs of {first}"),
    *("the inputs of {first}; {class} and {class_2}", "{metric} {own} against {other}"),
    *("Weights of the best validation, iteration {iteration}.", "Weights of the best validation."),
    *("Weights of the last iteration, iteration {iteration}.", "Weights of the last iteration."),
    *("this torch ({version}) is built without CUDA, ROCm, XPU and MPS", "{cpu}, up to {threads} thread(s)"),
    *("{label} for {targets}: a small network to start from.", "{low} s to {high} s"),
    "It trains with {solver} for up to {epochs} epochs of mini-batches of {batch}: about {time} on two cores.",
    *(
        "{count} columns in this order ({names})",
        "{what} {low} to {high}{basis}",
        "normalised {what}",
        "{what} {low} to {high} in the training data",
        "1 column ({names})",
        "whole numbers {low} to {high}",
        "the sign {sign}",
        "the mean",
        "the median",
        "the most frequent",
    ),
    "{which} of the training rows",
    "counted from {origin}",
    "T is any number of steps, the same for all sequences of a batch; the data has {low} to {high} steps.",
    "T is any number of steps, the same for all sequences of a batch; the data has {low} steps.",
    "The column '{time}' is a time in equal steps, and '{key}' tells series apart",
    "The column '{time}' is a time in mostly equal steps, and '{key}' tells series apart",
    "The column '{time}' is a time in equal steps, and '{key}' tells {count} series apart",
    "The column '{time}' is a time in mostly equal steps, and '{key}' tells {count} series apart",
    "Column '{name}' is left out: it has {different} different texts in {rows} training rows",
    "Column '{name}' is left out: it has {different} different texts in {rows} training rows, such as {examples}. "
    "data.category_encoding=indices takes it for an embedding.",
    "whole numbers",
    *("{count} classes", "there is no command {command}"),
    "{count} number(s)",
    "{count} label(s)",
    *("{count} classes per {what}", "{count} number(s) per {what}", "{count} label(s) per {what}"),
    *("a whole number of at least {low}", "a whole number from {low} to {high}", "{zero}, or {number}"),
    *("most frequent class", "last value", "linear model", "season of {steps}"),
    *(
        "{count} iteration(s)",
        "{count} hour(s)",
        "{count} minute(s)",
        "{count} second(s)",
        "time limit of {amount} reached",
    ),
    *("a number above {above}", "a number above {above} and up to {high}", "a number of at least {low}"),
    *("a number of at least {low} and up to {high}", "a number up to {high}", "{number}, or Infinity"),
)
"""Texts that are put together of words."""
NOUNS = (
    *("class", "classes", "column", "columns", "device", "devices", "features", "image", "images", "label", "labels"),
    *("layer", "layers", "mask", "masks", "numbers", "pixels", "row", "rows", "samples", "sequence", "sequences"),
    *("commas", "semicolons", "tabs", "bars", "blanks", "more", "batch", "channel", "step", "depth", "height", "width"),
    *("token '{name}'", "year", "month", "day of week", "hour", "elapsed days", "accuracy", "loss"),
    *("series", "sounds", "steps", "tables", "texts", "tokens", "transcripts", "volume", "voxels", "workers"),
    *("experimental", "first", "second"),
)
"""Words that fill a placeholder. As units of fields they have another form in Chinese."""
OF_THE_SYSTEM = (
    *("No such file or directory", "Permission denied", "No space left on device", "Is a directory", "File exists"),
    *("Not a directory", "Read-only file system", "Input/output error", "Too many open files", "Connection refused"),
    *("Connection reset by peer", "Connection timed out", "Network is unreachable", "No route to host"),
    *("Cannot allocate memory", "Disk quota exceeded", "File name too long", "Operation not permitted"),
    *("Device or resource busy", "Stale file handle", "Too many levels of symbolic links", "Directory not empty"),
)
"""Texts of the system that stand in errors as their reason."""
MOST_CASES = 4
"""Most templates of one expression; a conditional part beyond becomes a placeholder."""
SENTENCE = re.compile(r"(?<=[.!?])(?:\{\w+\})?\s+(?=[A-Z{'`])|(?<=[.!?])\{\w+\}$|\n+")
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{\w+\}")
"""A placeholder, or an escaped brace."""

READ = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Call, ast.Assign, ast.AnnAssign, ast.NamedExpr),
    *(ast.Return, ast.Yield, ast.YieldFrom),
)
"""Nodes of a tree that give names or texts."""

Scope = Mapping[str, list[ast.expr]]
"""What names stand for: values that variables have, and what functions return."""


def message_templates() -> list[str]:
    """Return the templates of the texts that the engine shows, sentence by sentence, in order."""
    files = (path for path in ENGINE.rglob("*.py") if path.relative_to(ENGINE).parts[0] not in NOT_IN_THE_WINDOW)
    found = {text for path in files for text in templates_in(path.read_text(encoding="utf-8"))}
    return sorted(found | {*JOINED, *NOUNS, *OF_THE_SYSTEM})


def templates_in(source: str) -> Iterator[str]:
    """Yield the templates of a module, cut into sentences: those with words, but for words for programs."""
    for template in _Module(source).templates():
        for text in SENTENCE.split(template):
            text = text.strip(" ;")
            words = PLACEHOLDER.sub("", text).replace("(s)", "")
            if re.search("[A-Za-z]{2}.* |[A-Za-z]{2}.*[.]$| .*[A-Za-z]{2}", words) and not text.startswith("--"):
                yield text


class _Module:
    """The texts of a module."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._nodes: list[ast.AST] = []
        """What gives names or texts, depth first: a tree is walked once, since each function reads what is in it."""
        self._ends: list[int] = []
        """For each of them where what is inside it ends."""
        self._collect(tree)
        self._scope = self._bound(0, len(self._nodes), set(tree.body))
        self._done: dict[ast.expr, list[Scope]] = {}
        """Expressions with the scopes in which they were read."""

    def _collect(self, node: ast.AST) -> None:
        for value in vars(node).values():
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    if isinstance(child, READ):
                        place = len(self._nodes)
                        self._nodes.append(child)
                        self._ends.append(place)
                        self._collect(child)
                        self._ends[place] = len(self._nodes)
                    elif not isinstance(child, ast.Name | ast.Constant | ast.expr_context):
                        self._collect(child)

    def templates(self) -> Iterator[str]:
        """Yield all templates: of arguments, and of variables and returned values with a name that says so."""
        yield from self._within(0, len(self._nodes), self._scope)

    def _within(self, start: int, end: int, scope: Scope) -> Iterator[str]:
        place = start
        while place < end:
            node = self._nodes[place]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = {**scope, **self._bound(place, self._ends[place])}
                if node.name in FUNCTIONS or NAMES.search(node.name):
                    for value in self._returned(place):
                        yield from self._texts(value, own)
                yield from self._within(place + 1, self._ends[place], own)
                place = self._ends[place]
                continue
            if isinstance(node, ast.Call):
                for argument in _shown_arguments(node):
                    yield from self._texts(argument, scope)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = (_name_of(t.value if isinstance(t, ast.Subscript) else t) for t in targets)
                if any(map(NAMES.search, names)):
                    yield from self._texts(node.value, scope)
            place += 1

    def _bound(self, start: int, end: int, body: Container[ast.AST] | None = None) -> Scope:
        """Return the names that are bound, with their values; of functions what they return. Of a module, `body` has
        the statements whose variables count."""
        values: dict[str, list[ast.expr]] = {}
        for place in range(start, end):
            node = self._nodes[place]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                values.setdefault(f"{node.name}()", []).extend(self._returned(place))
            elif body is not None and node not in body:
                continue
            elif isinstance(node, ast.NamedExpr):
                values.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        values.setdefault(target.id, []).append(node.value)
                    elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and body is None:
                        for name, value in zip(target.elts, node.value.elts, strict=False):
                            if isinstance(name, ast.Name):
                                values.setdefault(name.id, []).append(value)
        return values

    def _returned(self, place: int) -> list[ast.expr]:
        """Return what the function at a place returns or yields."""
        inside = self._nodes[place : self._ends[place]]
        returns = (node for node in inside if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom))
        return [node.value for node in returns if node.value is not None]

    def _texts(self, node: ast.expr, scope: Scope) -> Iterator[str]:
        """Yield the templates of an expression, and of the texts that fill it."""
        scopes = self._done.setdefault(node, [])
        if any(scope is known for known in scopes):  # another one may know more of what fills it
            return
        scopes.append(scope)
        for template in self._cases(node, scope):
            yield template[0]
        for part in _fillings(node):
            for value in self._values(part, scope):
                yield from self._texts(value, scope)

    def _values(self, node: ast.expr, scope: Scope) -> list[ast.expr]:
        """Return the expressions that a variable, a call or a container stands for."""
        if isinstance(node, ast.Name):
            return scope.get(node.id, [])
        if isinstance(node, ast.Call):
            name = _name_of(node.func)
            known = scope.get(f"{name}()", []) if isinstance(node.func, ast.Name | ast.Attribute) else []
            return [*known, *(argument for argument in node.args if _is_text(argument))]
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return list(node.elts)
        if isinstance(node, ast.Dict):
            return [value for value in node.values if value is not None]
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return [node.elt]
        if isinstance(node, ast.Starred):
            return [node.value]
        if isinstance(node, ast.Subscript):
            return self._values(node.value, scope)
        return [node] if _is_text(node) else []

    def _cases(self, node: ast.expr, scope: Scope) -> list[tuple[str, str]]:
        """Return the templates of an expression with the name of each for a placeholder; none where it is no text."""
        if isinstance(node, ast.Constant):
            return [(_escaped(node.value), "")] if isinstance(node.value, str) else []
        if isinstance(node, ast.IfExp):
            return [*self._cases(node.body, scope), *self._cases(node.orelse, scope)]
        if isinstance(node, ast.BoolOp):
            return [case for value in node.values for case in self._cases(value, scope)]
        if isinstance(node, ast.Call) and _name_of(node.func) == "plural":
            return self._plural(node, scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_text(node.func.value):
            return self._cases(node.func.value, scope) if node.func.attr in ("strip", "rstrip", "format") else []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_sum_of_texts(node):
            return self._joined([node.left, node.right], scope)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, scope)
        return []

    def _joined(self, parts: list[ast.expr], scope: Scope) -> list[tuple[str, str]]:
        cases: list[list[str]] = []
        for part in parts:
            value = part.value if isinstance(part, ast.FormattedValue) else part
            texts = [text for text, _ in self._part(value, scope)]
            if set(texts) in ({"", "s"}, {"", "es"}):
                texts = [f"({max(texts)})"]
            if not texts or len(texts) > MOST_CASES // max(1, _count(cases)):
                texts = [f"{{{_placeholder(value)}}}"]
            cases.append(texts)
        return [(_numbered("".join(case)), "") for case in product(*cases)]

    def _part(self, value: ast.expr, scope: Scope) -> list[tuple[str, str]]:
        """Return the cases of a part of a text: constants stand in it, other variables do not."""
        if isinstance(value, ast.Name):
            known = scope.get(value.id, [])
            is_constant = len(known) == 1 and isinstance(known[0], ast.Constant) and value.id.isupper()
            is_choice = len(known) == 1 and isinstance(known[0], ast.IfExp) and not _fillings_of_choice(known[0])
            return self._cases(known[0], scope) if is_constant or is_choice else []
        if isinstance(value, ast.IfExp):
            sides = [self._part(side, scope) for side in (value.body, value.orelse)]
            return [*sides[0], *sides[1]] if all(sides) else []
        return self._cases(value, scope)

    def _plural(self, node: ast.Call, scope: Scope) -> list[tuple[str, str]]:
        count, word = node.args[:2]
        words = [text for text, _ in self._part(word, scope)] or [f"{{{_placeholder(word)}}}"]
        return [(f"{{{_placeholder(count)}}} {text}(s)", "") for text in words]


def _count(cases: list[list[str]]) -> int:
    total = 1
    for case in cases:
        total *= len(case)
    return total


def _shown_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call that are shown."""
    name = _name_of(call.func)
    is_error = (name.endswith("Error") and not hasattr(builtins, name)) or name == "ValueError"
    if name in ("append", "extend") and isinstance(call.func, ast.Attribute):
        whose = call.func.value.value if isinstance(call.func.value, ast.Subscript) else call.func.value
        is_error = bool(NAMES.search(_name_of(whose)))
    if is_error or name in CALLS or name in ("NotLiftable", "Refused", "NotMarked") or NAMES.search(name):
        yield from call.args
        yield from (word.value for word in call.keywords if word.arg not in NOT_TEXT)
    elif name in UNIT_CALLS:
        yield from call.args[1:]
    else:
        yield from (word.value for word in call.keywords if word.arg in KEYWORDS)


def _fillings(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions in a text that may be texts themselves, and the expression itself."""
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _fillings(part.value)
    elif isinstance(node, ast.BinOp):
        yield from (*_fillings(node.left), *_fillings(node.right))
    elif isinstance(node, ast.IfExp):
        yield from (*_fillings(node.body), *_fillings(node.orelse))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _fillings(value)
    elif not isinstance(node, ast.Constant):
        yield node


def _fillings_of_choice(node: ast.IfExp) -> bool:
    """Return whether a choice is among more than literals."""
    sides = (node.body, node.orelse)
    return any(_fillings_of_choice(s) if isinstance(s, ast.IfExp) else not isinstance(s, ast.Constant) for s in sides)


def _is_sum_of_texts(node: ast.BinOp) -> bool:
    return any(_is_sum_of_texts(s) if isinstance(s, ast.BinOp) else _is_text(s) for s in (node.left, node.right))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.IfExp | ast.ListComp | ast.GeneratorExp | ast.BoolOp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _placeholder(node: ast.expr) -> str:
    """Return a name for what an expression gives."""
    if isinstance(node, ast.Name | ast.Attribute):
        return _name_of(node).strip("_").lower() or "value"
    if isinstance(node, ast.Call):
        return _placeholder(node.args[0] if node.args else node.func)
    if isinstance(node, ast.Subscript | ast.Starred):
        return _placeholder(node.value)
    if isinstance(node, ast.BinOp):
        return _placeholder(node.left)
    if isinstance(node, ast.IfExp):
        return _placeholder(node.body)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return _placeholder(node.elt)
    return "value"


def _numbered(template: str) -> str:
    """Return a template in which no two placeholders have the same name."""
    counts: dict[str, int] = {}

    def own(match: re.Match[str]) -> str:
        name = match[0][1:-1]
        if not name:
            return match[0]
        counts[name] = counts.get(name, 0) + 1
        return match[0] if counts[name] == 1 else f"{{{name}_{counts[name]}}}"

    return PLACEHOLDER.sub(own, template)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
