"""Command `notify`: who is told when a run, an experiment or a queue has ended."""

import argparse
import sys

from netwright.engine.cli.answers import add_json, print_json
from netwright.engine.cli.commands import Commands
from netwright.engine.cli.printing import say
from netwright.engine.core import webhook
from netwright.engine.core.errors import EXIT_DONE, RunError, UserError

STANDARD_INPUT = "-"


def register(commands: Commands) -> None:
    """Add the command."""
    text = (
        "Show or set the webhook: an address that gets a small JSON object (kind, name, state, reason, metrics) when a "
        "run, an experiment or a queue of yours has ended, by this program or by the window. None is set at first. It "
        "is kept in your settings, never in a project, and no output shows more of it than its host."
    )
    command = commands.add_parser("notify", description=text)
    ways = command.add_mutually_exclusive_group()
    help = "the address (https://...); - reads it from standard input, so that no list of commands keeps it"
    ways.add_argument("--webhook", metavar="URL", help=help)
    ways.add_argument("--off", action="store_true", help="tell nobody any more")
    command.add_argument("--test", action="store_true", help="send a test message now; exit 3 if it is not taken")
    add_json(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Change the setting, send a test, and say what is set."""
    if arguments.off:
        webhook.store("")
    elif arguments.webhook is not None:
        given = sys.stdin.readline() if arguments.webhook == STANDARD_INPUT else arguments.webhook
        if not given.strip():
            raise UserError("The webhook is empty.", hint="Expected an address; --off switches it off.")
        webhook.store(given.strip())
    url = webhook.read()
    if arguments.test:
        if not url:
            raise UserError("No webhook is set.", hint="Set one with --webhook URL.")
        told = webhook.message("test", "Netwright", "finished", "a test", {})
        if why := webhook.send(url, told):
            raise RunError(why, code="unreachable")
    host = webhook.host_of(url) if url else ""
    if arguments.json:
        print_json(arguments, {"webhook_host": host, "is_tested": arguments.test})
    elif arguments.test:
        say(f"The webhook on {host} took the test message.")
    else:
        say(f"The webhook on {host} is told when something ends." if host else "No webhook is set.")
    return EXIT_DONE
