"""Layer types from installed packages: an entry point in the group `netwright.layers` names a module of layer types.

    [project.entry-points."netwright.layers"]
    acme = "acme_layers.types"

The module declares them as the files here do, and imports no torch: the window loads it too, for fields and sizes. The
modules that its calls name (`acme_layers.modules.Swirl`) stand in a file of their own in the same package, which only
the engine loads. Nothing is read but the names of what is installed until a package has such an entry.

What an add-on does wrong is told in words and leaves the add-on out; it never ends the program.
"""

import functools
import importlib
import os
import site
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.layers.base import REGISTRY, LayerType
from netwright.engine.user_code import trust

GROUP: Final = "netwright.layers"
_HEAVY: Final = frozenset(
    ("torch", "torchvision", "numpy", "scipy", "pandas", "onnx", "onnxruntime", "PySide6", "matplotlib", "sklearn")
)
_TAKEN: Final = frozenset((*_HEAVY, "netwright", "operator", "tests"))
_RULES: Final = ("output", "output_types", "weights", "flops", "lower", "short_value")


@dataclass(frozen=True)
class AddOn:
    """An installed package with layer types: the keys of those, or why it is not used."""

    name: str
    version: str
    modules: tuple[str, ...]
    types: tuple[str, ...] = ()
    error: str = ""

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".strip()

    @property
    def packages(self) -> frozenset[str]:
        """The top-level packages that its entry points name."""
        return frozenset(module.partition(".")[0] for module in self.modules)

    @property
    def refusal(self) -> str:
        """The reason why the add-on is not used, in a sentence, or an empty text."""
        return f"The add-on '{self.title}' is not used: {self.error}" if self.error else ""


def load(path: Sequence[str] | None = None) -> tuple[AddOn, ...]:
    """Find the add-ons on the path, by their names, and load them. Netwright's own layer types are there already."""
    return tuple(_load(add_on) for add_on in sorted(installed(path), key=lambda entry: entry.name))


def installed(path: Sequence[str] | None = None) -> list[AddOn]:
    """The packages that have an entry point in the group, not loaded yet. The first of a name on the path counts."""
    add_ons: dict[str, AddOn] = {}
    for folder in _infos(sys.path if path is None else path):
        from importlib import metadata  # only now: it is slow to import, and most have no add-on

        try:
            package = metadata.PathDistribution(folder)
            name, version = str(package.metadata["Name"]), str(package.version or "")
            modules = tuple(point.module for point in package.entry_points if point.group == GROUP)
        except Exception as error:  # whatever lies there was written by others
            name, version, modules = folder.stem, "", ()
            add_ons.setdefault(name, AddOn(name, version, (), error=f"its description cannot be read ({error})."))
        if modules and path is None and _is_only_here(folder):
            add_ons.setdefault(name, AddOn(name, version, modules, error=_NOT_TRUSTED.format(folder.parent.resolve())))
        elif modules:
            add_ons.setdefault(name, AddOn(name, version, modules))
    return list(add_ons.values())


_NOT_TRUSTED = "it lies in the current folder, {}, which is not trusted. Install it, or trust the folder in the window."


def _is_only_here(info: Path) -> bool:
    """Return whether a package was found because the program was started in its folder: Python puts the current folder
    on the path. Such code may come with a download, and runs only where the user trusts the folder."""
    place = info.parent.resolve()
    return place == Path.cwd() and str(place) not in site.getsitepackages() and not trust.is_trusted(place)


def _infos(path: Sequence[str]) -> Iterator[Path]:
    """The folders of installed packages whose entry points name the group."""
    for place in dict.fromkeys(path):
        try:
            names = os.listdir(place or ".")
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(place, name, "entry_points.txt"), "rb") as file:
                        is_one = f"[{GROUP}]".encode() in file.read().replace(b" ", b"")
                except OSError:
                    continue
                if is_one:
                    yield Path(place, name)


