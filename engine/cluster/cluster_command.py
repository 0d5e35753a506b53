"""Command `cluster`: profiles of clusters, whether one works, and Netwright on its hosts."""

import argparse
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from netwright.engine.cli.answers import add_json, failure, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import say
from netwright.engine.cli.terminal import print_table
from netwright.engine.cluster.install import install
from netwright.engine.cluster.profile_file import (
    Profiles,
    exported,
    find_profile,
    profiles_file,
    profiles_in,
    read_profiles,
    remove_profile,
    save_profile,
    set_default,
    write_profile,
)
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import running_ray
from netwright.engine.cluster.validation import STAGES, validate
from netwright.engine.core.errors import EXIT_DONE, EXIT_UNAVAILABLE, FieldErrors, UserError, did_you_mean, plural
from netwright.engine.core.records import set_by_text

WIDTH = max(len(stage.title) for stage in STAGES.values())


def register(commands: Commands) -> None:
    """Add the command `cluster`."""
    text = (
        "Profiles of clusters, in a file of your own that a project refers to by name. A profile has no secret in it. "
        "`netwright-engine train PROJECT --environment parallel --profile NAME` trains on one."
    )
    command = commands.add_parser("cluster", description=text)
    command.set_defaults(run=partial(_help, command))
    subcommands = command.add_subparsers(dest="way", metavar="WHAT")
    for name, function, text in (
        ("list", _list, "list the profiles"),
        ("add", _add, "add a profile"),
        ("edit", _edit, "change a profile"),
        ("default", _default, "choose the profile of projects that name none"),
        ("validate", _validate, "test a profile in stages, each with a time limit and advice"),
        ("install", _install, "install Netwright on the hosts of a profile, in a folder of its own"),
        ("remove", _remove, "remove a profile; what runs there goes on"),
        ("import", _import, "add the profiles of a file that export wrote"),
        ("export", _export, "write a profile for others, without paths of secrets"),
    ):
        subcommand = subcommands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        if name == "import":
            subcommand.add_argument("file", type=Path, metavar="FILE", help="a file that export wrote")
            subcommand.add_argument("--replace", action="store_true", help="replace profiles of the same name")
        elif name == "default":
            subcommand.add_argument("name", nargs="?", default="", metavar="NAME", help="without it: no default")
        elif name != "list":
            subcommand.add_argument("name", metavar="NAME", help="letters, digits, - and _")
        if name in ("add", "edit"):
            _add_settings(subcommand)
        if name == "install":
            what = "the wheel to install; default: one that is built of this checkout"
            subcommand.add_argument("--wheel", type=Path, metavar="FILE", help=what)
        if name == "edit":
            subcommand.add_argument("--rename", metavar="NAME", help="another name")
        if name == "export":
            what = "the file; default: standard output"
            subcommand.add_argument("-o", "--output", type=Path, metavar="FILE", help=what)
        add_json(subcommand)
        subcommand.set_defaults(run=function)


def _add_settings(command: argparse.ArgumentParser) -> None:
    known = ", ".join(name for name in ClusterProfile.fields if name != "name")
    what = f"a value of the profile, such as kind=slurm or workers=4; may be given several times. There are: {known}"
    command.add_argument("--set", dest="values", action="append", default=[], metavar="FIELD=VALUE", help=what)


