"""The report of a run: one file, well-formed, that escapes what strangers wrote and says what is missing."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from netwright.engine.analysis.report_results import results
from netwright.engine.analysis.report_samples import thumbnails
from netwright.engine.cli.main import main
from netwright.engine.drawing.report_page import VOID, Html, element, table
from netwright.engine.project.project import Project
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import Done, train

HOSTILE = "<script>alert(1)</script>"
DRAWN = ("path", "rect", "circle")
"""Elements of SVG that end in `/>`."""


class Page(HTMLParser):
    """Reads a page, and fails where its elements are not nested as they end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in DRAWN
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run on small images of two classes, of which one has a hostile name."""
    folder = tmp_path_factory.mktemp("reported")
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2, 120)
    images = (generator.random((120, 1, 4, 4)) + labels[:, None, None, None]).astype(np.float32)
    names = np.array([HOSTILE, 'b & "c"'])
    np.savez(folder / "a.npz", x=images, y=names[labels])
    network = chain(
        layer("image_input", channels=1, size=(4, 4)),
        layer("conv2d", filters=2),
        layer("fully_connected", outputs=2),
        layer("softmax"),
    )
    project = Project(network)
    return train(
        replace(
            project,
            data=project.data.replace(source="arrays", path=str(folder / "a.npz")),
            training=project.training.replace(max_epochs=3, solver="adam", mini_batch_size=16),
            environment=project.environment.replace(target="cpu", threads=1),
        ),
        folder / "run",
    )


def test_it_has_everything_in_one_well_formed_file(
    done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, to = done.folder.path, tmp_path / "a.html"
    assert main(["note", str(run), HOSTILE]) == 0
    capsys.readouterr()
    assert main(["report", str(run), "-o", str(to), "--json"]) == 0
    told = checked_output(capsys.readouterr().out)
    assert (told["split"], told["has_evaluation"], told["missing"]) == ("test", True, "")
    text = to.read_text()
    assert (told["bytes"], HOSTILE in text) == (to.stat().st_size, False)
    page = Page(text)
    assert "script" not in page.names
    assert page.names.count("svg") >= 5, "loss, accuracy, confusions, calibration, network"
    assert page.links
    assert all(link.startswith("data:image/png;base64,") for link in page.links)
    assert not re.search(r"url\(|@import|http://(?!www\.w3\.org/2000/svg)|https://", text)
    said = " ".join(page.texts)
    for wanted in (
        HOSTILE,  # as a text
        "Confusion matrix",
        "Worst samples",
        "training.mini_batch_size",
        "weight 2 × 1 × 3 × 3, bias 2",
        done.folder.read_info().project_sha256,
        done.folder.read_info().versions["torch"],
    ):
        assert wanted in said
    accuracy = done.result["test"]["accuracy"]
    assert f"{100 * accuracy:.1f} %" in page.texts


def test_evaluate_writes_it_as_well(done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "b.html"
    arguments = ["evaluate", str(done.folder.path), "--split", "validation", "--html", str(to), "--json"]
    assert main(arguments) == 0
    assert checked_output(capsys.readouterr().out)["split"] == "validation"
    assert any("samples of the validation split" in one for one in Page(to.read_text()).texts)


def test_without_data_the_rest_is_reported(done: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, data = done.folder.path, done.folder.path.parent / "a.npz"
    away = data.rename(data.with_suffix(".away"))
    try:
        to = tmp_path / "c.html"
        assert main(["report", str(run), "-o", str(to), "--json"]) == 0
        told = checked_output(capsys.readouterr().out)
        assert not told["has_evaluation"]
        assert "a.npz" in told["missing"]
        page = Page(to.read_text())
        assert any("There is no evaluation" in one for one in page.texts)
        assert "Worst samples" not in page.texts
        assert main(["report", str(run), "-o", str(to), "--split", "test"]) == 2, "what was asked for cannot be had"
    finally:
        away.rename(data)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "a.pdf"), "a report ends in .html or .htm"),
        (("-o", "missing/a.html"), "The folder missing does not exist."),
    ],
)
def test_what_cannot_be_written_is_refused(
    done: Done, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(done.folder.path), *arguments]) == 2
    assert said in capsys.readouterr().err


def test_what_is_stored_with_the_network_is_said() -> None:
    target = {"name": "softmax_1", "stored": {"thresholds": {"a<b": 0.25}, "temperature": 1.5}}
    shown = {"split": "test", "samples": 3, "weights": "best", "notes": (), "loss": 0.5, "metrics": {}}
    text = "".join(results({**shown, "targets": [target]}, {}))
    assert "Stored with the network, applied by predict: a&lt;b from 0.25 on; temperature 1.5 (in exports too" in text
    plain = {"name": "softmax_1", "stored": {"thresholds": {}, "temperature": 1.0}}
    assert "Stored" not in "".join(results({**shown, "targets": [plain]}, {}))


def test_elements_escape_what_is_no_html() -> None:
    cell = element("td", "<&>", Html("<br>"), title='"')
    assert cell == '<td title="&quot;">&lt;&amp;&gt;<br></td>'
    assert "<td>&lt;i&gt;</td>" in table(("a",), [("<i>",)])


def test_thumbnails_share_black_and_white() -> None:
    from io import BytesIO

    from PIL import Image

    from netwright.engine.core.types import image
    from netwright.engine.data.loading.loaded import LoadedData
    from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of

    given = InputInfo("x", image(1, 2, 2), span=(0.0, 10.0))
    facts = DatasetInfo((given,), {}, classes_of("a", "b"))
    images = np.array([[[[0, 5], [10, 20]]], [[[10, 10], [10, 10]]]], np.float32)
    data = LoadedData(facts, (images,), (None,), (np.zeros(2),), {})
    first, second = (np.asarray(Image.open(BytesIO(png))) for png in thumbnails(data, [0, 1]))
    assert first.tolist() == [[0, 128], [255, 255]]
    assert set(second.flat) == {255}
