"""Command `experiment run | status | list | best | append | again | stop | export`: many values, compared."""

import argparse
import contextlib
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.cli.answers import add_json, failure, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_trust
from netwright.engine.cli.operation_command import register_below
from netwright.engine.cli.printing import say
from netwright.engine.cli.require import Requirement, parse
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, EXIT_RUN_FAILED, EXIT_STOPPED, UserError
from netwright.engine.core.text import iso_time
from netwright.engine.experiments.command_text import (
    experiment_json,
    print_trials,
    read_trials,
    result_of,
    scores_text,
    why_none,
)
from netwright.engine.experiments.operations.experiment_importance import shares_text
from netwright.engine.operations.projects import look_at_code, read_project
from netwright.engine.project.data_hosts import admit, look_up, say_typed
from netwright.engine.project.environment import TARGETS
from netwright.engine.project.file import load, save
from netwright.engine.project.parameters import value_text
from netwright.engine.project.trials import READY, defined, num_trials, refuse_wrong_definition, with_values
from netwright.engine.project.user_code import refuse_untrusted
from netwright.engine.runs.experiments import ExperimentFolder, experiments_of, open_experiment, start_runner
from netwright.engine.runs.folder import origin
from netwright.engine.runs.trial_log import FAILED, STARTS_AGAIN, Trial
from netwright.engine.runs.trial_rows import best_trial, pareto_front


def register(commands: Commands) -> None:
    """Add the command `experiment`."""
    text = (
        "Train a project with many values of its options and layers, and compare the trials. The parameters that vary "
        "are those in the section experiment of the project, or those of --vary. An experiment that was "
        "stopped or killed continues with `experiment run` and its folder."
    )
    command = commands.add_parser("experiment", description=text)
    command.set_defaults(run=partial(_help, command))
    subcommands = command.add_subparsers(dest="way", metavar="WHAT")
    _register_run(subcommands.add_parser("run", description="Begin an experiment, or go on with one."))
    for name, function, text in (
        ("status", _status, "show the trials of an experiment"),
        ("best", _best, "show the best trial, or the Pareto front, and write its project"),
        ("again", _again, "train the trials that have failed again"),
        ("stop", _stop, "stop an experiment; it can go on later"),
        ("report", None, ""),
        ("importance", None, ""),
        ("export", None, ""),
    ):
        if function is None:
            register_below(subcommands, f"experiment {name}")
            continue
        subcommand = subcommands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        _add_experiment(subcommand)
        if name == "status":
            subcommand.add_argument(
                "--importance", action="store_true", help="how much each parameter matters (fANOVA)"
            )
        if name == "best":
            what = "write a project with the values of the best trial"
            subcommand.add_argument("-o", "--output", type=Path, metavar="FILE", help=what)
        if name == "stop":
            what = "let trials that have begun end, and start no more"
            subcommand.add_argument("--after-trials", action="store_true", help=what)
            what = "stop this trial, and go on with the others"
            subcommand.add_argument("--trial", type=int, metavar="N", help=what)
        if name == "again":
            what = "only this trial; may be given several times"
            subcommand.add_argument("--trial", dest="trials", type=int, action="append", metavar="N", help=what)
        add_json(subcommand)
        subcommand.set_defaults(run=function)
    _register_append(subcommands.add_parser("append", description="Add trials to an experiment, also while it runs."))
    listed = subcommands.add_parser("list", description="List the experiments of a project.")
    listed.add_argument("project", type=Path, metavar="PROJECT", help="a project file (*.netwright)")
    add_json(listed)
    listed.set_defaults(run=_list)


