"""`docs/training-options.md`: every option of training, environment and runs, from the declarations; and the tables of
other pages: every source of data in `docs/data.md`, every option of an export to ONNX in `docs/exporting.md`.

`scripts/make_reference.py` writes them; a test compares them.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

from netwright.engine.core.files import ROOT
from netwright.engine.core.records import Record
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.export_options import OnnxOptions, flag
from netwright.engine.project.layer_reference import COMMAND, anchor, cell, row
from netwright.engine.project.options.solver import DEFAULT_RATES
from netwright.engine.project.project import RunOptions
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.sources.source_type import SourceType
from netwright.engine.project.training import TrainingOptions
from netwright.engine.project.weights import WeightsOptions

PATH = ROOT / "docs" / "training-options.md"
DATA_PATH, EXPORT_PATH = ROOT / "docs" / "data.md", ROOT / "docs" / "exporting.md"
SECTIONS: dict[str, type[Record]] = {
    "training": TrainingOptions,
    "environment": EnvironmentOptions,
    "run": RunOptions,
    "weights": WeightsOptions,
}
_HEAD = "| Option | Default | Takes | Effect | MATLAB | torch |\n|---|---|---|---|---|---|\n"
_INTRODUCTION = """\
# Training options

Made by `{command}` from the declarations in `engine/project/`; change it there.

Names are MATLAB's in snake_case where MATLAB has the option. Each can be set in the Training Options dialog, in the
project file (`"training": {{"max_epochs": 12}}`), and on the command line (`--set training.max_epochs=12`), where
`netwright-engine options WORD` prints the same. Options that do not apply to the other choices have no effect, and
the dialog hides them.

The columns MATLAB and torch name the counterparts, with the default there if it differs; an empty cell says nothing.
MATLAB's follow its documentation and were not run for comparison. Tests compare the numbers with torch's: losses and
weights of each solver, schedule, loss and method of clipping.

The solvers lbfgs and lm take all training samples in each iteration, as in MATLAB: mini-batch size, epochs and
shuffling do not apply. `max_iterations` limits the run, which ends earlier if gradient or step is below its tolerance.

`initial_learn_rate` follows the solver: {rates}.

With a warm-up of w iterations, the rate first rises linearly to the start of the schedule, which then covers the rest
of the run; n counts its iterations. The formulas are those of the named schedulers of torch. A chain is written as
text: `--set training.schedule=chain --set "training.schedule_chain=warmup 100 iterations, none 5 epochs, cosine times
0.5"`. Each schedule of a chain runs as if it were the whole run, from the initial learn rate times its factor.
Further options follow it: `piecewise 9 epochs learn_rate_drop_period=3`.
"""


def text() -> str:
    """Return the page."""
    rates = ", ".join(f"{rate:g} for {solver}" for solver, rate in DEFAULT_RATES.items() if solver != "lm")
    tables = [table for section, kind in SECTIONS.items() for table in _tables(section, kind)]
    contents = ", ".join(f"[{heading}](#{anchor(f'{heading} ({section})')})" for section, heading, _ in tables)
    parts = [_INTRODUCTION.format(command=COMMAND, rates=rates), f"Groups: {contents}.\n"]
    return "\n".join([*parts, *(f"## {heading} (`{section}`)\n\n{table}" for section, heading, table in tables)])


def _tables(section: str, kind: type[Record]) -> Iterator[tuple[str, str, str]]:
    """Yield section, heading and table of each group of options."""
    for group, fields in groupby(kind.fields.values(), key=lambda field: field.group):
        lines = [f"{row(field)} {cell(field.matlab)} | {cell(field.torch)} |\n" for field in fields]
        yield section, group or section.capitalize(), f"{_HEAD}{''.join(lines)}"


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with its tables made anew. They stand between comments that have their names."""
    for name, table in tables.items():
        begin, end = f"<!-- {name}: generated -->\n", f"<!-- end of {name} -->"
        before, mark, rest = page.partition(begin)
        assert mark, f"{begin} stands in the page"
        page = f"{before}{begin}{table}{end}{rest.partition(end)[2]}"
    return page


def data_text(page: str) -> str:
    """Return the page on data with its tables of sources made anew."""
    rows = [f"| `{s.key}` | {s.streamed} | {s.resident} |\n" for s in SOURCES.values()]
    tables = {
        "sources": "| Source | Inputs | Targets | Files |\n|---|---|---|---|\n"
        + "".join(map(_source, SOURCES.values())),
        "loading": "| Source | Streamed | Kept in memory |\n|---|---|---|\n" + "".join(rows),
    }
    return with_tables(page, tables)


def export_text(page: str) -> str:
    """Return the page on exports with its table of options of ONNX made anew."""
    rows = [row(field).replace(f"`{name}`", f"`{flag(name)}`", 1) for name, field in OnnxOptions.fields.items()]
    return with_tables(
        page, {"options": "| Option | Default | Takes | Effect |\n|---|---|---|---|\n" + "\n".join([*rows, ""])}
    )


def _source(source: SourceType) -> str:
    """Return the row of a source."""
    suffixes = " ".join(f"`{suffix}`" for suffix in (source.recorded or source.suffixes))
    files = f": {suffixes}" if suffixes else ""
    place = {"nothing": "none", "file": "a file", "folder": "a folder", "both": "a file or a folder"}[source.takes]
    extra = f"; needs `netwright[{source.library[1]}]`" if source.library[1] else ""
    return f"| `{source.key}` | {source.inputs} | {source.targets} | {place}{files}{extra} |\n"
