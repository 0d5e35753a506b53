"""Project section `weights`: the weights that a run starts from instead of random numbers, and its frozen layers.

"weights": {"file": "backbone.weights.safetensors", "sha256": "9f3c...", "map": {"fc_2.weight": "head.weight"},
            "freeze_up_to": "k3f9"}
"""

import hashlib
from pathlib import Path

from netwright.engine.core.errors import FieldError, UserError
from netwright.engine.core.fields import Bool, FilePath, Text
from netwright.engine.core.files import open_file, read_object
from netwright.engine.core.list_fields import Pairs
from netwright.engine.core.records import Record
from netwright.engine.network.problems import Problem

GROUP = "Start from weights"
RUN_FILE = "run.json"
RUN_LIMIT_BYTES = 2**22
WEIGHTS = "weights.safetensors"
"""File in the folders `best` and `last` of a run."""
SUFFIXES = (".safetensors", ".pt", ".pth", ".bin")


class WeightsOptions(Record):
    """The weights that a run starts from, and the layers that keep them."""

    file = FilePath(
        "",
        label="Weights",
        pattern="Weights (*.safetensors *.pt *.pth *.bin)",
        folder_when=lambda record: True,
        group=GROUP,
        help="Weights that a run starts from: a file of safetensors, a state-dict that torch.save wrote, or the folder "
        "of a run, or best or last in it. Relative to the project. Default: none, random numbers",
        matlab="net = trainnet(data, net, ...) with a trained net",
        torch="load_state_dict",
    )
    sha256 = Text(
        "",
        label="Checksum",
        group=GROUP,
        help="SHA-256 of the weights when they were chosen. A run refuses other ones. Empty: any are taken",
        visible_when=lambda record: bool(record.file),
    )
    map = Pairs(
        (),
        label="Names",
        group=GROUP,
        help="Keys of the network and those of the file that fill them, such as fc_2.weight=head.weight, for weights "
        "that are not found by layer or by name. Nothing behind the = leaves a weight as it starts",
        visible_when=lambda record: bool(record.file),
    )
    freeze_up_to = Text(
        "",
        label="Freeze up to",
        group=GROUP,
        help="Id or name of a layer: it and all layers that lead to it keep their weights. Default: none",
        matlab="freezeWeights",
        torch="requires_grad_(False)",
    )

    keep_zeros = Bool(
        False,
        label="Keep zeros",
        group=GROUP,
        help="Weights of matrices and kernels that are zero at the start stay zero, as in a pruned network that is "
        "trained on. Default: no. The solver lm does not keep them",
        torch="torch.nn.utils.prune",
        visible_when=lambda record: bool(record.file),
    )

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other."""
        result = super().problems()
        if self.sha256 and (len(self.sha256) != 64 or set(self.sha256) - set("0123456789abcdef")):
            why = "expected 64 digits from 0 to f. Leave it out, or choose the weights again."
            result.append(FieldError("sha256", why))
        if self.map and not self.file:
            result.append(FieldError("map", "names keys of a file, and no file is chosen. Choose one, or remove it."))
        return result


def weights_path(options: WeightsOptions, base: Path) -> Path:
    """Return the file with the weights, which are given relative to `base`: of a run the one that counts as its result.

    Raises `UserError` where there is none, with what the path leads to instead.
    """
    return file_in(base / options.file)


def file_in(path: Path) -> Path:
    """Return the file with weights that a path leads to: itself, or that of a run or of its `best` or `last`.

    Raises `UserError`.
    """
    try:
        if not path.is_dir():
            open_file(path).close()
            return path
        file = path / WEIGHTS
        if (path / RUN_FILE).is_file():
            file = _kept_of_run(path) / WEIGHTS
        if not file.is_file():
            raise UserError(
                f"The folder {path} holds no weights.",
                hint="Choose the folder of a run, best or last in it, or a file.",
                code="not_found",
            )
        open_file(file).close()
        return file
    except OSError as error:
        raise UserError(
            f"The weights {path} cannot be read: {error.strerror or error}.",
            hint="Bring them back, choose other ones, or start without: --set weights.file=",
        ) from error


def _kept_of_run(run: Path) -> Path:
    """Return the folder of the weights that count as the result of a run. Raises `UserError`, `OSError`."""
    kind = (read_object(run / RUN_FILE, RUN_LIMIT_BYTES) or {}).get("kept")
    names = [kind] if kind in ("best", "last") else ["best", "last"]
    folder = next((run / name for name in names if (run / name).is_dir()), None)
    if folder is None:
        raise UserError(f"The run {run} has no weights yet.", hint="Choose a run that has trained for a while.")
    return folder


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file. Raises `UserError`."""
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"The weights {path} cannot be read: {error.strerror or error}.") from error


def weights_problem(options: WeightsOptions, base: Path) -> Problem | None:
    """Return the problem of weights that are not where the project says, or None. The file is not read."""
    try:
        if options.file:
            weights_path(options, base)
    except UserError as error:
        return Problem("error", "", "", "weights.file", str(error))
    return None


def chosen(path: Path, base: Path) -> WeightsOptions:
    """Return the section for weights that were just chosen, with their checksum; the path is relative where they lie
    in the project's folder `base`. Raises `UserError`."""
    checksum = checksum_of(file_in(path))
    place, folder = path.resolve(), base.resolve()
    name = place.relative_to(folder).as_posix() if place.is_relative_to(folder) else str(place)
    return WeightsOptions(file=name, sha256=checksum)
