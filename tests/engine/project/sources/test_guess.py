"""Which source a file or folder is taken for, and the reason that is given."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from netwright.engine.core.errors import UserError
from netwright.engine.project.data import DataOptions
from netwright.engine.project.sources import source_type
from netwright.engine.project.sources.guess import guesses, not_understood, with_guessed_source
from netwright.engine.project.sources.source_type import Peek
from tests.engine.data.sources.shard_files import write_shards


def files(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return folder


def test_subfolders_of_images_are_classes(tmp_path: Path) -> None:
    files(tmp_path, "cat/1.png", "cat/2.JPG", "dog/1.png", ".git/1.png", "dog/notes.txt")
    (guess,) = guesses(tmp_path)
    assert guess.source == "images"
    assert guess.reason == "2 subfolders with 3 images: one class each"


def test_runs_of_a_project_in_the_folder_are_no_class(tmp_path: Path) -> None:
    run = "runs/2030-01-02_pets"
    files(tmp_path, "cat/1.png", "dog/1.png", "pets.netwright", f"{run}/project.netwright", f"{run}/samples/1.png")
    (guess,) = guesses(tmp_path)
    assert guess.reason == "2 subfolders with 2 images: one class each"


def test_a_table_names_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('\ufeff"width";height;price;kind;city\n1;2;3;a;b\n')
    (guess,) = guesses(tmp_path / "a.csv")
    assert guess.source == "table"
    assert guess.confidence > 0.8
    assert (
        guess.reason == "The first line names 5 columns, separated by semicolons: width, height, price, kind and more"
    )


def test_a_text_of_one_column_is_rather_text_than_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello\nworld\n")
    text, table = guesses(tmp_path / "a.txt")
    assert (text.source, table.source) == ("text", "table")
    assert table.confidence < 0.5


def test_arrays_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    np.save(tmp_path / "x.npy", np.zeros(3))
    (tmp_path / "b.npz").write_bytes(b"no archive")
    assert guesses(tmp_path / "a.npz")[0].reason == "The file holds several NumPy arrays"
    assert guesses(tmp_path / "x.npy")[0].source == "arrays"
    assert guesses(tmp_path)[0].reason == "The folder holds arrays: a.npz, b.npz, x.npy"
    assert guesses(tmp_path / "b.npz") == []


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("d.safetensors", b"\x10" + b"\0" * 7 + b'{"x":', "tensors in the format safetensors"),
        ("d.h5", b"\x89HDF\r\n\x1a\n", "datasets of HDF5"),
        ("d.mat", b"MATLAB 5.0 MAT-file", "variables of MATLAB"),
        ("train-images-idx3-ubyte.gz", b"\x1f\x8b", "images or labels in the format of MNIST"),
        ("t10k-labels.idx1-ubyte", b"\0\0\x08\x01", "images or labels in the format of MNIST"),
        ("data_batch_2.bin", b"\3", "images and labels in CIFAR's binary format"),
    ],
)
def test_other_formats_of_arrays(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    guess, *_ = guesses(tmp_path / name)
    assert (guess.source, guess.reason[: len(what) + 15]) == ("arrays", f"The file holds {what}")
    assert name in guesses(tmp_path)[0].reason
    (tmp_path / name).write_bytes(b"")
    assert guesses(tmp_path / name) == []


def test_tar_files_are_shards(tmp_path: Path) -> None:
    write_shards(tmp_path, 2)
    assert guesses(tmp_path / "train-0000.tar")[0].source == "shards"
    guess, *_ = guesses(tmp_path)
    assert (guess.source, guess.reason) == ("shards", "The folder holds 2 tar files")


def test_what_no_source_reads_gives_no_guess(tmp_path: Path) -> None:
    files(tmp_path, "a.exe", "b/one.dll")
    assert guesses(tmp_path / "a.exe") == []
    assert guesses(tmp_path) == []
    with pytest.raises(UserError, match="cannot be read"):
        guesses(tmp_path / "missing")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("noise.csv", 'the file ends in ".csv", but it is no text'),
        ("noise.MD", 'the file ends in ".MD", but it is no text'),
        ("noise.parquet", 'the file ends in ".parquet", but its contents are of another kind'),
        ("noise.npz", 'the file ends in ".npz", but its contents are of another kind'),
        ("noise.png", 'the file ends in ".png", and such files are read from a folder'),
        ("noise.doc", 'the file ends in ".doc"'),
        ("noise", "the file has no suffix"),
    ],
)
def test_bytes_of_no_kind_are_refused_by_their_contents_where_the_suffix_fits(
    tmp_path: Path, name: str, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(np.random.default_rng(0).bytes(200_000))
    assert guesses(path) == []
    assert f"{path} is nothing that Netwright reads as data: {reason}. It reads: " in not_understood(path)


def test_a_look_at_a_folder_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, "a/b/c/d/e/deep.png", *(f"many/{number}.png" for number in range(30)))
    assert "a/b/c" in Peek(tmp_path).tree
    assert "a/b/c/d" not in Peek(tmp_path).tree
    monkeypatch.setattr(source_type, "MOST_ENTRIES", 10)
    peek = Peek(tmp_path)
    assert sum(map(len, peek.tree.values())) <= 10
    assert peek.is_cut


@pytest.mark.parametrize(
    ("lines", "source", "options"),
    [
        (["when,load", *(f"2024-01-0{day},{day}" for day in range(1, 9))], "series", {"time_column": "when"}),
        (["time,load", *(f"{step / 4},{step}" for step in range(9))], "series", {"time_column": "time"}),
        (["number,load", *(f"{step},{step}" for step in range(9))], "table", {}),
        (["when,load", "2024-01-05,1", "2024-01-02,1", "2024-01-09,1", "2024-01-03,1", "2024-01-03,1"], "table", {}),
        (["id,x,kind", *(f"{step // 5},{step},a" for step in range(12))], "sequences", {"id_column": "id"}),
        (["id,x,kind", *(f"{step},{step},a" for step in range(12))], "table", {"left_out": "id"}),
        (["file,kind", *(f"{step}.csv,a" for step in range(6))], "sequences", {"file_column": "file"}),
    ],
    ids=["dates", "times", "row numbers", "dates in no order", "ids", "one row per id", "files"],
)
def test_tables_of_steps_are_told_from_others(
    tmp_path: Path, lines: list[str], source: str, options: dict[str, str]
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    best = guesses(tmp_path / "a.csv")[0]
    assert (best.source, dict(best.options)) == (source, options)


def test_class_folders_of_tables_are_sequences(tmp_path: Path) -> None:
    files(tmp_path, "walk/1.csv", "walk/2.csv", "run/1.csv")
    assert guesses(tmp_path)[0].reason == "2 subfolders with 3 tables: one class each"


def test_what_a_guess_finds_inside_a_folder_is_not_replaced_by_the_folder(tmp_path: Path) -> None:
    files(tmp_path, *(f"seg/{part}/{number:03}.png" for part in ("images", "masks") for number in range(100)))
    options, said = with_guessed_source(DataOptions(path="seg", response="x"), tmp_path)
    assert (options.path, options.masks, options.response) == ("seg/images", "seg/masks", "x")
    assert "100 images in images, and a mask of the same name for each in masks" in said
    outside, _ = with_guessed_source(DataOptions(path=str(tmp_path / "seg")), tmp_path / "seg" / "images")
    assert (outside.path, outside.masks) == (".", (tmp_path / "seg" / "masks").as_posix())


def day(number: int) -> date:
    return date(2024, 1, 1) + timedelta(number)


WEEKDAYS = [moment for number in range(60) if (moment := day(number)).weekday() < 5]
TIMES = {
    "months": (["month,load", *(f"{2000 + n // 12}-{n % 12 + 1:02},{n}" for n in range(40))], {"time_column": "month"}),
    "quarters": (["q,load", *(f"{2000 + n // 4}-Q{n % 4 + 1},{n}" for n in range(40))], {"time_column": "q"}),
    "German days": (["Tag;Last", *(f"{day(n):%d.%m.%Y};{n},5" for n in range(40))], {"time_column": "Tag"}),
    "days with minutes": (["t,load", *(f"{day(n):%m/%d/%Y} 8:00,{n}" for n in range(40))], {"time_column": "t"}),
    "newest first": (["Date,Close", *(f"{day(40 - n)},{n}.5" for n in range(40))], {"time_column": "Date"}),
    "weekdays": (["Date,Close", *(f"{moment},{n}.5" for n, moment in enumerate(WEEKDAYS))], {"time_column": "Date"}),
    "time behind": (["load,when", *(f"{n},{day(n)}" for n in range(40))], {"time_column": "when"}),
    "date and time of the day": (
        ["Date;Time;Last", *(f"{day(n // 24):%d/%m/%Y};{n % 24:02}.00.00;{n},5" for n in range(60))],
        {"time_column": "Date, Time"},
    ),
    "series by time": (
        ["date,store,sales", *(f"{day(n)},{store},{n}" for n in range(20) for store in "ABC")],
        {"time_column": "date", "group_column": "store"},
    ),
    "series by id": (
        ["store_id,date,sales", *(f"{store},{day(n)},{n}" for store in (1, 2, 3) for n in range(20))],
        {"time_column": "date", "group_column": "store_id"},
    ),
    "series by two columns": (
        ["date,store,item,sold", *(f"{day(n)},{s},{i},{n}" for n in range(20) for s in "AB" for i in "xy")],
        {"time_column": "date", "group_column": "store, item"},
    ),
    "one of many series": (
        ["date,sensor,load", *(f"{day(n)},north,{n}" for n in range(30))],
        {"time_column": "date", "group_column": "sensor"},
    ),
}


@pytest.mark.parametrize("name", TIMES)
def test_time_series_as_they_are_usually_written(tmp_path: Path, name: str) -> None:
    lines, options = TIMES[name]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    best = guesses(tmp_path / "a.csv")[0]
    assert (best.source, dict(best.options)) == ("series", options)


@pytest.mark.parametrize(
    ("lines", "source"),
    [
        (["date,temperature,weather", *(f"{day(n)},{n},{('sun', 'rain')[n % 2]}" for n in range(40))], "table"),
        (["sold,rooms,price", *(f"{day(n * 37 % 50)},{n},{n * 100}" for n in range(40))], "table"),
        (["name,fare", "Futrelle Mrs. J. H. (Lily May Peel),1", *(f"Mr. N. {n},{n}" for n in range(40))], "table"),
        (["id,step,x,kind", *(f"{n // 10},{n % 10},{n},a" for n in range(60))], "sequences"),
    ],
    ids=["a class at the end", "days in no order", "one long name", "numbered steps"],
)
def test_tables_that_are_no_time_series(tmp_path: Path, lines: list[str], source: str) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    assert guesses(tmp_path / "a.csv")[0].source == source


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_table_is_told_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes("größe;preis\n1;2,5\n2;3,5\n".encode(encoding))
    guess = guesses(tmp_path / "a.csv")[0]
    assert guess.reason == "The first line names 2 columns, separated by semicolons: größe, preis"


def test_folders_of_splits_are_splits_and_no_classes(tmp_path: Path) -> None:
    files(tmp_path, *(f"{part}/{kind}/{n}.png" for part in ("train", "val", "test") for kind in "ab" for n in range(9)))
    guess = guesses(tmp_path)[0]
    assert (guess.source, dict(guess.options)) == ("images", {"split": "folders"})
    assert guess.reason == (
        "2 subfolders with 18 images: one class each, in train; the folders test, train, val are the splits"
    )
    files(tmp_path / "other", "train/a/1.wav", "train/b/1.wav", "test/1.wav", "test/2.wav")
    guess = guesses(tmp_path / "other")[0]
    assert (guess.source, dict(guess.options)) == ("audio", {"path": str(tmp_path / "other" / "train")})
    assert guess.reason.endswith("in train; test has no such classes and is not read")
    files(tmp_path / "third", "train/1.png", "test/1.png", "cat/1.png")
    assert dict(guesses(tmp_path / "third")[0].options) == {}


def test_a_column_called_label_is_the_response_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "digits.csv").write_text("Label,pixel0,pixel1\n3,0,9\n1,2,8\n")
    assert guesses(tmp_path / "digits.csv")[0].options == {"response": "Label"}
    (tmp_path / "last.csv").write_text("a,target\n3,0\n")
    (tmp_path / "two.csv").write_text("label,class,a\n3,0,1\n")
    assert all(guesses(tmp_path / name)[0].options == {} for name in ("last.csv", "two.csv"))


def test_arrays_named_after_splits_are_divided_so(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {f"{name}_{split}": np.zeros(4) for name in "xy" for split in ("train", "test")}
    np.savez(tmp_path / "a.npz", **arrays)
    np.savez(tmp_path / "b.npz", x_train=np.zeros(4), y_train=np.zeros(4))
    (tmp_path / "folder").mkdir()
    for name, array in arrays.items():
        np.save(tmp_path / "folder" / name.upper(), array)
    divided = [tmp_path / "a.npz", tmp_path / "folder", tmp_path / "folder" / "X_TRAIN.npy"]
    assert [guesses(path)[0].options for path in divided] == [{"split": "folders"}] * 3
    assert guesses(tmp_path / "b.npz")[0].options == {}


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("names", ["XTrain YTrain XTest YTest", "train_images train_labels test_images test_labels"])
def test_variables_of_matlab_may_be_divided_by_their_names(tmp_path: Path, names: str, *, is_compressed: bool) -> None:
    content = {name: np.zeros((9, 4, 2 + number)) for number, name in enumerate(names.split())}
    scipy.io.savemat(tmp_path / "a.mat", content, do_compression=is_compressed)
    assert guesses(tmp_path / "a.mat")[0].options == {"split": "folders"}
    scipy.io.savemat(tmp_path / "b.mat", {name: content[name] for name in names.split()[:2]})
    assert guesses(tmp_path / "b.mat")[0].options == {}
    (tmp_path / "c.mat").write_bytes((tmp_path / "a.mat").read_bytes()[:190])
    assert guesses(tmp_path / "c.mat")[0].source == "arrays"


def test_a_folder_with_a_table_called_train_is_that_table(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,a,target\n1,2,3\n2,3,4\n")
    (tmp_path / "test.csv").write_text("id,a\n1,2\n")
    (tmp_path / "sample_submission.csv").write_text("id,target\n1,2\n")
    options, text = with_guessed_source(DataOptions(path=str(tmp_path)), tmp_path)
    assert (options.source, Path(options.path).name, options.test_path) == ("table", "train.csv", "")
    assert "train.csv of the folder is the training data. test.csv has no column" in text
    assert options.response == "target"
    (tmp_path / "train.csv").write_text("id,lived,a,b\n1,2,3,1\n2,3,4,1\n")
    (tmp_path / "test.csv").write_text("id,a,b\n1,2,1\n")
    options, text = with_guessed_source(DataOptions(path=str(tmp_path)), tmp_path)
    assert options.response == "lived"
    assert 'test.csv has no column "lived", which is the response' in text
    (tmp_path / "train.csv").write_text("id,a,target\n1,2,3\n2,3,4\n")
    (tmp_path / "test.csv").write_text("id,a,target\n1,2,5\n")
    options, _ = with_guessed_source(DataOptions(path=str(tmp_path)), tmp_path)
    assert Path(options.test_path).name == "test.csv"


def test_an_archive_is_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "pets.zip").write_bytes(b"PK\3\4")
    assert 'the file ends in ".zip": unpack it, and choose the folder.' in not_understood(tmp_path / "pets.zip")


def test_archives_of_arrays_in_class_folders_are_refused_with_a_way_out(tmp_path: Path) -> None:
    files(tmp_path, "normal/a.npz")
    assert guesses(tmp_path) == []
    assert "Write each sequence there as a CSV table (writematrix" in not_understood(tmp_path)
    (tmp_path / "empty").mkdir()
    assert "the folder holds none of them" in not_understood(tmp_path / "empty")


def test_matrices_in_class_folders_are_sequences(tmp_path: Path) -> None:
    files(tmp_path, "normal/a.mat", "faulty/b.npy")
    assert guesses(tmp_path)[0].reason == "2 subfolders with 2 arrays: one class each"


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["id,diagnosis,size,none", "17,M,1.5,", "12,B,2.5,", "30,M,3,", "9,B,4,"], ("diagnosis", "id")),
        (["PassengerId,Survived,Embarked", "1,0,S", "2,1,Q", "3,1,S", "4,0,Q"], ("Survived", "PassengerId")),
        (["size,kind,none", "1.5,M,", "2.5,B,"], ("kind", "")),  # the last column is empty
        (["mpg,name", *(f"{i % 9}.5,car {i}" for i in range(30))], ("mpg", "")),  # the last column names the rows
        ([f"{i % 3},{i}.5,{i}.25" for i in range(30)], ("column_1", "")),  # as UCI's wine.data: no header
        ([f"{i}.5,{i % 3}" for i in range(30)], ("", "")),
        (["id,target", "1,2", "1,3", "2,2", "2,5"], ("", "")),  # several rows of one id
        (["id,size", "1,2", "2,3", "3,2", "4,5"], ("", "")),  # nothing else to learn from
        (["paid,grid,y", "1,2,3", "2,3,4", "3,4,5", "4,5,6"], ("", "")),
    ],
)
def test_the_response_and_row_numbers_are_seen(tmp_path: Path, lines: list[str], options: tuple[str, str]) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    guess = next(guess for guess in guesses(tmp_path / "a.csv") if guess.source == "table")
    assert (guess.options.get("response", ""), guess.options.get("left_out", "")) == options


def test_the_close_of_a_price_is_forecast(tmp_path: Path) -> None:
    days = [f"2024-01-{day:02},{day}.5,{day}.25,{1000 + day % 7}" for day in range(1, 29)]
    (tmp_path / "a.csv").write_text("\n".join(["Date,Open,Close,Volume", *days]) + "\n")
    assert guesses(tmp_path / "a.csv")[0].options == {"time_column": "Date", "response": "Close"}


@pytest.mark.parametrize("name", ["a.txt", "a.data", "a.csv"])
def test_columns_with_blanks_between_them_are_a_table(tmp_path: Path, name: str) -> None:
    np.savetxt(tmp_path / name, np.arange(30).reshape(10, 3) / 7)
    guess = guesses(tmp_path / name)[0]
    assert (guess.source, guess.reason) == (
        "table",
        "The lines have 3 columns, separated by blanks: column_1, column_2, column_3",
    )
    (tmp_path / "prose.txt").write_text("one of two\nand 3 more\nthe end is\nnear to us\nor not so\n")
    assert guesses(tmp_path / "prose.txt")[0].source == "text"


def test_a_table_beside_folders_of_images_names_their_targets(tmp_path: Path) -> None:
    files(tmp_path, *(f"train/{i:03}.jpg" for i in range(4)), "test/900.jpg", "test/901.jpg")
    (tmp_path / "labels.csv").write_text("id,breed\n000,pug\n001,husky\n002,pug\n003,husky\n")
    (tmp_path / "sample_submission.csv").write_text("id,breed\n900,pug\n901,pug\n")
    guess = guesses(tmp_path)[0]
    assert guess.options == {"path": str(tmp_path / "train"), "labels": str(tmp_path / "labels.csv")}
    assert guess.reason == "4 images, and the table labels.csv that names their targets"


@pytest.mark.parametrize(
    "names", ["train.npz test.npz", "train_32x32.mat test_32x32.mat", "training.pt val.pt test.pt"]
)
def test_files_of_arrays_named_after_splits_divide_the_data(tmp_path: Path, names: str) -> None:
    files(tmp_path, *names.split())
    assert guesses(tmp_path)[0].options == {"split": "folders"}
    files(tmp_path, f"more{Path(names).suffix}")
    assert guesses(tmp_path)[0].options == {}


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (("cat.{}.jpg", "dog.{}.jpg"), "{class}.*"),
        (("apple_{}.png", "pear_{}.png", "plum_{}.png"), "{class}_*"),
        (("dog ({}).jpeg", "cat ({}).jpeg"), "{class} *"),
        (("IMG_{}.jpg", "DSC_{}.jpg"), ""),
        (("red_car_{}.png", "bus_{}.png"), ""),
        (("cat.{}.jpg", "dog_{}.jpg"), ""),
        (("{}.jpg", "cat.{}.jpg"), ""),
        (("cat.{}.jpg",), ""),
    ],
)
def test_classes_in_the_names_of_images_are_seen(tmp_path: Path, names: tuple[str, ...], pattern: str) -> None:
    for number in range(4):
        for name in names:
            (tmp_path / name.format(number)).write_bytes(b"")
    (guess, *_) = guesses(tmp_path)
    assert (guess.source, guess.options.get("class_pattern", "")) == ("images", pattern)


@pytest.mark.parametrize("suffix", ["mask", "L", ""])
def test_folders_of_images_and_masks_in_every_order(tmp_path: Path, suffix: str) -> None:
    end = f"_{suffix}.png" if suffix else ".png"
    splits = ("train", "val")
    inner, outer, beside = tmp_path / "inner", tmp_path / "outer", tmp_path / "beside"
    for split in splits:
        for number in range(6):
            files(inner, f"{split}/images/{number}.jpg", f"{split}/masks/{number}{end}")
            files(outer, f"images/{split}/{number}.jpg", f"masks/{split}/{number}{end}")
            files(beside, f"{split}/{number}.jpg", f"{split}_masks/{number}{end}")
    assert guesses(outer)[0].options == {
        "path": str(outer / "images"),
        "masks": str(outer / "masks"),
        "split": "folders",
    }
    assert guesses(inner)[0].options == {
        "path": str(inner / "train" / "images"),
        "masks": str(inner / "train" / "masks"),
    }
    assert "Other splits are not read" in guesses(inner)[0].reason
    assert guesses(beside)[0].options == {"path": str(beside / "train"), "masks": str(beside / "train_masks")}


def test_folders_named_after_splits_with_more_in_their_names(tmp_path: Path) -> None:
    pictures, news = tmp_path / "pictures", tmp_path / "news"
    for split in ("train", "test"):
        files(pictures, *(f"seg_{split}/seg_{split}/{name}/1.jpg" for name in ("forest", "sea")))
        files(news, *(f"20news-{split}/{name}/4900{number}" for name in ("a", "b") for number in range(3)))
    files(pictures, "seg_pred/seg_pred/1.jpg")
    assert guesses(pictures)[0].options == {
        "path": str(pictures / "seg_train" / "seg_train"),
        "test_path": str(pictures / "seg_test" / "seg_test"),
    }
    assert guesses(news)[0].options == {"path": str(news / "20news-train"), "test_path": str(news / "20news-test")}
    assert guesses(news)[0].source == "text"
    files(tmp_path / "tables", "mnist_train.csv", "mnist_test.csv")
    for name in ("mnist_train.csv", "mnist_test.csv"):
        (tmp_path / "tables" / name).write_text("label,a,b\n1,2,3\n0,3,4\n")
    assert Path(str(guesses(tmp_path / "tables")[0].options["test_path"])).name == "mnist_test.csv"


GOOD, BAD = "a film that I would see again at once", "two hours of my life that I want back"


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["v1,v2,", *(f"{kind},{text}," for kind, text in (("ham", GOOD), ("spam", BAD)) * 3)], ("v1", "v2")),
        ([f'"{1 + i % 2}","short title","{(BAD, GOOD)[i % 2]}"' for i in range(6)], ("column_1", "column_3")),
        (["text,label", *(f"{text},{kind}" for kind, text in (("ham", GOOD), ("spam", BAD)) * 3)], ("", "")),
    ],
)
def test_the_columns_of_texts_and_responses_are_seen(
    tmp_path: Path, lines: list[str], options: tuple[str, str]
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    guess = guesses(tmp_path / "a.csv")[0]
    assert guess.source == "text"
    assert (guess.options.get("response", ""), guess.options.get("text_column", "")) == options


def test_numbers_in_columns_are_no_texts(tmp_path: Path) -> None:
    for split in ("train", "test"):
        files(tmp_path, f"{split}/y_{split}.txt")
        np.savetxt(tmp_path / split / f"X_{split}.txt", np.arange(40).reshape(10, 4) / 7)
    assert guesses(tmp_path) == []


def test_texts_with_other_files_beside_their_class_folders(tmp_path: Path) -> None:
    files(tmp_path, *(f"{kind}/{number}.txt" for kind in ("pos", "neg", "unsup") for number in range(4)), "urls.txt")
    assert guesses(tmp_path)[0].reason == "2 subfolders with 8 texts: one class each"
    assert guesses(tmp_path)[0].options == {"text_goal": "response"}


def test_a_table_of_sounds_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    files(tmp_path, *(f"audio/{number}.wav" for number in range(3)), "meta/sounds.csv")
    rows = [f"{number}.wav,{number % 2},{('dog', 'rain')[number % 2]},A" for number in range(3)]
    (tmp_path / "meta" / "sounds.csv").write_text("\n".join(["filename,target,category,take", *rows]) + "\n")
    guess = guesses(tmp_path)[0]
    assert (guess.source, guess.options) == (
        "audio",
        {"path": str(tmp_path / "meta" / "sounds.csv"), "response": "category"},
    )
