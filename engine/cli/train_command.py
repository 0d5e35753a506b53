"""Commands `train PROJECT` and `resume RUN`: run a training in the foreground or detached and report its outcome."""

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.engine.cli.answers import add_json, failure, note, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.common import add_allow_host, add_project, add_trust
from netwright.engine.cli.control_commands import send
from netwright.engine.cli.follow_command import ProgressPrinter
from netwright.engine.cli.printing import say
from netwright.engine.cli.require import Requirement, parse, refuse_impossible, write_junit
from netwright.engine.core.errors import EXIT_DONE, EXIT_REQUIREMENT, RunError, UserError, plural
from netwright.engine.core.platform import command_line
from netwright.engine.core.text import format_duration
from netwright.engine.operations.projects import facts_of, look_at_code, read_project
from netwright.engine.placement.cluster_part import cluster_function, has_clusters
from netwright.engine.project.bindings import in_order
from netwright.engine.project.environment import TARGETS
from netwright.engine.project.project import Project
from netwright.engine.runs.baselines import closing_warning, comparisons
from netwright.engine.runs.checkpoint_files import way_on
from netwright.engine.runs.folder import RunFolder, open_run, origin
from netwright.engine.runs.remote import read_remote
from netwright.engine.runs.summary import format_metric
from netwright.engine.user_code import trust

if TYPE_CHECKING:
    from netwright.engine.launch.launcher import Placer


def add_outcome(command: argparse.ArgumentParser) -> None:
    """Add the options about the outcome of a run: `--require`, `--json`, `--junit`, `--detach`."""
    command.add_argument(
        "--require",
        dest="requirements",
        action="append",
        default=[],
        metavar="CONDITION",
        help='condition on the outcome, exit 4 if it does not hold: "accuracy>=0.95" is judged on the test split, '
        'without one on validation; "validation.loss<0.2" names the split; may be given several times',
    )
    add_json(command)
    command.add_argument("--junit", type=Path, metavar="FILE", help="write the outcome as JUnit XML")
    command.add_argument("--detach", action="store_true", help="train in the background and print the run's folder")


def requirements_of(arguments: argparse.Namespace) -> list[Requirement]:
    """Return the requirements of the arguments. Raises `UserError` if one is invalid, if `--detach` excludes it, or if
    the `--junit` file cannot be in that place."""
    requirements = [parse(text) for text in arguments.requirements]
    if arguments.detach and (requirements or arguments.junit is not None):
        raise UserError(
            "--require and --junit need the end of the run, and --detach leaves before it.", hint="Leave one out."
        )
    if arguments.junit is not None:
        path = arguments.junit.resolve()
        if not path.parent.is_dir():
            raise UserError(f"--junit {arguments.junit}: there is no folder {path.parent}.", code="not_found")
        if path.is_dir():
            raise UserError(
                f"--junit {arguments.junit}: this is a folder.", hint="Name a file in it, such as outcome.xml."
            )
    return requirements


def refuse_never(requirements: list[Requirement], project: Project, path: Path) -> None:
    """Raise `UserError` if a requirement is on a metric or split that a run of the project at `path` does not have."""
    facts = facts_of(project, origin(path).base) if requirements else None
    if facts is not None:
        refuse_impossible(requirements, facts, project.training.metrics_for(in_order(project.network, facts).task))


def leave(folder: RunFolder, arguments: argparse.Namespace) -> int:
    """Start the training in a background process and print its run folder. Returns the exit code."""
    from netwright.engine.launch.detached_coordinator import start_detached

    start_detached(folder)
    jobs = cluster_function("cluster_jobs")() if has_clusters() else ()
    note(job.note for job in jobs if job.note and job.folder.path == folder.path.absolute())
    return tell_left(folder, arguments)


def tell_left(folder: RunFolder, arguments: argparse.Namespace) -> int:
    """Print the folder of a run that goes on without this process."""
    run_dir = str(folder.path.absolute())
    print_json(arguments, {"run_dir": run_dir}) if arguments.json else say(folder.path)
    return EXIT_DONE


def see_through(
    folder: RunFolder,
    printer: ProgressPrinter,
    requirements: list[Requirement],
    arguments: argparse.Namespace,
    placer: "Placer | None" = None,
) -> int:
    """Train in this process, print the outcome and return the exit code. `placer`: that of its cluster, where it has
    begun."""
    from netwright.engine.launch.coordinator import coordinate, exit_code

    printer.wait("starting: imports torch ...")
    result = coordinate(folder, on_event=printer, placer=placer)
    printer.close()
    return tell_outcome(folder, result, printer, requirements, arguments) or exit_code(folder)


