"""`docs/training-options.md`: every option of training, environment and runs, from the declarations.

`python -m engine.project.reference` writes it; a test compares the two.
"""

from collections.abc import Iterator
from itertools import groupby

from engine.core.files import ROOT, write_atomically
from engine.core.records import Record
from engine.project.environment import EnvironmentOptions
from engine.project.layer_reference import row
from engine.project.options.solver import DEFAULT_RATES
from engine.project.project import RunOptions
from engine.project.training import TrainingOptions

PATH = ROOT / "docs" / "training-options.md"
COMMAND = "python -m engine.project.reference"
_INTRODUCTION = """\
# Training options

Made by `{command}` from the declarations in `engine/project/`; change it there.

Names are MATLAB's in snake_case where MATLAB has the option. Each can be set in the Training Options dialog, in the
project file (`"training": {{"max_epochs": 12}}`), and on the command line (`--set training.max_epochs=12`), where
`netwright-engine options WORD` says the same as this page. Options that do not apply to what else is chosen are not
looked at, and the dialog does not show them.

What is said of MATLAB follows its documentation as far as that is known; none of it was run beside Netwright. With
torch the numbers are compared by tests: losses and weights of each solver, schedule, loss and way of clipping.

The solvers lbfgs and lm take all training samples in each iteration, as in MATLAB: mini-batch size, epochs and
shuffling do not apply, `max_iterations` limits the run, and it ends earlier where gradient or step is below its
tolerance.

The initial learn rate follows the solver: {rates}.

With schedules, w is the warm-up and n the iteration from its end: the rate rises linearly over w iterations to where
the schedule begins, and the schedule then runs over the rest. What each gives is the formula of torch's scheduler that
is named beside it, which the tests compare it with. A chain is written as text: `--set training.schedule=chain --set
"training.schedule_chain=warmup 100 iterations, none 5 epochs, cosine times 0.5"`. Each schedule of it runs as if the
run began and ended with it, from the initial learning rate times its factor, and may have options of its own behind it:
`piecewise 9 epochs learn_rate_drop_period=3`.
"""


def text() -> str:
    """The page."""
    rates = ", ".join(f"{rate:g} for {solver}" for solver, rate in DEFAULT_RATES.items() if solver != "lm")
    parts = [_INTRODUCTION.format(command=COMMAND, rates=rates)]
    parts += _tables("training", TrainingOptions)
    parts += _tables("environment", EnvironmentOptions)
    parts += _tables("run", RunOptions)
    return "\n".join(parts)


def _tables(section: str, kind: type[Record]) -> Iterator[str]:
    for group, fields in groupby(kind.fields.values(), key=lambda field: field.group):
        yield f"## {group or section.capitalize()} (`{section}`)\n"
        yield "| Option | Default | Takes | Effect |\n|---|---|---|---|"
        yield "\n".join(row(field) for field in fields) + "\n"


if __name__ == "__main__":
    PATH.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(PATH, text().encode())
    print(f"wrote {PATH}")
