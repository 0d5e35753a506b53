"""Write the report of a run from the window."""

from netwright.app.answer_device import answer_device
from netwright.app.dialogs.report_writer import ReportWriter, ask_for_page
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.analysis.operations import report
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import title_of


def save_report(shell: Shell, run: RunFolder) -> ReportWriter | None:
    """Ask for a file, and start writing the report of a run; None where none was named."""
    if (to := ask_for_page(shell, title_of(run).replace("/", "-"))) is None:
        return None
    request = report.ReportRequest(model=run.path.absolute(), output=to, device=answer_device())
    doing = tr("Evaluating the network and writing the report…")
    return ReportWriter(shell, report.OPERATION, request, to, doing, tr("an evaluation"))
