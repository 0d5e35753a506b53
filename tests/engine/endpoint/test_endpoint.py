"""Endpoints as their clients have them: real processes on loopback, asked over HTTP."""

import csv
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points, metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.core.errors import UserError
from netwright.engine.endpoint.container_file import write_container
from tests import warm
from tests.docs_blocks import ROOT, blocks
from tests.journeys.journey_files import labelled_texts

PATIENCE_S = 120
COMMAND = [sys.executable, "-m", "netwright.engine", "endpoint"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
ROW = {"area": 80, "facing": "north"}


class Endpoint:
    """A process that serves a model, and a client of it. One with an interpreter of its own takes seconds to start."""

    def __init__(self, folder: Path, *words: str, is_fresh: bool = False) -> None:
        self.process: subprocess.Popen[str] | warm.Process
        words = (*words, "--port", "0")
        if is_fresh:
            self.process = subprocess.Popen(
                [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
            )
        else:
            self.process = warm.Process(["endpoint", *words], cwd=folder, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.lines: list[str] = []
        while "ends" not in (line := self.process.stdout.readline()):
            assert line, "it has ended"
            self.lines.append(line.strip())
        match = re.search(r"127\.0\.0\.1:(\d+)", self.lines[0])
        assert match is not None
        self.port = int(match[1])
        self.token = self.lines[1].partition(": ")[2]

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def ask(
        self, path: str, body: bytes | Iterable[bytes] | None = None, token: str | None = None, **headers: str
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and text of an answer."""
        connection = self.connection()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named["Authorization"] = f"Bearer {self.token if token is None else token}"
        connection.request("POST" if body is not None else "GET", path, body, named)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def predict(self, *samples: Any, path: str = "/predict") -> tuple[int, Any]:
        body = json.dumps({"samples": samples}).encode()
        status, _, text = self.ask(path, body, Content_Type="application/json")
        return status, json.loads(text)

    def upload(self, *files: tuple[str, bytes]) -> tuple[int, Any]:
        edge = uuid.uuid4().hex
        parts = [
            f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + data
            for name, data in files
        ]
        body = b"\r\n".join([*parts, f"--{edge}--\r\n".encode()])
        status, _, text = self.ask("/predict", body, Content_Type=f"multipart/form-data; boundary={edge}")
        return status, json.loads(text)

    def count(self, name: str) -> float:
        match = re.search(rf"^{re.escape(name)} (\S+)$", self.ask("/metrics")[2], re.MULTILINE)
        return float(match[1]) if match else 0.0

    def wait_for_requests(self, number: int) -> None:
        """Wait until so many requests are in flight."""
        while self.count("netwright_requests_in_flight") != number:
            assert self.process.poll() is None

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        if isinstance(self.process, warm.Process):
            self.process.close()
        return code


def engine(folder: Path, line: str) -> str:
    done = warm.run(shlex.split(line), cwd=folder, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs on a table, on pictures and on texts, the first two as ONNX files, too."""
    warm.server().load("netwright.engine.endpoint.endpoint_server")
    folder = tmp_path_factory.mktemp("models")
    with (folder / "houses.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("area", "facing", "price"))
        rows.writerows((n % 90 + 20, ("north", "south", "west")[n % 3], 3 * (n % 90)) for n in range(120))
    labelled_texts(folder / "topics.csv", per_class=30)
    for name in ("houses", "topics"):
        engine(folder, f"new --data {name}.csv")
        engine(folder, f"train {name}.netwright --set training.max_epochs=1 --run-dir runs/{name}")
    engine(folder, "new digits")
    engine(folder, "train digits.netwright --set training.max_epochs=2 --run-dir runs/digits")
    for name in ("houses", "digits"):
        engine(folder, f"export runs/{name} -o {name}.onnx")
    with np.load(ROOT / "resources" / "data" / "digits.npz", allow_pickle=False) as file:
        for number in range(3):
            Image.fromarray((file["images"][number] * 15.9).astype(np.uint8)).save(folder / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def houses(world: Path) -> Iterator[Endpoint]:
    """One with an interpreter of its own: it has no torch."""
    endpoint = Endpoint(world, "houses.onnx", "--max-wait", "300", is_fresh=True)
    yield endpoint
    assert endpoint.stop(signal.SIGTERM) == 0


@pytest.fixture(scope="module")
def digits(world: Path) -> Iterator[Endpoint]:
    """One that takes a request at a time, and waits for more."""
    endpoint = Endpoint(world, "digits.onnx", "--max-body", "1", "--queue", "1", "--max-wait", "500")
    yield endpoint
    assert endpoint.stop() == 0


def libraries(endpoint: Endpoint) -> str:
    return Path(f"/proc/{endpoint.process.pid}/maps").read_text()


# ---- answers ----


def test_rows_are_answered_as_predict_does_and_without_torch(world: Path, houses: Endpoint) -> None:
    rows = [{"area": 20 + n, "facing": ("north", "south", "west")[n % 3]} for n in range(6)]
    status, said = houses.predict(*rows)
    assert status == 200
    assert (said["command"], said["path"]) == ("predict", "houses.onnx")
    known = json.loads(engine(world, "predict houses.onnx houses.csv --json"))["predictions"][:6]
    for one, other in zip(said["predictions"], known, strict=True):
        assert one["outputs"][0]["name"] == "price"
        assert one["outputs"][0]["value"] == pytest.approx(other["outputs"][0]["value"], rel=1e-4)
    assert [one["sample"] for one in said["predictions"]] == list("012345")
    status, said = houses.upload(("C:\\my\\houses.csv", (world / "houses.csv").read_bytes()))
    assert status == 200
    assert len(said["predictions"]) == 120
    assert said["predictions"][0]["sample"].endswith("houses.csv:2")
    assert "onnxruntime" in libraries(houses)
    assert "libtorch" not in libraries(houses)


def test_what_a_row_lacks_and_what_is_not_known_is_said(houses: Endpoint) -> None:
    status, said = houses.predict({**ROW, "facing": "nowhere"})
    assert status == 200
    assert "nowhere" in said["predictions"][0]["warnings"][0]
    for sample, words in (
        ({"area": 80}, 'no column "facing"'),
        ({**ROW, "area": "large"}, "area"),
        ({**ROW, "area": [1]}, "area"),
        ([80, "north"], "Sample 0"),
    ):
        status, said = houses.predict(ROW, sample) if isinstance(sample, dict) else houses.predict(sample)
        assert status == 422
        assert words in said["error"]["message"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"no json", "application/json", 400),
        (b"[" * 50_000, "application/json", 400),
        (b'{"samples": []}', "application/json", 422),
        (b'{"samples": 3}', "application/json", 422),
        (b"area,facing", "text/csv", 415),
        (b"nothing", "multipart/form-data", 400),
        (b"nothing", "multipart/form-data; boundary=x", 400),
        (b"--x--\r\n", "multipart/form-data; boundary=x", 422),
    ],
)
def test_other_bodies_are_refused_in_words(houses: Endpoint, body: bytes, kind: str, status: int) -> None:
    answered, _, text = houses.ask("/predict", body, Content_Type=kind)
    assert answered == status, text
    assert json.loads(text)["error"]["message"].endswith((".", "}."))


def test_fifty_requests_at_once_are_computed_together(houses: Endpoint) -> None:
    (alone,) = houses.predict(ROW)[1]["predictions"]
    samples, batches = (houses.count(f"netwright_{name}_total") for name in ("samples", "batches"))
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda n: houses.predict({**ROW, "area": 80 + n % 2}), range(50)))
    assert {status for status, _ in answers} == {200}
    values = [said["predictions"][0]["outputs"][0]["value"] for _, said in answers]
    assert values[::2] == pytest.approx([alone["outputs"][0]["value"]] * 25, rel=1e-5)
    assert len({round(value, 3) for value in values}) == 2
    assert houses.count("netwright_samples_total") - samples == 50
    assert houses.count("netwright_batches_total") - batches < 50


def test_one_bad_request_of_a_batch_is_refused_alone(houses: Endpoint) -> None:
    with ThreadPoolExecutor(6) as pool:
        rows: list[Any] = [ROW, {"area": 1}, ROW, {**ROW, "area": "x"}, ROW, ROW]
        assert [status for status, _ in pool.map(houses.predict, rows)] == [200, 422, 200, 422, 200, 200]


def test_pictures_and_arrays_are_answered(world: Path, digits: Endpoint) -> None:
    files = [(f"{number}.png", (world / f"{number}.png").read_bytes()) for number in range(3)]
    status, said = digits.upload(*files, ("broken.png", b"nothing"))
    assert status == 200
    *good, bad = said["predictions"]
    known = json.loads(engine(world, "predict digits.onnx 0.png 1.png 2.png --json"))["predictions"]
    for one, other in zip(good, known, strict=True):
        assert one["outputs"][0]["class"] == other["outputs"][0]["class"]
        assert one["outputs"][0]["top"][0]["probability"] == pytest.approx(
            other["outputs"][0]["top"][0]["probability"], abs=1e-5
        )
    assert [one["sample"] for one in said["predictions"]] == ["0.png", "1.png", "2.png", "broken.png"]
    assert bad["error"].startswith("broken.png cannot be used")
    status, said = digits.upload(("broken.png", b"nothing"))
    assert (status, said["error"]["message"]) == (422, bad["error"])
    zeros = [[[0.0] * 8] * 8]
    status, said = digits.predict(zeros, zeros, path="/predict?top=2")
    assert status == 200
    assert [len(one["outputs"][0]["top"]) for one in said["predictions"]] == [2, 2]
    for wrong, words in (([[0.0] * 8] * 7, "1 × 8 × 8"), ([[1], [1, 2]], "one shape"), (["a"], "lists of numbers")):
        status, said = digits.predict(wrong)
        assert status == 422
        assert words in said["error"]["message"]
    assert digits.ask("/predict?top=0", b"{}", Content_Type="application/json")[0] == 422


def test_texts_are_answered_by_a_run(world: Path) -> None:
    endpoint = Endpoint(world, "runs/topics")
    try:
        samples = ["the rain of day 3", "the coach"]
        status, said = endpoint.predict(*samples)
        assert status == 200
        (world / "lines.txt").write_text("\n".join(samples))
        known = json.loads(engine(world, "predict runs/topics lines.txt --json"))["predictions"]
        for one, other in zip(said["predictions"], known, strict=True):
            assert one["outputs"][0]["class"] == other["outputs"][0]["class"]
            chances = [each["outputs"][0]["top"][0]["probability"] for each in (one, other)]
            assert chances[0] == pytest.approx(chances[1], abs=1e-5)
        assert endpoint.predict(3)[0] == 422
        schema = json.loads(endpoint.ask("/openapi.json")[2])["components"]["schemas"]["Sample"]
        assert schema == {"type": "string"}
        assert "libtorch" in libraries(endpoint)
    finally:
        assert endpoint.stop() == 0


# ---- what it says of itself ----


def test_openapi_has_the_columns(houses: Endpoint, digits: Endpoint) -> None:
    document = json.loads(houses.ask("/openapi.json")[2])
    sample = document["components"]["schemas"]["Sample"]
    assert sample["required"] == ["area", "facing"]
    assert sample["properties"]["area"]["type"] == "integer"
    assert sample["properties"]["facing"]["anyOf"][0] == {"enum": ["north", "south", "west"]}
    assert document["paths"]["/predict"]["post"]["security"] == [{"token": []}]
    assert document["paths"]["/health"]["get"]["security"] == []
    assert set(document["paths"]["/predict"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "multipart/form-data",
    }
    array = json.loads(digits.ask("/openapi.json")[2])["components"]["schemas"]["Sample"]
    assert (array["minItems"], array["items"]["maxItems"], array["description"]) == (
        1,
        8,
        "Numbers of the shape 1 × 8 × 8.",
    )


def test_the_token_is_asked_for(houses: Endpoint) -> None:
    assert len(houses.token) >= 32
    for path in ("/predict", "/openapi.json", "/metrics", "/docs", "/nothing"):
        for token in ("", "wrong", houses.token[:-1], houses.token + "x"):
            status, headers, text = houses.ask(path, token=token)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
            assert "Authorization: Bearer" in text
            assert "houses" not in text
    assert houses.ask("/nothing")[0] == 404
    assert houses.ask("/docs")[0] == 404
    assert houses.ask("/predict")[0] == 405
    status, _, text = houses.ask("/health", token="")
    assert (status, json.loads(text)) == (200, {"status": "ok"})


def test_the_page_loads_nothing_from_elsewhere(houses: Endpoint) -> None:
    status, headers, page = houses.ask("/", token="")
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert not re.search(r"https?://|//[a-z]+\.|innerHTML|\bsrc=|\bhref=", page)
    assert "houses" not in page


def opened(endpoint: Endpoint, *words: str, token: str | None = None) -> Any:
    """Open the page, type or drop something, and return its texts; skipped where there is no node."""
    if (node := shutil.which("node")) is None:
        pytest.skip("the script of the page is run by node")
    address = f"http://127.0.0.1:{endpoint.port}/"
    command = [node, str(Path(__file__).with_name("try_page.js")), address, token or endpoint.token, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_asks_about_a_row(houses: Endpoint) -> None:
    page = opened(houses, "row", "area=80", "facing=north")
    assert (page["title"], page["fields"], page["drops"]) == ("houses.onnx", ["area", "facing"], False)
    assert not page["token_in_address"]
    assert page["error"] == ""
    assert page["json"]["predictions"][0]["outputs"] == houses.predict(ROW)[1]["predictions"][0]["outputs"]
    assert page["answer"].startswith("price: ")
    refused = opened(houses, "row", "area=large", "facing=north")
    assert "area" in refused["error"]
    assert (refused["answer"], refused["json"]) == ("", None)
    assert "Authorization: Bearer" in opened(houses, "row", token="wrong")["error"]


def test_a_picture_is_dropped_on_the_page(world: Path, digits: Endpoint) -> None:
    page = opened(digits, "files", str(world / "0.png"))
    assert page["drops"]
    assert page["picture"]
    top = digits.upload(("0.png", (world / "0.png").read_bytes()))[1]["predictions"][0]["outputs"][0]["top"]
    shares = [(row["class"], f"{100 * row['probability']:.1f} %") for row in top]
    assert [(row[0], row[2]) for row in page["rows"]] == shares
    several = opened(digits, "files", str(world / "0.png"), str(world / "1.png"))
    assert not several["picture"]
    assert all(name in several["answer"] for name in ("0.png", "1.png"))


def test_counts_are_told_to_prometheus(houses: Endpoint) -> None:
    name = 'netwright_requests_total{path="/predict",status="200"}'
    before = houses.count(name), houses.count("netwright_request_seconds_count")
    houses.predict(ROW)
    houses.ask("/nothing/1")
    houses.ask("/nothing/2")
    assert (houses.count(name), houses.count("netwright_request_seconds_count")) == (before[0] + 1, before[1] + 1)
    text = houses.ask("/metrics")[2]
    assert 'path="other",status="404"' in text
    assert "/nothing" not in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|[a-z_]+(\{[^{}]+\})? [0-9.e+-]+", line), line


# ---- limits ----


def test_a_large_body_is_refused(digits: Endpoint) -> None:
    body = b"x" * (3 * 2**19)
    for sent in (body, iter([body[: 2**19]] * 3)):
        status, _, text = digits.ask("/predict", sent, Content_Type="application/json")
        assert status == 413
        assert "larger than 1.0 MiB, the limit (--max-body)" in text
    assert digits.predict([[[0.0] * 8] * 8])[0] == 200


def test_more_requests_than_the_queue_holds_are_turned_away(digits: Endpoint) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: digits.predict([[[0.0] * 8] * 8]), range(8)))
    assert {status for status, _ in answers} == {200, 429}
    refusal = next(said for status, said in answers if status == 429)
    assert "the limit (--queue)" in refusal["error"]["message"]


def test_time_is_limited_and_a_closed_request_gives_up_its_turn(world: Path) -> None:
    endpoint = Endpoint(world, "houses.onnx", "--timeout", "1", "--max-wait", "10000", "--queue", "2")
    try:
        status, said = endpoint.predict(ROW)
        assert (status, said["error"]["code"]) == (504, "timeout")
        assert "the limit (--timeout)" in said["error"]["message"]
        connection = endpoint.connection()
        connection.putrequest("POST", "/predict")
        connection.putheader("Authorization", f"Bearer {endpoint.token}")
        connection.putheader("Content-Length", "10")
        connection.endheaders()
        assert connection.getresponse().status == 408
        connection.close()
    finally:
        assert endpoint.stop() == 0


def test_what_is_in_flight_is_answered_at_the_end(world: Path) -> None:
    endpoint = Endpoint(world, "houses.onnx", "--max-wait", "5000")
    body = json.dumps({"samples": [ROW]})
    headers = {"Authorization": f"Bearer {endpoint.token}", "Content-Type": "application/json"}
    gone = endpoint.connection()
    gone.request("POST", "/predict", body, headers)
    endpoint.wait_for_requests(1)
    gone.close()
    endpoint.wait_for_requests(0)  # long before its batch
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(endpoint.predict, ROW)
        endpoint.wait_for_requests(1)
        assert endpoint.stop() == 0
        assert answer.result()[0] == 200
    with pytest.raises(ConnectionRefusedError):
        endpoint.connection().connect()


# ---- the command ----


def refused(folder: Path, *words: str) -> str:
    done = warm.run(["endpoint", *words], cwd=folder, timeout=PATIENCE_S)
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_a_token_of_a_file_and_an_address_that_is_taken(world: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("short")
    assert "holds no token. Expected 16" in refused(world, "houses.onnx", "--token-file", str(token))
    assert "cannot be read" in refused(world, "houses.onnx", "--token-file", str(tmp_path / "none"))
    text = "of-a-file-and-long-enough"
    token.write_text(f"{text}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "--port" in refused(world, "houses.onnx", "--port", port, "--token-file", str(token))
    assert "whole number" in refused(world, "houses.onnx", "--port", "65536")
    assert "There is no file" in refused(world, "none.onnx", "--port", "0")
    endpoint = Endpoint(world, "houses.onnx", "--token-file", str(token))
    assert not any(text in line for line in endpoint.lines)
    assert endpoint.ask("/metrics", token=text)[0] == 200
    assert endpoint.stop() == 0


def test_a_container_is_written(world: Path, tmp_path: Path) -> None:
    engine(world, "endpoint runs/houses --container Containerfile")
    text = (world / "Containerfile").read_text()
    assert 'COPY ["runs/houses", "/model/houses/"]\n' in text
    assert 'ENTRYPOINT ["netwright-engine", "endpoint", "/model/houses", "--host", "0.0.0.0", "--port", "8000"]' in text
    assert "USER endpoint\n" in text
    assert "exists" in refused(world, "runs/houses", "--container", "Containerfile")
    assert "is not below" in refused(world, "runs/houses", "--container", str(tmp_path / "Containerfile"))
    assert "is a project" in refused(world, "houses.netwright", "--container", "Other")
    strange = tmp_path / 'a"\nRUN b.onnx'
    strange.touch()
    with pytest.raises(UserError, match="cannot hold the name"):
        write_container(strange, tmp_path / "Containerfile")


def test_the_steps_of_a_container_work_here(world: Path, tmp_path: Path) -> None:
    """But for the image that it starts from: what is installed exists, what is copied is served by its command."""
    write_container(world / "runs" / "houses", world / "Steps")
    steps = [
        line.partition(" ")[::2] for line in (world / "Steps").read_text().splitlines() if line[:1] not in ("#", "")
    ]
    assert [name for name, _ in steps][:2] == ["FROM", "RUN"]
    arguments = dict(steps)
    name, extras, version = re.findall(r'"(\w+)\[([\w,]+)\]==([\w.]+)"', steps[1][1])[0]
    package = metadata(name)
    assert version == package["Version"]
    assert {*extras.split(",")} <= {*(package.get_all("Provides-Extra") or ())}
    source, there = json.loads(arguments["COPY"])
    shutil.copytree(world / source, tmp_path / there.strip("/"))
    program, *words = json.loads(arguments["ENTRYPOINT"])
    assert program in entry_points(group="console_scripts").names
    command, model, *options = words
    assert (command, options) == ("endpoint", ["--host", "0.0.0.0", "--port", arguments["EXPOSE"]])
    endpoint = Endpoint(tmp_path, model.strip("/"))
    assert endpoint.predict(ROW)[0] == 200
    assert endpoint.stop(getattr(signal, arguments["STOPSIGNAL"])) == 0


def test_the_program_of_the_page_runs(houses: Endpoint) -> None:
    (program,) = (block.text for block in blocks(ROOT / "docs" / "endpoint.md") if block.language == "python")
    program = program.replace(":8000/", f":{houses.port}/").replace("TOKEN", houses.token)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "'name': 'price'" in done.stdout


def test_without_the_library_the_command_says_how_to_install_it(world: Path, tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError('No module named fastapi', name='fastapi')")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [*COMMAND, "houses.onnx"], cwd=world, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'Install it: pip install "netwright[endpoint]"' in done.stderr


def test_the_light_commands_do_not_import_the_libraries() -> None:
    code = "import sys; from netwright.engine.cli.commands import parser; parser(); "
    code += "from netwright.engine.endpoint import endpoint_command; "
    code += "print({'fastapi', 'uvicorn', 'torch', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