def _help(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


def _add_experiment(command: argparse.ArgumentParser) -> None:
    what = "the folder of an experiment; of a project file, its newest one"
    command.add_argument("experiment", type=Path, metavar="EXPERIMENT", help=what)


def _register_run(command: argparse.ArgumentParser) -> None:
    what = "a project file, or the folder of an experiment that is to go on"
    command.add_argument("project", type=Path, metavar="PROJECT", help=what)
    what = "another value for an option, such as training.max_epochs=5; may be given several times"
    command.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="SECTION.OPTION=VALUE", help=what
    )
    what = "values of an option or a layer's field: training.momentum=0.8,0.9 or network.conv_1.filters=8..64 or "
    what += '"training.initial_learn_rate=log 0.0001..0.1"; may be given several times'
    command.add_argument("--vary", action="append", default=[], metavar="PATH=VALUES", help=what)
    what = f"begin with a ready definition: {', '.join(READY)}"
    command.add_argument("--ready", choices=[*READY], metavar="NAME", help=what)
    command.add_argument("--environment", choices=TARGETS, help="where to train, instead of what the project says")
    what = "the cluster profile, with parallel; default: the one that the project names, else your default"
    command.add_argument("--profile", metavar="NAME", help=what)
    command.add_argument("--strategy", metavar="NAME", help="grid, random, sobol, tpe, gp, nsga2, table or function")
    command.add_argument("--trials", type=int, metavar="N", help="the number of trials (not for grid and table)")
    command.add_argument(
        "--at-once", type=int, metavar="N", help="trials at the same time; default: one per GPU or core"
    )
    what = 'condition on the best trial, exit 4 if it does not hold: "validation.accuracy>=0.95"; may be given '
    what += "several times"
    command.add_argument("--require", dest="requirements", action="append", default=[], metavar="CONDITION", help=what)
    command.add_argument("--detach", action="store_true", help="run in the background and print the folder")
    add_trust(command)
    add_allow_host(command)
    add_json(command)
    command.set_defaults(run=_run)


def _register_append(command: argparse.ArgumentParser) -> None:
    _add_experiment(command)
    command.add_argument("--trials", type=int, metavar="N", help="this many trials more")
    command.add_argument("--hours", type=float, metavar="H", help="no trial is started after so many hours in all")
    command.add_argument("--at-once", type=int, metavar="N", help="trials at the same time from now on")
    add_json(command)
    command.set_defaults(run=_append)


# ---- running ----


def _run(arguments: argparse.Namespace) -> int:
    requirements = [parse(text) for text in arguments.requirements]
    if arguments.detach and requirements:
        raise UserError("--require needs the end of the experiment, and --detach leaves before it.")
    folder = _continued(arguments) if arguments.project.is_dir() else _begun(arguments)
    if arguments.detach:
        start_runner(folder)
        path = str(folder.path.absolute())
        print_json(arguments, {"experiment_dir": path}) if arguments.json else say(path)
        return EXIT_DONE
    return _see_through(arguments, folder, requirements)


def _begun(arguments: argparse.Namespace) -> ExperimentFolder:
    settings = [*arguments.settings]
    if arguments.environment:
        settings.append(f"environment.target={arguments.environment}")
    if arguments.profile:
        settings.append(f"environment.cluster={arguments.profile}")
    project, notices = read_project(arguments.project, settings)
    for notice in notices:
        say(f"note: {notice}", to=sys.stderr)
    changed = {name: getattr(arguments, name) for name in ("strategy", "trials", "at_once")}
    for text in arguments.vary:
        for value in text.partition("=")[2].split(","):
            say_typed(value.strip())
    project = defined(project, arguments.vary, arguments.ready or "", changed)
    source = origin(arguments.project)
    look_at_code(project, source.code_base, source.code, trusted=arguments.trust)
    refuse_untrusted(project, in_experiment=True)  # now, not when its runner starts
    refuse_wrong_definition(project, source.base)  # before the message that it starts
    say("starting: reads the data ...", to=sys.stderr)
    from netwright.engine.experiments.begin import begin

    return begin(project, arguments.project.resolve())


def _continued(arguments: argparse.Namespace) -> ExperimentFolder:
    given = (arguments.settings, arguments.vary, arguments.ready, arguments.strategy, arguments.trials)
    if any((*given, arguments.environment, arguments.profile)):
        raise UserError(
            f"{arguments.project} is an experiment that has begun, whose definition stays as it is.",
            hint="`experiment append` adds trials; for other values begin one with the project file.",
        )
    folder = open_experiment(arguments.project)
    project = load(folder.project).project
    info = folder.read_info()
    base = Path(info.base or folder.path)
    look_up(folder.path)
    admit(project.data)
    look_at_code(project, base, trusted=arguments.trust)
    from netwright.engine.experiments.definition import changed_functions, look_at_functions

    look_at_functions(folder, project, base)
    for file in changed_functions(folder, base):
        say(f"note: {file} has changed since the experiment began, which goes on with its copy", to=sys.stderr)
    return folder


