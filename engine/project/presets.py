"""Presets of training options: three built-in ones, and those that a user saves.

A built-in preset sets a few options and leaves the others as they are. A user's preset holds all options.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.core.files import read_file, write_atomically
from netwright.engine.core.platform import command_line
from netwright.engine.core.records import Record
from netwright.engine.project.training import TrainingOptions

BUILT_IN: Mapping[str, Mapping[str, object]] = {
    "Fast": {
        "solver": "adamw",
        "initial_learn_rate": 0.003,
        "schedule": "one-cycle",
        "max_epochs": 10,
        "shuffle": "every-epoch",
    },
    "Accurate": {
        "solver": "adamw",
        "initial_learn_rate": 0.001,
        "schedule": "cosine",
        "warmup_iterations": 100,
        "max_epochs": 60,
        "shuffle": "every-epoch",
        "objective_metric": "metric",
        "validation_patience": 20,
        "gradient_threshold": 1.0,
        "gradient_threshold_method": "global-l2norm",
    },
    "As in MATLAB": {
        "solver": "sgdm",
        "last_batch": "discard",
        "sequence_padding": "seen",
        "precision": "fp32",
    },
}
"""What each built-in preset sets; other options stay as they are."""
NOTES: Mapping[str, str] = {
    "Fast": "adamw with one cycle over 10 epochs",
    "Accurate": "adamw, warm-up and cosine over 60 epochs, gradients limited, stops when validations get no better",
    "As in MATLAB": "trainingOptions('sgdm') with its defaults: an incomplete last batch is discarded, layers "
    "see padding, single precision everywhere",
}
MOST_PRESETS = 200
SIZE_LIMIT = 2**20


def _is_name(name: str) -> bool:
    return 0 < len(name) <= 60 and name.isprintable()


def with_built_in(name: str, options: TrainingOptions, previous: str = "") -> TrainingOptions:
    """Return the options with a built-in preset applied. Values of the previous built-in preset that nobody has changed
    since return to their defaults; all others stay."""
    changes = {
        option: value
        for option, value in options.changed().items()
        if BUILT_IN.get(previous, {}).get(option, _NOTHING) != value
    }
    return TrainingOptions(**{**changes, **BUILT_IN[name]})


_NOTHING = object()


def difference(before: TrainingOptions, after: TrainingOptions) -> list[str]:
    """Return the changes of options as text: `Max epochs 10 (was 30)`, in the order of the options."""
    return [
        f"{field.label} {field.show(getattr(after, name))} (was {field.show(getattr(before, name))})"
        for name, field in TrainingOptions.fields.items()
        if getattr(before, name) != getattr(after, name) and after.is_visible(name)
    ]


class Presets:
    """The user's presets, all in one file, which is read each time, because another window may have written it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def read(self) -> dict[str, TrainingOptions]:
        """Return all presets by name, in the order of names; empty where there is no file. Raises `UserError`."""
        try:
            data = json.loads(read_file(self.file, SIZE_LIMIT).decode("utf-8"))
            sections = dict(sorted(data["presets"].items(), key=lambda item: str(item[0]).casefold()))
            if len(sections) > MOST_PRESETS or not all(map(_is_name, sections)):
                raise ValueError("names that no preset has")
            return {name: TrainingOptions.read(values, name) for name, values in sections.items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UserError(f"The presets in {self.file} cannot be read: {error.strerror}.") from error
        except FieldErrors as error:
            raise UserError(f"The presets in {self.file} cannot be used: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{self.file} is not a file of presets.", hint="Move it away, or repair it.") from error

    def save(self, name: str, options: TrainingOptions) -> None:
        """Save the options under this name, and replace a preset of that name. Raises `UserError`."""
        name = name.strip()
        if not _is_name(name):
            raise UserError("A preset needs a name of 1 to 60 characters.")
        if name in BUILT_IN:
            raise UserError(f"'{name}' is the name of a preset that everybody has.", hint="Choose another one.")
        presets = self.read()
        if len(presets) >= MOST_PRESETS and name not in presets:
            raise UserError(f"There are {MOST_PRESETS} presets already.", hint="Delete one first.")
        self._write({**presets, name: options})

    def delete(self, name: str) -> None:
        """Delete a preset. Raises `UserError`."""
        self._write({other: options for other, options in self.read().items() if other != name})

    def _write(self, presets: Mapping[str, TrainingOptions]) -> None:
        text = json.dumps({"presets": {name: o.write() for name, o in presets.items()}}, indent=1, ensure_ascii=False)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self.file, f"{text}\n".encode(), mode=0o600)
        except OSError as error:
            raise UserError(f"The presets cannot be written to {self.file}: {error.strerror}.") from error


def as_json(**sections: Record) -> str:
    """Return the sections of the project file with the options that differ from the defaults."""
    written = {name: record.write() for name, record in sections.items()}
    return json.dumps({name: values for name, values in written.items() if values}, indent=2, ensure_ascii=False)


def as_arguments(**sections: Record) -> str:
    """Return `--set section.name=value` for the options that differ from the defaults, quoted for the shell of this
    machine."""
    words = []
    for section, record in sections.items():
        for name, value in record.changed().items():
            words += ["--set", f"{section}.{name}={record.fields[name].show(value)}"]
    return command_line(*words)
