"""A Containerfile (Dockerfile) of an endpoint."""

import json
import re
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import not_written, refuse_destination, write_atomically
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.version import VERSION

PORT = 8000
NAME = re.compile(r"[\w./ @+=,-]+")
"""Names without what a Containerfile gives another meaning."""
TEXT = """\
# An endpoint of {name}. Build it in the folder of this file, and run it; it prints its token:
#   docker build -t endpoint -f {file} .
#   docker run --rm -p 127.0.0.1:{port}:{port} endpoint
FROM python:3.12-slim
RUN pip install --no-cache-dir "netwright[endpoint,data]=={version}"
COPY {copy}
RUN useradd --create-home endpoint
USER endpoint
EXPOSE {port}
STOPSIGNAL SIGTERM
ENTRYPOINT {command}
"""


def write_container(named: Path, to: Path) -> None:
    """Write a Containerfile that serves a model. Raises `UserError` for a model that
    does not lie in its folder or below, or is made of files that lie elsewhere."""
    refuse_destination(to)
    if to.exists():
        raise UserError(f"{to} exists.", hint="Name another file, or move it away.", code="exists")
    model, folder = named.resolve(), to.resolve().parent
    if not model.exists():
        raise UserError(f"There is no model {named}.", code="not_found")
    if model.suffix == SUFFIX:
        raise UserError(f"{named} is a project, whose weights lie elsewhere.", hint="Name a run, or an ONNX file.")
    if not model.is_relative_to(folder) or model == folder:
        hint = f"Write the Containerfile into {model.parent}, or into a folder above."
        raise UserError(f"{named} is not below {folder}: a container is built of files below its own.", hint=hint)
    inside = model.relative_to(folder).as_posix()
    if not NAME.fullmatch(inside) or not NAME.fullmatch(to.name):
        raise UserError(f"A Containerfile cannot hold the name {quoted(inside)}.", hint="Use letters, digits, - and _.")
    there = f"/model/{model.name}"
    listen = ["--host", "0.0.0.0", "--port", str(PORT)]
    text = TEXT.format(
        name=model.name,
        file=json.dumps(to.name, ensure_ascii=False),
        port=PORT,
        version=VERSION,
        copy=json.dumps([inside, f"{there}/" if model.is_dir() else there], ensure_ascii=False),
        command=json.dumps(["netwright-engine", "endpoint", there, *listen], ensure_ascii=False),
    )
    try:
        write_atomically(to, text.encode())
    except OSError as error:
        raise not_written(to, error) from error