def _see_through(arguments: argparse.Namespace, folder: ExperimentFolder, requirements: Sequence[Requirement]) -> int:
    """Run the experiment in this process, print its outcome and return the exit code."""
    from netwright.engine.experiments.runner import Runner

    objectives = folder.read_info().objectives
    total = num_trials(load(folder.project).project)

    def tell(trial: Trial) -> None:
        if trial.is_over:
            scores = scores_text(trial, objectives)
            reason = f": {trial.reason}" if trial.reason else ""
            known = f"{trial.number}/{total}" if total else str(trial.number)
            values = ", ".join(f"{path.rpartition('.')[2]} {value_text(v)}" for path, v in trial.values.items())
            say("  ".join(filter(None, (known, values, trial.state + reason, scores))), to=sys.stderr, flush=True)

    info = Runner(folder, tell).run()
    trials = read_trials(folder)
    best = best_trial(trials, objectives)
    outcomes = [requirement.judge(result_of(best)) for requirement in requirements]
    missed = [outcome.text for outcome in outcomes if not outcome.passed]
    if info.state == "stopped":
        error, code = failure("stopped", info.reason), EXIT_STOPPED
    elif info.state == "failed":
        hint = f"`experiment again {folder.path}`, then `experiment run {folder.path}`, trains the failed trials again."
        error, code = failure("run_failed", info.reason, hint), EXIT_RUN_FAILED
    elif best is None:
        error, code = failure("run_failed", why_none(trials)), EXIT_RUN_FAILED
    elif missed:
        error, code = failure("requirement_not_met", "; ".join(missed)), EXIT_REQUIREMENT
    else:
        error, code = {}, EXIT_DONE
    if arguments.json:
        print_json(arguments, {**experiment_json(folder, trials), **error})
    else:
        print_trials(folder, trials)
        for outcome in outcomes:
            say(f"requirement {'met' if outcome.passed else 'not met'}: {outcome.text}")
        if info.state == "failed":
            say(error["error"]["hint"], to=sys.stderr)
        elif best is None:
            say(why_none(trials), to=sys.stderr)
    return code


# ---- showing ----


def _status(arguments: argparse.Namespace) -> int:
    folder = open_experiment(arguments.experiment)
    trials = read_trials(folder)
    shares: Mapping[str, float] = {}
    if arguments.importance:
        from netwright.engine.experiments.strategies import importances

        shares = importances(load(folder.project).project, trials, folder.read_info().objectives[0])
    if arguments.json:
        print_json(arguments, experiment_json(folder, trials) | ({"importance": shares} if shares else {}))
        return EXIT_DONE
    print_trials(folder, trials)
    say(*shares_text(shares))
    return EXIT_DONE


def _list(arguments: argparse.Namespace) -> int:
    project = load(arguments.project).project
    found = experiments_of(arguments.project.resolve(), project.identity)
    rows, described = [("experiment", "state", "trials", "best")], []
    for folder in found:
        with contextlib.suppress(UserError):
            trials, info = read_trials(folder), folder.read_info()
            best = best_trial(trials, info.objectives)
            over = sum(trial.is_over for trial in trials)
            score = scores_text(best, info.objectives) if best is not None else ""
            rows.append((str(folder.path), folder.state(), f"{over:,}/{len(trials):,}", score))
            described.append(
                {
                    "experiment_dir": str(folder.path),
                    "state": folder.state(),
                    "created": iso_time(info.created),
                    "trials": len(trials),
                    "ended": over,
                    "best": best.write() if best is not None else None,
                }
            )
    if arguments.json:
        print_json(arguments, {"experiments": described})
    elif described:
        print_table(rows, right=(2,))
    else:
        say(f"{arguments.project} has no experiments. `netwright-engine experiment run` begins one.")
    return EXIT_DONE


