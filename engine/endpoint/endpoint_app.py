"""The application of an endpoint: its paths, and what they answer."""

import asyncio
import base64
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import printable
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.version import SCHEMA_VERSION, VERSION
from netwright.engine.data.loading.apply_preparation import expected_of
from netwright.engine.endpoint.guard import OPEN, Guard, Limits, RefusedRequest, error_body
from netwright.engine.endpoint.request_schema import body_schema, complete, responses
from netwright.engine.endpoint.served_model import Rows, ServedModel
from netwright.engine.endpoint.traffic import Traffic

PAGE = Path(__file__).with_name("try_page.html")
SMALL_BYTES = 2**16
"""Size of a body up to which it is read by the event loop itself."""
READERS = 4
"""Requests whose files are read at once."""
MOST_FILES = 256
MOST_NAME = 200


def application(model: ServedModel, token: str, limits: Limits) -> Guard:
    """Return the application of ASGI for a model."""
    app = FastAPI(title=model.name, version=VERSION, openapi_url=None, docs_url=None, redoc_url=None)
    traffic, readers = Traffic(), ThreadPoolExecutor(READERS, "files")
    page, policy = _page()

    @app.get("/", response_class=HTMLResponse, summary="A page to try the model")
    async def try_page() -> Response:
        headers = {"content-security-policy": policy, "referrer-policy": "no-referrer"}
        return HTMLResponse(page, headers=headers)

    @app.get("/health", summary="Whether the endpoint works")
    async def health() -> Response:
        state = {"status": "failed"} if model.failure else {"status": "ok"}
        return _json(state, 503 if model.failure else 200)

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counts, in the text format of Prometheus")
    async def metrics() -> Response:
        return PlainTextResponse(traffic.text(model.batcher), media_type="text/plain; version=0.0.4")

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return _json(complete(app.openapi(), model.record, takes_json=model.takes_json, open_paths=OPEN))

    @app.post(
        "/predict",
        summary="The answers of the model",
        response_class=Response,
        openapi_extra={"requestBody": body_schema(model.record, takes_json=model.takes_json)},
        responses=dict(responses()),  # type: ignore[arg-type]  # its values are dictionaries
    )
    async def predict(
        request: Request, top: Annotated[int, Query(ge=1, le=1000, description="Number of classes")] = 5
    ) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            work = await _of_files(model, request, top, limits.time_s)
            answers = await asyncio.get_running_loop().run_in_executor(readers, work)
        elif kind == "application/json" and model.takes_json:
            answers = await model.answer_samples(await _samples(request), top)
        else:
            raise _other_form(model, printable(kind[:MOST_NAME]) or "of no type")
        if all("error" in answer for answer in answers):
            raise UserError(answers[0]["error"])
        head = {"schema_version": SCHEMA_VERSION, "command": "predict", "path": model.name}
        return _json(to_json({**head, "predictions": answers}))

    _add_refusals(app)
    return Guard(app, token, limits, traffic)


def _add_refusals(app: FastAPI) -> None:
    """Answer what is refused in words, in the shape of the errors of `--json`."""

    @app.exception_handler(UserError)
    async def unusable(_: Request, error: UserError) -> Response:
        return _error(422, error.code, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return _error(422, "usage", f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")

    @app.exception_handler(RefusedRequest)
    async def refused(_: Request, error: RefusedRequest) -> Response:
        return _error(error.status, error.code, str(error))

    @app.exception_handler(HTTPException)
    async def not_here(request: Request, error: HTTPException) -> Response:
        code = "not_found" if error.status_code == 404 else "usage"
        words = f"{request.method} {printable(request.url.path[:MOST_NAME])}: {error.detail}."
        return _error(error.status_code, code, words)

    @app.exception_handler(Exception)
    async def defect(_: Request, error: Exception) -> Response:
        return _error(500, "defect", "The network could not be computed. What went wrong is printed by the endpoint.")


def _other_form(model: ServedModel, kind: str) -> RefusedRequest:
    forms = "files in a form (multipart/form-data)"
    forms = f"JSON (application/json), or {forms}" if model.takes_json else forms
    message = f"The body is {kind}. Send {expected_of(model.record)} as {forms}."
    return RefusedRequest(415, "invalid_input", message)


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value).encode(), status, media_type="application/json")


def _error(status: int, code: str, message: str) -> Response:
    return Response(error_body(code, message), status, media_type="application/json")


async def _samples(request: Request) -> Sequence[Any]:
    """Return the samples of a body in JSON. Raises `RefusedRequest` for another one."""
    body = await request.body()
    try:
        content = json.loads(body) if len(body) <= SMALL_BYTES else await asyncio.to_thread(json.loads, body)
    except (ValueError, RecursionError):
        raise RefusedRequest(400, "invalid_input", "The body is no JSON.") from None
    samples = content.get("samples") if isinstance(content, dict) else None
    if not isinstance(samples, list) or not samples:
        message = 'The body has no samples. Expected an object with a list of them: {"samples": [...]}.'
        raise RefusedRequest(422, "invalid_input", message)
    return samples


async def _of_files(model: ServedModel, request: Request, top: int, patience_s: float) -> Callable[[], Rows]:
    """Return the function that answers uploaded files in a thread: they lie in a folder of their own until then.
    Raises `RefusedRequest` for a form without files."""
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FILES)
    except HTTPException as error:
        message = f"The form cannot be read: {str(error.detail).rstrip('.')}."
        raise RefusedRequest(400, "invalid_input", message) from None
    uploads = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
    if not uploads:
        message = f"The form has no files called 'file'. Expected {expected_of(model.record)}."
        raise RefusedRequest(422, "invalid_input", message)
    contents = [(printable((upload.filename or "file")[-MOST_NAME:]), await upload.read()) for upload in uploads]
    await form.close()
    loop = asyncio.get_running_loop()

    def answers() -> Rows:
        with tempfile.TemporaryDirectory(prefix="netwright-endpoint-") as folder:
            files = []
            for number, (name, content) in enumerate(contents):
                suffix = re.search(r"\.[A-Za-z0-9]{1,10}$", name)
                path = Path(folder, f"{number:04d}{suffix[0].lower() if suffix else ''}")
                path.write_bytes(content)
                files.append((path, name))
            return model.answer_files(files, top, loop, patience_s)

    return answers


def _page() -> tuple[str, str]:
    """Return the page to try the model, and the policy that lets it do what it holds and nothing else."""
    text = PAGE.read_text(encoding="utf-8")
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
        for part in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL)
    ]
    style, script = hashes
    inside = f"script-src {script}; style-src {style}; img-src blob:; connect-src 'self'"
    return text, f"default-src 'none'; {inside}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