def _load(add_on: AddOn) -> AddOn:
    """Return the add-on with the keys of its types, or with an error; then none of its types is registered."""
    if add_on.error:
        return add_on
    if clashes := add_on.packages & _TAKEN:
        error = f"its entry point names a module of the package '{min(clashes)}', which is not its own."
        return AddOn(add_on.name, add_on.version, add_on.modules, error=error)
    before = dict(REGISTRY)
    finder = _LightOnly()
    sys.meta_path.insert(0, finder)
    try:
        for module in add_on.modules:
            importlib.import_module(module)
        types = [type for type in REGISTRY.values() if type.__module__.partition(".")[0] in add_on.packages]
        if not types:
            raise UserError(f"{', '.join(add_on.modules)} declares no layer type with a key.")
        for type in types:
            _try_out(type)
            _guard(type, add_on)
    except (Exception, SystemExit) as error:
        REGISTRY.clear()
        REGISTRY.update(before)
        return AddOn(add_on.name, add_on.version, add_on.modules, error=_error_text(error, add_on))
    finally:
        sys.meta_path.remove(finder)
    return AddOn(add_on.name, add_on.version, add_on.modules, tuple(type.key for type in types))


class _LightOnly:
    """Refuses, in the thread that loads an add-on, to import what would slow the window. What is loaded already passes
    by this; the window, where it never is, tells."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing, or an error."""
        if name.partition(".")[0] in _HEAVY and threading.get_ident() == self._thread:
            raise ImportError(
                f"its layer types import {name}, which the window must not load. "
                "Keep what needs it in a file of its own, which the calls of `lower` name."
            )
        return None


def _error_text(error: BaseException, add_on: AddOn) -> str:
    """Return the error, and its place in the add-on's own files."""
    import traceback  # only now: most add-ons are well

    words = str(error).strip() if str(error).strip() else "it ended without a word"
    if not isinstance(error, (ImportError, UserError, TypeError)) or isinstance(error, ModuleNotFoundError):
        words = f"{type(error).__name__}: {words}"
    place = ""
    if isinstance(error, SyntaxError) and error.filename:
        words, place = f"{type(error).__name__}: {error.msg}", f"{Path(error.filename).name}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if add_on.packages & set(Path(frame.filename).parts)]
        own += [frame for frame in frames if Path(frame.filename).stem in add_on.packages]
        place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else ""
    return f"{words.rstrip('.')}{f' ({place})' if place else ''}."


def _try_out(type: type[LayerType]) -> None:
    """Call the methods of a type that the palette calls. Raises their errors."""
    layer = type()
    for names in (layer.input_ports(), layer.output_ports()):
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise UserError(f"The ports of '{type.key}' must be a tuple of names, received {names!r}.")
    if not isinstance(layer.short_value(), str):
        raise UserError(f"`short_value` of '{type.key}' must return a text.")


def _guard(cls: type[LayerType], add_on: AddOn) -> None:
    """Turn whatever its rules raise into a `ShapeError`, which is shown at the layer."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] not in add_on.packages:
            continue
        for name in _RULES:
            rule = vars(base).get(name)
            if callable(rule) and not hasattr(rule, "_is_guarded"):
                setattr(base, name, _guarded(rule, add_on, cls.label))


def _guarded(rule: Callable[..., Any], add_on: AddOn, label: str) -> Callable[..., Any]:
    @functools.wraps(rule)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return rule(*args, **kwargs)
        except (UserError, NotImplementedError):
            raise
        except Exception as error:
            if rule.__name__ == "short_value":
                return ""
            failed = f"{type(error).__name__}: {error}".rstrip(": .")
            raise ShapeError(
                f"The add-on '{add_on.title}' failed in `{rule.__name__}` of {label}: {failed}. Tell its makers."
            ) from error

    guarded._is_guarded = True  # type: ignore[attr-defined]  # a mark, so that a shared base is guarded once
    return guarded
