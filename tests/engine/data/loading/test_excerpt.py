"""Samples of the beginning of data, of every kind that has one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.engine.data.loading.excerpt import FILES, ROWS, excerpt_of, first_samples
from netwright.engine.project.data import DataOptions
from tests.engine.data.sources.test_audio_reader import write as write_sound

Made = tuple[dict[str, Any], str, str, int]
"""Options, the text that says what is shown, the kind of samples, and the first label or cell."""


def table(folder: Path) -> Made:
    rows = "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(3 * ROWS))
    (folder / "t.csv").write_text(f"x,y,kind\n{rows}")
    return {"source": "table", "path": "t.csv"}, f"the first {ROWS} rows", "rows", 20


def parquet(folder: Path) -> Made:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    write_table(pa.table({"x": np.arange(999.0), "kind": ["u", "v", "w"] * 333}), folder / "t.parquet")
    return {"source": "table", "path": "t.parquet"}, f"the first {ROWS} rows", "rows", 20


def series(folder: Path) -> Made:
    (folder / "s.csv").write_text("load,hour\n" + "".join(f"{i % 7},{i % 24}\n" for i in range(3000)))
    return {"source": "series", "path": "s.csv", "response": "load"}, "the first 1,000 rows", "series", 24


def long_table(folder: Path) -> Made:
    rows = "".join(f"{i // 20},{i % 20},{'ab'[i // 20 % 2]}\n" for i in range(8000))
    (folder / "s.csv").write_text(f"id,x,kind\n{rows}")
    options = {"source": "sequences", "path": "s.csv", "id_column": "id", "response": "kind"}
    return options, "the first 5,000 rows", "series", 24


def listed(folder: Path) -> Made:
    for number in range(FILES + 12):
        (folder / "in" / f"{number}.csv").parent.mkdir(exist_ok=True)
        (folder / "in" / f"{number}.csv").write_text("x\n" + f"{number}\n" * 4)
    rows = "".join(f"in/{number}.csv,{'ab'[number % 2]}\n" for number in range(FILES + 12))
    (folder / "list.csv").write_text(f"file,kind\n{rows}")
    return {"source": "sequences", "path": "list.csv", "response": "kind"}, f"the first {FILES} rows", "series", 24


def pictures(folder: Path) -> Made:
    for place in ("cat", "dog/old"):
        (folder / "pets" / place).mkdir(parents=True)
        for number in range(3):
            Image.new("L", (6, 5), number).save(folder / "pets" / place / f"{number}.png")
    options = {"source": "images", "path": "pets", "inner_folders": "class", "excluded_files": ("cat/1.png",)}
    return options, "the first images of each folder", "pictures", 5


def masks(folder: Path) -> Made:
    for place in ("images", "masks"):
        (folder / place).mkdir()
        for number in range(FILES):
            Image.new("L", (6, 5), number % 2).save(folder / place / f"{number:02}.png")
    options = {"source": "images", "path": "images", "masks": "masks"}
    return options, f"the first {FILES // 2} images", "pictures", 24


def labels(folder: Path) -> Made:
    (folder / "images").mkdir()
    for number in range(4):
        Image.new("L", (6, 5), number).save(folder / "images" / f"{number}.png")
    (folder / "labels.csv").write_text("file,kind\n0.png,a\n1.png,b\n2.png,a\n")
    options = {"source": "images", "path": "images", "labels": "labels.csv"}
    return options, "the first 3 images of the table", "pictures", 3


def sounds(folder: Path) -> Made:
    for place in ("yes", "no"):
        (folder / "words" / place).mkdir(parents=True)
        for number in range(2):
            write_sound(folder / "words" / place / f"{number}.wav", np.zeros(800, np.float32))
    return {"source": "audio", "path": "words"}, "the first sounds of each folder", "pictures", 4


def text(folder: Path) -> Made:
    (folder / "book.txt").write_text("It was the best of times.\n" * 20_000, encoding="utf-16")
    options = {"source": "text", "path": "book.txt", "text_encoding": "utf-16"}
    return options, "the first 199,992 characters", "rows", 1


def texts(folder: Path) -> Made:
    for place in ("ham", "spam"):
        (folder / "mails" / place).mkdir(parents=True)
        (folder / "mails" / place / "1.txt").write_text(f"one {place} of many")
    return {"source": "text", "path": "mails"}, "the first texts of each folder", "rows", 2


def arrays(folder: Path) -> Made:
    x = np.arange(500 * 12, dtype=np.float32).reshape(500, 1, 3, 4)
    y = np.arange(500) % 2
    np.savez_compressed(folder / "a.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    return {"source": "arrays", "path": "a.npz", "split": "folders"}, f"the first {ROWS} samples", "pictures", 24


KINDS = (table, parquet, series, long_table, listed, pictures, masks, labels, sounds, text, texts, arrays)


@pytest.mark.parametrize("make", KINDS, ids=[make.__name__ for make in KINDS])
def test_the_beginning_of_every_kind(make: Any, tmp_path: Path) -> None:
    options, said, kind, count = make(tmp_path)
    answer = first_samples(DataOptions().replace(**options), tmp_path, tmp_path / "out", 24)
    assert answer["text"] == said
    assert len(answer[kind]) == count
    if kind != "rows":
        assert all(sample["label"] and not sample["split"] for sample in answer[kind])


def test_rows_of_one_class_are_shown_as_they_stand(tmp_path: Path) -> None:
    rows = "".join(f'{i},"{kind}, of many"\n' for kind in "ab" for i in range(2 * ROWS))
    (tmp_path / "t.csv").write_text(f"x,kind\n{rows}")
    answer = first_samples(DataOptions(source="table", path="t.csv"), tmp_path, tmp_path / "out", 24)
    assert answer["rows"][1] == ["1", "a, of many"]
    assert [column["name"] for column in answer["columns"]] == ["x", "kind"]


@pytest.mark.parametrize("content", ["x,y\n1,2\n3,4\n", 'x,y\n"1,2\n' + "3,4\n" * 900, "x,y\n\0\xff" * 900, "\n" * 900])
def test_data_that_is_short_or_strange_has_no_beginning(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content, encoding="latin-1")
    assert first_samples(DataOptions(source="table", path="t.csv"), tmp_path, tmp_path / "out", 24) == {}


def test_files_left_out_are_not_linked_and_none_is_removed(tmp_path: Path) -> None:
    options, *_ = pictures(tmp_path)
    (tmp_path / "kept.png").write_bytes(b"kept")
    names = ("cat/0.png", "../../kept.png", "../../../kept.png", str(tmp_path / "kept.png"))
    (tmp_path / "out" / "room").mkdir(parents=True)
    found = excerpt_of(
        DataOptions().replace(**{**options, "excluded_files": names}), tmp_path, tmp_path / "out" / "room"
    )
    assert found is not None
    assert sorted(path.name for path in (found.path / "cat").iterdir()) == ["1.png", "2.png"]
    assert (tmp_path / "kept.png").read_bytes() == b"kept"


def test_links_stay_in_the_folder_of_the_excerpt(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "secret.csv").write_text("x\n1\n2\n")
    (tmp_path / "data" / "list.csv").write_text("file,kind\n" + "../secret.csv,a\n" * 60)
    (tmp_path / "room").mkdir()
    excerpt_of(DataOptions(source="sequences", path="data/list.csv"), tmp_path, tmp_path / "room")
    assert [path.name for path in (tmp_path / "room").rglob("*")] == ["list.csv"]
