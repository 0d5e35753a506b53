"""Write the report of a run, or of a model, from the window."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from netwright.app.answer_device import answer_device
from netwright.app.dialogs.report_writer import ReportWriter, ask_for_page
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.analysis.operations import report
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import title_of

NO_OTHER_DATA: Mapping[str, Any] = MappingProxyType({})


def save_report(
    shell: Shell, model: Path, title: str = "", data: Mapping[str, Any] = NO_OTHER_DATA
) -> ReportWriter | None:
    """Ask for a file, and start writing the report of a run or a model; None where none was named. `title`: by default
    that of the run. `data`: other data that the model is asked about, as in its request."""
    if (to := ask_for_page(shell, (title or title_of(RunFolder(model))).replace("/", "-"))) is None:
        return None
    request = report.ReportRequest(model=model.absolute(), output=to, device=answer_device(), **data)
    doing = tr("Evaluating the network and writing the report…")
    return ReportWriter(shell, report.OPERATION, request, to, doing, tr("an evaluation"))
