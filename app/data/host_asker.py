"""Asks the user whether the data of a run may be fetched from a host that was not allowed for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.messages import ask_to_fetch
from netwright.app.processes import HostQuestion, allow_no_hosts
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.project.data_hosts import allow, allowed


class HostAsker:
    """Answers the questions of engine processes about runs, which are not about the open project."""

    def __init__(self, shell: Shell, dataset: DatasetTracker) -> None:
        self._shell, self._dataset = shell, dataset
        HostQuestion.ask = self.ask

    def ask(self, error: Mapping[str, Any]) -> bool:
        """Return whether the hosts that an error of the engine names may be contacted."""
        path, hosts = Path(error["data"]["path"]), dict(error["data"]["hosts"])
        limits = allowed(path)
        if all(limits.get(host, 0) >= files for host, files in hosts.items()):
            return True  # answered meanwhile, for another question about the same run
        if not ask_to_fetch(self._shell.dialog_parent, hosts, path.name):
            return False
        try:
            allow(path, hosts)
        except UserError as refused:
            self._shell.show_error(tr("The answer cannot be stored"), str(refused))
            return False
        if self._dataset.hosts:
            self._dataset.refresh(again=True)
        return True

    def close(self) -> None:
        """Ask no more."""
        HostQuestion.ask = allow_no_hosts
