"""The execution environment of the open project on this machine: its devices, and what a run would use of them."""

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from netwright.app.data.dataset_tracker import DatasetTracker
from netwright.app.shell import Shell
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.operations.started_runs import INVENTORY, InventoryRequest

if TYPE_CHECKING:  # a start of the window does not pay for it
    from netwright.engine.placement.inventory import DeviceInventory


class ExecutionEnvironment(QObject):
    """Asks the engine for the devices, once, and resolves the project's choice whenever it changes."""

    inventory_changed = Signal(object)
    """The `DeviceInventory` of this machine."""
    described = Signal(str, str)
    """The choice in a few words, and in a sentence for the tooltip."""

    def __init__(self, shell: Shell, dataset: DatasetTracker) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._dataset = shell, dataset
        self.inventory: DeviceInventory | None = None

    def look_for_devices(self) -> None:
        """Ask the engine for the devices of this machine."""
        self._shell.server.ask(INVENTORY, InventoryRequest(), self._take_inventory, self._shell.hint)

    def _take_inventory(self, answer: dict[str, Any]) -> None:
        from netwright.engine.placement.inventory import DeviceInventory

        self.inventory = DeviceInventory.read(answer)
        self.inventory_changed.emit(self.inventory)
        self.update()

    def update(self) -> None:
        """Describe what a run of the project would use."""
        project = self._shell.editor.project
        target = project.environment.target
        text, tip = tr("Environment {target}", target=target), ""
        if self.inventory is not None:
            from netwright.engine.placement.batch_arithmetic import batch_text
            from netwright.engine.placement.choose import resolve
            from netwright.engine.placement.cluster_part import with_cluster
            from netwright.engine.project.training import batch_size

            options, info = project.training, self._dataset.info
            samples = info.samples.get("training") if info else None
            try:
                inventory = self.inventory
                if target == "parallel":
                    inventory = with_cluster(inventory, project.environment)
                placement = resolve(
                    project.environment, inventory, batch_size(options, samples), options.gradient_accumulation
                )
                count = len(placement.workers)
                text += f" · {placement.resolved}" if target == "auto" and placement.resolved else ""
                text = " · ".join([text, tr("%n worker(s)", "", count)]) if count > 1 else text
                tip = message_text(
                    f"{placement.sentence}\n{batch_text(placement, project.environment, options, samples)}"
                )
            except UserError as error:
                text = " · ".join([text, tr("not available")])
                tip = message_text(error)
        self.described.emit(text, tip)