def _help(command: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    """Print the list of subcommands."""
    command.print_help()
    return EXIT_DONE


def profile_json(profile: ClusterProfile, profiles: Profiles) -> dict[str, Any]:
    """Return a profile as the commands print it."""
    values = {name: value for name, value in profile.write().items() if name != "name"}
    return {"name": profile.name, "is_default": profiles.default == profile.name, "profile": values}


def _list(arguments: argparse.Namespace) -> int:
    profiles = read_profiles()
    known = profiles.by_name.values()
    ray = running_ray(known)
    if arguments.json:
        shown = [profile_json(profile, profiles) for profile in known]
        print_json(arguments, {"path": str(profiles_file()), "profiles": shown, "local_ray": ray})
        return EXIT_DONE
    if known:
        rows = [("name", "kind", "address", "workers", "storage")]
        rows += [
            (
                f"{profile.name}{' (default)' if profile.name == profiles.default else ''}",
                profile.kind,
                profile.address or "this machine",
                workers_text(profile),
                profile.storage,
            )
            for profile in known
        ]
        print_table(rows)
    else:
        say("There is no cluster profile. `netwright-engine cluster add NAME --set kind=slurm` adds one.")
    if ray:
        say(f"Ray runs on this machine at {ray}: netwright-engine cluster add local-ray --set address=auto")
    return EXIT_DONE


def workers_text(profile: ClusterProfile) -> str:
    """Return the workers of a profile, such as `4 workers, 2 cores, 1 GPU each`."""
    each = plural(profile.cores_per_worker, "core")
    gpus = f", {plural(profile.gpus_per_worker, 'GPU')}" if profile.gpus_per_worker else ""
    memory = f", {ClusterProfile.memory.show(profile.memory)} GB" if profile.memory else ""
    return f"{plural(profile.workers, 'worker')}, {each}{gpus}{memory} each"


def with_settings(profile: ClusterProfile, settings: Sequence[str]) -> ClusterProfile:
    """Return the profile with `FIELD=VALUE` assignments applied. Raises `FieldErrors`."""
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals:
            raise UserError(f"--set {setting}: expected field=value, such as workers=4.", code="invalid_option")
        if name == "name" or name not in ClusterProfile.fields:
            hint = did_you_mean(name, ClusterProfile.fields) if name != "name" else "Use --rename."
            raise UserError(f"--set {setting}: a profile has no field '{name}'.", code="invalid_option", hint=hint)
        profile = set_by_text(profile, name, text.strip(), profile.name or "profile")
    return profile


def _add(arguments: argparse.Namespace) -> int:
    try:
        profile = ClusterProfile(name=arguments.name)
    except FieldErrors as refused:
        raise refused.errors[0].at("NAME") from None
    save_profile(with_settings(profile, arguments.values))
    return _tell(arguments, arguments.name)


def _edit(arguments: argparse.Namespace) -> int:
    name = arguments.rename or arguments.name
    profile = with_settings(read_profiles()[arguments.name], arguments.values).replace(name=name)
    save_profile(profile, replacing=arguments.name)
    return _tell(arguments, name)


def _tell(arguments: argparse.Namespace, name: str) -> int:
    """Print a profile that was saved."""
    profiles = read_profiles()
    profile = profiles.by_name[name]
    if arguments.json:
        print_json(arguments, profile_json(profile, profiles))
    else:
        say(f"{name}: {profile.kind}, {workers_text(profile)}. Try it: netwright-engine cluster validate {name}")
    return EXIT_DONE


def _default(arguments: argparse.Namespace) -> int:
    set_default(arguments.name)
    return _list(arguments)


def _remove(arguments: argparse.Namespace) -> int:
    remove_profile(arguments.name)
    return _list(arguments)


def _import(arguments: argparse.Namespace) -> int:
    profiles = profiles_in(arguments.file)
    known = read_profiles().by_name
    if taken := [profile.name for profile in profiles if profile.name in known and not arguments.replace]:
        raise UserError(f"There is a cluster profile '{taken[0]}' already.", code="exists", hint="Add --replace.")
    for profile in profiles:
        save_profile(profile, replacing=profile.name if profile.name in known else None)
    names = [profile.name for profile in profiles]
    print_json(arguments, {"profiles": names}) if arguments.json else say(*names)
    return EXIT_DONE


def _export(arguments: argparse.Namespace) -> int:
    text = exported(read_profiles()[arguments.name])
    if arguments.output is not None:
        write_profile(arguments.output, text)
    path = str(arguments.output.absolute()) if arguments.output is not None else None
    if arguments.json:
        print_json(arguments, {"path": path, "text": text})
    elif path is None:
        say(*text.rstrip("\n").split("\n"))
    else:
        say(path)
    return EXIT_DONE


def _validate(arguments: argparse.Namespace) -> int:
    """Print each stage as soon as it has ended, with --json as an object, and one with all of them at the end."""
    profile = find_profile(arguments.name)
    signal.signal(signal.SIGTERM, _end)
    results = []
    for result in validate(profile):
        results.append(result)
        if arguments.json:
            print_json(arguments, {"result": asdict(result)})
            sys.stdout.flush()
            continue
        time = f" ({result.seconds:.1f} s)" if result.state != "skipped" else ""
        say(f"{result.title:{WIDTH}}  {result.state}{time}: {result.detail}", flush=True)
        if result.hint:
            say(f"{'':{WIDTH}}  {result.hint}", flush=True)
    failed = [result for result in results if result.state == "failed"]
    if arguments.json:
        why = failure("unavailable", failed[0].detail, failed[0].hint) if failed else {}
        stages = [asdict(result) for result in results]
        print_json(arguments, {"profile": profile.name, "passed": not failed, "stages": stages, **why})
    return EXIT_UNAVAILABLE if failed else EXIT_DONE


def _end(number: int, frame: FrameType | None) -> None:
    """End as on Ctrl-C, so that what was left on the cluster is deleted."""
    raise KeyboardInterrupt


def _install(arguments: argparse.Namespace) -> int:
    """Install on all hosts, and let the profile use what is there then."""
    profile = find_profile(arguments.name)
    for said in install(profile, arguments.wheel):
        say(said, to=sys.stderr, flush=True)
    save_profile(profile.replace(environment="wheel"), replacing=profile.name)
    return _tell(arguments, profile.name)
