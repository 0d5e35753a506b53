"""Preparation of a run that ended or was interrupted to resume in its folder, from its last checkpoint."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from netwright.engine.core.errors import RunError, UserError, plural
from netwright.engine.core.files import set_aside, write_atomically
from netwright.engine.launch.prepare import go_back, hold, list_run, longest_sequence, place
from netwright.engine.placement.candidates import record_of
from netwright.engine.project.check import check
from netwright.engine.project.data_hosts import admit, look_up
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import dumps, load
from netwright.engine.project.project import Project, set_option
from netwright.engine.project.relevance import refuse_without_unit
from netwright.engine.project.user_code import ready
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.data_record import DataRecord, read_record, write_record
from netwright.engine.runs.folder import RunFolder, frozen_code, take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.summary import RunSummary, summary_of

CHANGEABLE = (
    "max_epochs",
    "max_iterations",
    "initial_learn_rate",
    "max_time",
    "max_time_unit",
    "target_metric",
    "target_value",
    "validation_frequency",
    "validation_frequency_unit",
    "validation_patience",
    "checkpoint_frequency",
    "checkpoint_unit",
    "checkpoints_kept",
    "non_finite_loss",
    "go_back_rate_factor",
    "gradient_accumulation",
    "gradient_checkpointing",
)
"""Training options that may be changed when a run resumes. The others have affected what was trained already."""


def prepare_resume(folder: RunFolder, settings: Sequence[str] = (), *, allow_changed_data: bool = False) -> None:
    """Prepare a run to resume, optionally with changed options.

    settings: assignments such as `training.max_epochs=9`; all options of `environment` and `run` may change, and those
    of `training` in `CHANGEABLE`. Raises `UserError` if the run cannot resume so, with the code `changed_data` if its
    data is not what it was and that is not allowed; `UnavailableError` for the environment, `RunError` if the run is
    alive.
    """
    try:
        lock = take_lock(folder)
    except RunError as error:
        if folder.is_alive():
            raise RunError(f"The run in {folder.path} is at work: there is nothing to resume.") from None
        raise error
    try:
        _make_ready(folder, settings, allow_changed_data=allow_changed_data)
    except BaseException:
        os.close(lock)
        raise
    hold(folder, lock)


def _make_ready(folder: RunFolder, settings: Sequence[str], *, allow_changed_data: bool) -> None:
    before = load(folder.project).project
    info = folder.read_info()
    _refuse_another_project(folder, info)
    project = changed(before, settings)
    summary = summary_of(folder.path)
    _refuse_complete(summary, project, _live_changes(info, before, project))
    base = Path(info.base or folder.path)
    look_up(folder.path)
    ready(project, folder.path, frozen_code(folder))
    check(project).refuse_errors()
    admit(project.data)
    from netwright.engine.data.loading.data_places import record
    from netwright.engine.data.loading.load import choose_loading

    data_before = read_record(folder.path)
    data_facts, data_changes = _check_data(folder, project, base, data_before, allow_changed_data=allow_changed_data)
    # The environment chosen at the start of the run is kept, so that the results are the same.
    choice = dict(info.chosen_environment()) if project.environment == before.environment else {}
    samples = data_facts.samples.get("training")
    placement, inventory = place(project.environment.replace(**choice), project.training, samples)
    placement = replace(placement, target=project.environment.target)
    data_loading = choose_loading(project, data_facts, placement, inventory)
    changes = [*settings, *(["changed data"] if data_changes else [])]
    try:
        text = dumps(project).encode()
        if project != before:  # after a crash in between, the checksum of either project is on record
            update_info(folder, project_sha256_next=_sha256(text))
            write_atomically(folder.project, text, mode=0o600, follow_link=False)
            update_info(folder, project_sha256=_sha256(text), project_sha256_next=None)
        if data_before is not None and data_changes:
            replaced = (*data_before.replaced, " ".join(data_changes))
            write_record(folder.path, replace(record(project.data, base, info.versions), replaced=replaced))
        if folder.result.name in summary.damaged:
            changes.append(f"a damaged {folder.result.name}, which is kept as {set_aside(folder.result).name}")
        folder.result.unlink(missing_ok=True)
        update_info(
            folder,
            placement=record_of(placement, project, inventory, samples, longest_sequence(data_facts)),
            candidates=(),
            threads_are_chosen=bool(choice),
            max_restarts=project.run.max_restarts,
            checkpoints_kept=project.training.checkpoints_kept,
            loading=data_loading,
            go_back=go_back(project),
            live_changes=_live_changes(info, before, project),
            resumed=f"resumed on request{', with ' if changes else ''}{', '.join(changes)}",
            coordinator=os.getpid(),
            workers=(),
            released=False,
            state="starting",
        )
        list_run(folder, project, info.project_id, placement)
        folder.take_requests()  # late requests to the previous attempt do not apply to this one
    except OSError as error:
        raise RunError(f"The run folder {folder.path} cannot be written: {error.strerror or error}.") from None


def _check_data(
    folder: RunFolder, project: Project, base: Path, before: DataRecord | None, *, allow_changed_data: bool
) -> tuple[DatasetInfo, tuple[str, ...]]:
    """Check the project with its data. Return the facts about the data, and how it has changed since its record of
    `before`. Raises `UserError`."""
    from netwright.engine.data.loading.data_places import remote_changes
    from netwright.engine.data.loading.load import facts
    from netwright.engine.data.loading.open_data import split_codes

    changes: tuple[str, ...] = ()
    if before is not None:
        changes = before.changes() or remote_changes(project.data, base, before)
    if not allow_changed_data:
        _refuse_changed_data(folder, changes)
    data_facts = facts(project.data, base)
    check(project, data_facts).refuse_errors()
    if before is not None and not changes and split_codes(project.data, base) != before.parts:
        changes = ("The samples are divided into splits in another way than before.",)
        if not allow_changed_data:
            _refuse_changed_data(folder, changes)
    return data_facts, changes


def changed(project: Project, settings: Sequence[str]) -> Project:
    """Return the project with changed settings. Raises `UserError` for a setting that a run cannot change."""
    for setting in settings:
        section, _, name = setting.partition("=")[0].strip().partition(".")
        if section == "data" or (section == "training" and name not in CHANGEABLE):
            raise UserError(
                f"--set {setting}: a run cannot go on with another value of that, since what it has learned comes from "
                f"the old one. What may change are environment and run, and of training {', '.join(CHANGEABLE)}.",
                hint="For the rest train anew.",
            )
        project = set_option(project, setting)
    refuse_without_unit(project, settings)
    return project


def _refuse_another_project(folder: RunFolder, info: RunInfo) -> None:
    """Raise `UserError` if the run's copy of the project is not the one that was trained.

    The checkpoints of a run do not fit another project.
    """
    if _sha256(folder.project.read_bytes()) not in (info.project_sha256, info.project_sha256_next):
        raise UserError(
            f"{folder.project} is not what this run was made with: its checksum is not the one in {folder.info.name}.",
            hint="Put the file back as it was, and change options with --set; or train anew.",
        )


def _refuse_changed_data(folder: RunFolder, changes: Sequence[str]) -> None:
    if changes:
        raise UserError(
            f"The data of the run in {folder.path} has changed since the run read it. {' '.join(changes)} Put it back "
            "as it was, or train anew. To go on with the data as it is now, resume with --allow-changed-data: what was "
            "learned then comes from both, and samples that were trained on may be among those of the test.",
            code="changed_data",
        )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _live_changes(info: RunInfo, before: Project, after: Project) -> dict[str, float]:
    """Return the live changes of the run that still hold: another number of epochs is a new plan."""
    has_new_plan = before.training.planned_epochs != after.training.planned_epochs
    return {name: value for name, value in info.live_changes.items() if name != "epochs" or not has_new_plan}


def _refuse_complete(run: RunSummary, project: Project, live_changes: Mapping[str, float]) -> None:
    """Raise `UserError` if the run has done what is planned, or has finished without a checkpoint to resume from."""
    options = project.training
    planned, name = int(live_changes.get("epochs", options.planned_epochs)), options.planned_option
    epochs = run.measured.get("epochs")
    # A run that failed after its last epoch, such as on a full disk, has its weights still to write.
    needed = planned if run.state_reached in ("finished", "stopped") else planned + 1
    if isinstance(epochs, int) and epochs >= needed:
        raise UserError(
            f"The run in {run.path} is complete: {plural(epochs, 'epoch')} done, and {name} is {planned:,}.",
            hint=f"To go on give it more, such as --set training.{name}={2 * epochs}.",
        )
    if run.state_reached != "finished":
        return
    if not all_checkpoints(RunFolder(run.path)):
        raise UserError(
            f"The run in {run.path} has finished and left no checkpoint to go on from (checkpoint_unit was never, "
            "or they were removed).",
            hint="Train again.",
        )
