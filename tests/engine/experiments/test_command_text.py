"""Trials of an experiment as CSV."""

import csv
import io
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.core.csv_text import FORMULA
from netwright.engine.runs.trial_log import Trial, TrialRun
from netwright.engine.runs.trial_marks import mark_trials
from tests.trials import RATE, written

CALL = "=HYPERLINK(1)"


def test_no_cell_of_an_export_is_a_formula_and_numbers_stay_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {RATE: -0.5, "data.path": CALL, f"{CALL}.a": "@x", "network.conv_1.kernel": (3, 3), "training.x": True}
    run = TrialRun("1", "finished", {"validation.loss": -1.5, CALL: 2.0}, 3.5, host="+host")
    folder = written(tmp_path, [Trial(1, values, "finished", (run,))], ["validation.loss"])
    log = folder.trials.read_bytes()
    folder.trials.write_bytes(log.replace(b'"seconds":3.5', b'"seconds":3.5,"host":"+host"'))
    mark_trials(folder, [1], note="-2+3", tags=("=tag",))
    assert main(["experiment", "export", str(folder.path)]) == 0
    head, row = csv.reader(io.StringIO(capsys.readouterr().out))
    cells = dict(zip(head, row, strict=True))
    assert not [cell for cell in (*head, *row) if cell.startswith(FORMULA) and cell not in ("-0.5", "-1.5")]
    assert (cells[RATE], cells["validation.loss"], cells["seconds"], cells[f"'{CALL}"]) == (
        "-0.5",
        "-1.5",
        "3.5",
        "2.0",
    )
    assert (cells["data.path"], cells[f"'{CALL}.a"]) == (f"'{CALL}", "'@x")
    assert (cells["network.conv_1.kernel"], cells["training.x"]) == ("[3, 3]", "true")
    assert (cells["host"], cells["tags"], cells["note"]) == ("'+host", "'=tag", "'-2+3")