def tell_outcome(
    folder: RunFolder,
    result: dict[str, Any],
    printer: ProgressPrinter,
    requirements: list[Requirement],
    arguments: argparse.Namespace,
) -> int:
    """Print the outcome of a run, even if the JUnit file cannot be written. Returns the exit code of requirements that
    do not hold, else 0."""
    outcomes = [requirement.judge(result) for requirement in requirements]
    is_judged = result["state"] == "finished"
    missed = [outcome.text for outcome in outcomes if is_judged and not outcome.passed]
    not_written = None
    if arguments.junit is not None:
        try:
            write_junit(arguments.junit, result, outcomes)
        except UserError as error:
            not_written = error
        arguments.has_written_junit = True
    if arguments.json:
        told = {**result, "requirements": [outcome.write() for outcome in outcomes]}
        print_json(arguments, {**told, **_failure(folder, result, missed, not_written)})
    else:
        _summary(folder, result)
    for outcome in outcomes if is_judged else ():
        printer.say(f"requirement {'met' if outcome.passed else 'not met'}: {outcome.text}")
    if not_written is not None:
        raise not_written
    return EXIT_REQUIREMENT if missed else EXIT_DONE


def _failure(
    folder: RunFolder, result: dict[str, Any], missed: list[str], not_written: UserError | None
) -> dict[str, dict[str, str]]:
    """Return the entry `error` of the outcome; nothing if the run has finished and all requirements hold."""
    if not_written is not None:
        return failure(not_written.code, str(not_written), not_written.hint)
    if missed:
        return failure("requirement_not_met", "; ".join(missed))
    if result["state"] == "finished":
        return {}
    hint = way_on(folder)
    if setting := result.get("offer"):
        hint = f"`netwright-engine resume` with --set {setting} goes on with less memory."
    return failure(result.get("code") or "stopped", result["reason"], hint)


def _summary(folder: RunFolder, result: dict[str, Any]) -> None:
    """Print the outcome as text; first what is wrong with a result that has come about as planned."""
    if result["state"] == "finished" and (warning := closing_warning(result)):
        say(warning)
        if project := folder.read_info().project_path:
            say(f"to find out why: netwright-engine doctor {command_line(project)}")
    say(*f"{result['state']}{': ' + result['reason'] if result['reason'] else ''}".split("\n"))
    totals = f"{plural(result['epochs'], 'epoch')}, {plural(result['iterations'], 'iteration')}"
    say(f"{totals} in {format_duration(result['seconds'])}, {result['samples_per_second']:,.0f} samples/s")
    for split in ("validation", "test"):
        if result.get(split):
            say(f"{split}: " + ", ".join(format_metric(name, float(v)) for name, v in result[split].items()))
    for split, text in comparisons(result):
        say(f"baselines, {split}: {text}")
    if result.get("held_back_by"):
        say(result["held_back_by"])
    say(f"run: {result['run_dir']}")
    if setting := result.get("offer"):
        say(f"to go on with less memory: netwright-engine resume {command_line(result['run_dir'])} --set {setting}")


def register_train(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Train the network of a project in a run folder of its own. Progress goes to standard error. "
        "Ctrl-C asks the run to stop; what was learned is kept."
    )
    command = commands.add_parser("train", description=text)
    add_project(command)
    add_trust(command)
    add_allow_host(command)
    command.add_argument("--environment", choices=TARGETS, help="where to train, instead of what the project says")
    command.add_argument("--workers", type=int, metavar="N", help="the number of workers, with multi-cpu or parallel")
    what = "the cluster profile, with parallel; default: the one that the project names, else your default"
    command.add_argument("--profile", metavar="NAME", help=what)
    where = "folder of the run: absent or empty; default: runs/<time>_<name> beside the project"
    command.add_argument("--run-dir", type=Path, metavar="DIR", help=where)
    add_outcome(command)
    command.set_defaults(run=run_train)


