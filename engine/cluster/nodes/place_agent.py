"""A process in a place of a cluster that has torch and the data of an experiment in memory, and starts its runs there.

    python -m netwright.engine.core.child netwright.engine.cluster.nodes.place_agent

The first line of its standard input has the experiment; each further one is the `Offer` of a run, one run at a time.
For each it forks the agent of a node, which serves the coordinator of that run, and answers with a line how that ended.
It ends, with what it has started, when its input is closed.
"""

import contextlib
import os
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.cluster.nodes.node_agent import serve_coordinator
from netwright.engine.cluster.nodes.offer import Offer
from netwright.engine.core.errors import EXIT_RUN_FAILED, UserError
from netwright.engine.core.fork import fork
from netwright.engine.core.platform import end_with_parent, wait_for_process, watch_process
from netwright.engine.core.platform_files import make_shared_memory, read_at
from netwright.engine.core.process import MessageReader, MessageWriter, keep_output, readable
from netwright.engine.data.loading.load import load as load_data
from netwright.engine.hardware.threads import calm_threads
from netwright.engine.launch.local_launcher import preload, uses_compiler
from netwright.engine.project.data_hosts import grant_all
from netwright.engine.project.file import load
from netwright.engine.project.moved_paths import with_paths
from netwright.engine.runs.folder import RunFolder

MOST_CHARACTERS = 600
ENDS_AT_ONCE = True


class PlaceAgent:
    """Starts the agents of runs, one at a time."""

    def __init__(self, answers: MessageWriter) -> None:
        self._answers = answers
        self._offers: deque[Offer] = deque()
        self._label = ""
        self._pid, self._pidfd, self._life, self._words = 0, -1, -1, -1

    def say(self, **values: Any) -> None:
        """Say something, as a line of JSON."""
        self._answers.send(values)

    def serve(self, lines: MessageReader) -> None:
        """Serve until the standard input is closed. A run whose coordinator has asked again begins anew."""
        while lines.is_open:
            ready = readable([lines.descriptor, *([self._pidfd] if self._pid else [])])
            self._offers += [Offer(**values) for values in lines.read()]
            if self._pid and (self._offers or self._pidfd in ready):
                self._end()
            if self._offers and not self._pid:
                self._start(self._offers.popleft())
        if self._pid:
            self._end()

    def _start(self, offer: Offer) -> None:
        """Fork the agent of a run."""
        reading, self._life = os.pipe()
        output, parent = make_shared_memory("words")[0], os.getpid()

        def work() -> int:
            null = os.open(os.devnull, os.O_RDWR)
            for target, source in ((0, null), (1, output), (2, output)):
                os.dup2(source, target)
            end_with_parent(parent)
            return serve_coordinator(offer, reading)

        self._pid = fork(work, EXIT_RUN_FAILED, keep=(reading,))
        os.close(reading)
        self._words, self._label = output, offer.label
        self._pidfd = watch_process(self._pid)

    def _end(self) -> None:
        """Let the agent end, which ends its workers, and say how it has ended."""
        os.close(self._life)
        code = wait_for_process(self._pid)
        words = read_at(self._words, 2**16, max(0, os.fstat(self._words).st_size - 2**16))
        for descriptor in (self._pidfd, self._words):
            os.close(descriptor)
        self._pid = 0
        self.say(label=self._label, code=code, said=words.decode(errors="replace").strip()[-MOST_CHARACTERS:])


def load_experiment(path: Path, base: Path, paths: Mapping[str, str]) -> None:
    """Import what the runs of an experiment need, and read their data into memory. Raises `UserError` where this host
    does not see the folder of the experiment."""
    folder = RunFolder(path)
    if not folder.project.is_file():
        raise UserError(
            f"{socket.gethostname()} does not see the folder of the experiment, {path}. All hosts must see it: put "
            "the project on a disk that they share, or set path_map of the cluster profile."
        )
    project = with_paths(load(folder.project).project, paths)
    solvers = any(parameter.path == "training.solver" for parameter in project.experiment.parameters)
    preload(with_compiler=solvers or uses_compiler(folder))
    grant_all(project.data)
    with contextlib.suppress(UserError, OSError):  # each trial says what is wrong with its data
        load_data(project.data_of_trials, base)


def main(arguments: Sequence[str] = ()) -> int:
    """Serve the runner of an experiment until it closes the input; return the exit code."""
    agent, lines = PlaceAgent(keep_output()), MessageReader(0)
    calm_threads()
    if (first := lines.receive()) is None:
        return 0
    try:
        load_experiment(Path(first["experiment"]), Path(first["base"]), first["paths"])
    except UserError as error:
        agent.say(refused=str(error))
        return error.exit_code
    agent.say(host=socket.gethostname())
    agent.serve(lines)
    return 0
