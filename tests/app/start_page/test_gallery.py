"""What the start page offers, and that every shipped file can be opened."""

import json
from pathlib import Path

import pytest

from netwright.app.documents import EXAMPLES, TEMPLATES
from netwright.app.start_page import gallery
from netwright.app.start_page.gallery import GalleryEntry
from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load

INDEX = json.loads(gallery.INDEX.read_text(encoding="utf-8"))
SHIPPED = gallery.examples() + gallery.templates()


@pytest.mark.parametrize("entry", SHIPPED, ids=lambda entry: entry.path.stem)
def test_every_shipped_file_loads_without_notices(entry: GalleryEntry) -> None:
    opened = load(entry.path)
    assert opened.notices == ()
    assert opened.project.network.layers


def test_the_index_has_words_for_every_shipped_file() -> None:
    for section, folder in (("examples", EXAMPLES), ("templates", TEMPLATES)):
        rows = INDEX[section]
        names = [row["name"] for row in rows]
        assert len(set(names)) == len(names)
        assert {path.stem for path in folder.glob("*.netwright")} <= set(names)
        assert all(row["title"] and row["source"] for row in rows)
        assert all(20 < len(row["description"]) <= 58 and row["description"].endswith(".") for row in rows), (
            "a description has two lines on a card"
        )


def test_there_are_ten_examples_and_more() -> None:
    assert len(gallery.examples()) >= 10


def test_the_templates_are_named() -> None:
    names = (
        "alexnet vgg16 googlenet resnet18 resnet50 resnet101 squeezenet1_1 mobilenet_v2 densenet121 efficientnet_b0 "
        "unet vit_b_16 gpt_small lstm_classifier narx lstm_forecaster tcn_forecaster seq2seq conv1d_signals "
        "autoencoder mlp airbench94"
    )
    assert {row["name"] for row in INDEX["templates"]} == set(names.split())


def test_files_without_words_are_offered_and_words_without_a_file_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("resnet18", "mine"):
        (tmp_path / f"{name}.netwright").write_text("{}")
    monkeypatch.setattr(gallery, "TEMPLATES", tmp_path)
    assert [entry.title for entry in gallery.templates()] == ["ResNet-18", "mine"]
    monkeypatch.setattr(gallery, "INDEX", tmp_path / "none.json")
    assert [entry.title for entry in gallery.templates()] == ["mine", "resnet18"]


def test_entries_are_found_by_words_in_any_order() -> None:
    entry = GalleryEntry(
        path=Path("vit_b_16.netwright"), title="ViT-B/16", description="Image patches.", source="Dosovitskiy"
    )
    for search in ("", "vit", "vit b 16", "PATCHES image", "dosov"):
        assert entry.is_found_by(search)
    assert not entry.is_found_by("vit text")


def test_recent_files_say_where_they_are(tmp_path: Path) -> None:
    found = gallery.recent([tmp_path / "net.netwright", Path.home() / "sub" / "x.netwright"])
    assert [entry.description for entry in found] == [str(tmp_path), "~/sub"]


def test_a_template_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "TEMPLATES", tmp_path)
    with pytest.raises(UserError, match=r"no template resnet.*No templates are installed"):
        gallery.template("resnet")
    (tmp_path / "resnet18.netwright").write_text("{}")
    assert gallery.template("resnet18") == tmp_path / "resnet18.netwright"
    with pytest.raises(UserError, match=r"no template resnet81.*Did you mean.*resnet18"):
        gallery.template("resnet81")