def run_train(arguments: argparse.Namespace) -> int:
    """Prepare the run, train, print the outcome and return the exit code."""
    requirements = requirements_of(arguments)
    project, notices = read_project(arguments.project, settings_of(arguments))
    refuse_workers(arguments.workers, project)
    refuse_never(requirements, project, arguments.project)
    project_origin = origin(arguments.project)
    look_at_code(project, project_origin.code_base, project_origin.code, trusted=arguments.trust)
    if project.environment.target == "parallel":
        code: int | None = cluster_function("train_as_job")(project, notices, requirements, arguments)
        if code is not None:
            return code
    elif arguments.profile:
        raise UserError(
            f"--profile {arguments.profile}: a profile goes with the execution environment parallel.",
            hint="Add --environment parallel.",
        )
    with ProgressPrinter() as printer:
        printer.wait("starting: looks for devices and reads the data ...")
        from netwright.engine.launch.launcher import begun_placer
        from netwright.engine.launch.prepare import prepare

        # One that leaves has its coordinator in another process.
        here = contextlib.nullcontext() if arguments.detach else begun_placer(project.environment)
        with here as placer:
            with printer.reading():
                folder = prepare(project, arguments.project.resolve(), arguments.run_dir)
            for notice in notices:
                printer.say(f"note: {notice}")
            for warning in folder.read_info().warnings:
                printer.say(f"warning: {warning}")
            if arguments.detach:
                printer.close()
                return leave(folder, arguments)
            return see_through(folder, printer, requirements, arguments, placer)


def settings_of(arguments: argparse.Namespace) -> list[str]:
    """Return the `--set` assignments, including those from `--environment`, `--workers` and `--profile`."""
    settings = [*arguments.settings]
    if arguments.environment:
        settings.append(f"environment.target={arguments.environment}")
    if arguments.workers is not None:
        settings.append(f"environment.num_workers={arguments.workers}")
    if getattr(arguments, "profile", None):
        settings.append(f"environment.cluster={arguments.profile}")
    return settings


def refuse_workers(num_workers: int | None, project: Project) -> None:
    """Raise `UserError` if a number of workers is given for an environment that has none."""
    target = project.environment.target
    if num_workers is not None and target not in ("multi-cpu", "parallel"):
        raise UserError(
            f"--workers {num_workers}: the number of workers goes with multi-cpu or parallel, "
            f"and the execution environment is {target}.",
            hint="Add --environment multi-cpu.",
        )


def register_resume(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Resume a run in its own folder from its last intact checkpoint, with the numbers it would have had without "
        "the interruption; a paused run goes on where it is. Exit codes are those of train."
    )
    command = commands.add_parser("resume", description=text)
    command.add_argument("folder", type=Path, metavar="RUN", help="the folder of the run")
    what = "another value for an option, such as training.max_epochs=9; may be given several times"
    command.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="SECTION.OPTION=VALUE", help=what
    )
    command.add_argument("--environment", choices=TARGETS, help="where to train from now on")
    command.add_argument("--workers", type=int, metavar="N", help="the number of workers, with multi-cpu or parallel")
    what = "resume although files of the data have changed since; without it they are named, and the run is refused"
    command.add_argument("--allow-changed-data", action="store_true", help=what)
    add_trust(command)
    add_allow_host(command)
    add_outcome(command)
    command.set_defaults(run=run_resume)


def run_resume(arguments: argparse.Namespace) -> int:
    """Resume the run, train, print the outcome and return the exit code."""
    folder = open_run(arguments.folder)
    folder = type(folder)(folder.path.absolute())
    settings = settings_of(arguments)
    requirements = requirements_of(arguments)
    if read_remote(folder.path) is not None and folder.state() != "paused":
        code: int = cluster_function("resume_as_job")(folder, settings, requirements, arguments)
        return code
    if folder.state() == "paused":
        if settings:
            raise RunError("A paused run goes on as it is.", hint="Stop it first, then resume it with other options.")
        if requirements or arguments.junit is not None:
            raise RunError(
                "A paused run goes on in the process that it has; --require and --junit go with one that starts here."
            )
        return send(arguments, folder, "resume")
    if requirements:
        refuse_never(requirements, read_project(folder.project, settings)[0], folder.project)
    if arguments.trust:
        trust.grant(folder.path)  # the run folder holds copies of the user code
    from netwright.engine.launch.resume import prepare_resume

    prepare_resume(folder, settings, allow_changed_data=arguments.allow_changed_data)
    if arguments.detach:
        return leave(folder, arguments)
    with ProgressPrinter() as printer:
        return see_through(folder, printer, requirements, arguments)


def register(commands: Commands) -> None:
    """Add the commands `train` and `resume`."""
    register_train(commands)
    register_resume(commands)