def _best(arguments: argparse.Namespace) -> int:
    folder = open_experiment(arguments.experiment)
    info, trials = folder.read_info(), read_trials(folder)
    best = best_trial(trials, info.objectives)
    if best is None:
        raise UserError(f"No trial of {folder.path} has finished yet.", code="not_found")
    front = pareto_front(trials, info.objectives) if len(info.objectives) > 1 else [best]
    written = None
    if arguments.output is not None:
        project = load(folder.project).project
        save(with_values(project, best.values, Path(info.base or folder.path)), arguments.output)
        written = str(arguments.output)
    runs = [str(folder.run_path(run.name)) for run in best.runs]
    if arguments.json:
        said = {"best": best.write(), "run_dirs": runs, "pareto_front": [trial.write() for trial in front]}
        print_json(arguments, {**said, "project": written})
        return EXIT_DONE
    for trial in front:
        values = ", ".join(f"{path} {value_text(value)}" for path, value in trial.values.items())
        say(f"trial {trial.number}: {scores_text(trial, info.objectives)}  {values}")
    say(*(f"run: {run}" for run in runs))
    if written:
        say(f"project: {written}")
    return EXIT_DONE


# ---- changing ----


def _append(arguments: argparse.Namespace) -> int:
    folder = open_experiment(arguments.experiment)
    options = load(folder.project).project.experiment
    changes: dict[str, Any] = {}
    if arguments.trials is not None:
        if options.strategy in ("grid", "table"):
            raise UserError(
                f"The trials of {folder.path} are those of its {options.strategy}.", hint="Begin another experiment."
            )
        if arguments.trials < 1:
            raise UserError(f"--trials {arguments.trials}: expected 1 or more.")
        changes["trials"] = options.trials + arguments.trials
    changes |= {"max_hours": arguments.hours} if arguments.hours is not None else {}
    changes |= {"at_once": arguments.at_once} if arguments.at_once is not None else {}
    if not changes:
        raise UserError("Nothing is to change.", hint="Give --trials, --hours or --at-once.")
    options.replace(**changes)  # refuses values outside of the limits
    return _ask(arguments, folder, "set", **changes)


def _again(arguments: argparse.Namespace) -> int:
    folder = open_experiment(arguments.experiment)
    states = STARTS_AGAIN if arguments.trials else FAILED
    ended = [trial.number for trial in read_trials(folder) if trial.state in states]
    if not ended and not arguments.trials:
        raise UserError(f"No trial of {folder.path} has failed.")
    for number in arguments.trials or ():
        if number not in ended:
            hint = f"Failed or stopped are: {', '.join(map(str, ended[:20])) or 'none'}."
            raise UserError(f"Trial {number} of {folder.path} has neither failed nor been stopped.", hint=hint)
    return _ask(arguments, folder, "again", **({"trials": arguments.trials} if arguments.trials else {}))


def _stop(arguments: argparse.Namespace) -> int:
    folder = open_experiment(arguments.experiment)
    if not folder.is_alive():
        raise UserError(f"No process is at work on {folder.path}: it is {folder.state()}.")
    if arguments.trial is None:
        return _ask(arguments, folder, "finish" if arguments.after_trials else "stop")
    if arguments.after_trials:
        raise UserError("--trial stops one trial, --after-trials the experiment.", hint="Give one of them.")
    running = [trial.number for trial in read_trials(folder) if not trial.is_over]
    if arguments.trial not in running:
        hint = f"Under way are: {', '.join(map(str, running)) or 'none'}."
        raise UserError(f"Trial {arguments.trial} of {folder.path} is not under way.", hint=hint)
    return _ask(arguments, folder, "stop_trial", trial=arguments.trial)


def _ask(arguments: argparse.Namespace, folder: ExperimentFolder, name: str, **values: Any) -> int:
    """Send a request to the runner of an experiment; where there is none, to the one that goes on with it."""
    folder.request(name, **values)
    is_alive = folder.is_alive()
    if arguments.json:
        print_json(arguments, {"experiment_dir": str(folder.path), "is_running": is_alive})
    elif not is_alive:
        say(f"No process is at work on it: `netwright-engine experiment run {folder.path}` goes on with it.")
    return EXIT_DONE
