"""Folders as competitions hand them out: a table without responses for the test, pictures beside a table of classes."""

import csv
import random
from pathlib import Path

import pytest

from tests.journeys.conftest import Visit
from tests.journeys.journey_files import SHAPES, draw_shape


def passengers(folder: Path) -> None:
    """Two tables of passengers, the second without the column `Survived`, which stands second in the first."""
    rng = random.Random(5)
    folder.mkdir()
    names = ["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "Embarked"]
    for name, rows in (("train.csv", range(1, 892)), ("test.csv", range(892, 1310))):
        columns = [n for n in names if name == "train.csv" or n != "Survived"]
        with open(folder / name, "w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            for number in rows:
                sex, age = rng.choice(["male", "female"]), rng.randrange(1, 80) if number % 5 else ""
                lives = int(rng.random() < (0.85 if sex == "female" else 0.15))
                values = [number, lives, rng.randrange(1, 4), f"Stone, {number}", sex, age, "SCQ"[number % 3]]
                writer.writerow(dict(zip(names, values, strict=True)))


def pictures(folder: Path) -> None:
    """A folder of pictures for training and one for the test, and a table of the classes of the first."""
    rng = random.Random(6)
    rows = []
    for part, count in (("train", 600), ("test", 60)):
        (folder / part).mkdir(parents=True)
        for _ in range(count):
            shape, name = rng.choice(SHAPES[:3]), f"{rng.getrandbits(48):012x}"
            draw_shape(shape, rng, 40).save(folder / part / f"{name}.jpg")
            rows += [(name, shape)] if part == "train" else []
    with open(folder / "labels.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "shape"), *rows])


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_the_response_is_what_the_test_table_lacks(visit: Visit, place: Path) -> None:
    passengers(place / "titanic")
    person = visit()
    person.drop(place / "titanic")
    person.wait_to_see("^891 rows in 2 classes")
    assert person.sees('test.csv has no column "Survived", which is the response')
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=4)
    person.evaluate("samples of the test split, best weights")
    person.predict_file(place / "titanic" / "test.csv", "^test.csv:2")


@pytest.mark.journey
@pytest.mark.timeout(600)
def test_a_table_beside_a_folder_of_pictures_has_their_classes(visit: Visit, place: Path) -> None:
    pictures(place / "shapes")
    person = visit()
    person.drop(place / "shapes")
    person.wait_to_see("^600 images in 3 classes")
    assert person.sees("600 images, and the table labels.csv that names their targets")
    person.look("data")
    person.make_network()
    person.train_to_the_end(epochs=3)
    person.evaluate("samples of the test split, best weights")
    person.predict_file(next((place / "shapes" / "test").iterdir()), r"^(circle|cross|ring): \d")
