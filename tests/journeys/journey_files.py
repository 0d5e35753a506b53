"""Data of a size that users have, made anew for each journey, with the odd things that lie in real folders."""

import csv
import math
import random
import wave
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SHAPES = ("circle", "cross", "ring", "square", "triangle")


def draw_shape(name: str, rng: random.Random, size: int) -> Image.Image:
    """A bright shape somewhere on a dark background."""
    picture = Image.new("RGB", (size, size), tuple(rng.randrange(60) for _ in "rgb"))
    draw = ImageDraw.Draw(picture)
    left, top, side = rng.randrange(size // 4), rng.randrange(size // 4), rng.randrange(size // 3, 2 * size // 3)
    box, colour = (left, top, left + side, top + side), tuple(rng.randrange(100, 256) for _ in "rgb")
    match name:
        case "circle":
            draw.ellipse(box, fill=colour)
        case "ring":
            draw.ellipse(box, outline=colour, width=3)
        case "square":
            draw.rectangle(box, fill=colour)
        case "triangle":
            draw.polygon([(left, top + side), (left + side, top + side), (left + side // 2, top)], fill=colour)
        case "cross":
            draw.line((*box[:2], *box[2:]), fill=colour, width=4)
            draw.line((left, top + side, left + side, top), fill=colour, width=4)
    return picture


def shape_pictures(folder: Path, *, per_class: int = 120, size: int = 48) -> None:
    """A folder per class of shape, and what file managers, cameras and friends leave in such folders."""
    rng = random.Random(1)
    for name in SHAPES:
        (folder / name).mkdir(parents=True)
        for number in range(per_class):
            kind = ".jpg" if number % 3 else ".png"
            draw_shape(name, rng, size).save(folder / name / f"{name} {number:03}{kind}")
    draw_shape("ring", rng, size).convert("L").save(folder / "circle" / "0 grey, and sorted first.png")
    draw_shape("ring", rng, size).convert("RGBA").save(folder / "ring" / "transparent.png")
    draw_shape("ring", rng, 2 * size).save(folder / "ring" / "large.png")
    (folder / "Thumbs.db").write_bytes(b"\xd0\xcf\x11\xe0" * 100)
    (folder / "square" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1" * 100)
    (folder / "square" / "notes on squares.txt").write_text("They have four sides.")
    (folder / "cross" / "cut off.jpg").write_bytes((folder / "cross" / "cross 001.jpg").read_bytes()[:300])
    (folder / "cross" / "empty.png").write_bytes(b"")


def sized_pictures(folder: Path, *, count: int = 600, size: int = 48) -> None:
    """Pictures of a disk each, and a table of how wide each disk is and where it lies."""
    rng = random.Random(7)
    (folder / "disks").mkdir(parents=True)
    rows: list[list[object]] = [["file", "width", "left"]]
    for number in range(count):
        side = rng.randrange(8, 34)
        left, top = rng.randrange(size - side), rng.randrange(size - side)
        picture = Image.new("L", (size, size), rng.randrange(40))
        ImageDraw.Draw(picture).ellipse((left, top, left + side, top + side), fill=rng.randrange(150, 256))
        picture.save(folder / "disks" / f"{number:03}.png")
        rows.append([f"disks/{number:03}.png", side, left])
    with (folder / "disks.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def flat_table(path: Path, *, rows: int = 200_000) -> None:
    """Rents of flats: gaps in numbers and words, dates, a house number that groups rows, a column of notes."""
    rng = random.Random(2)
    districts = ("Altstadt", "Nordend", "Westend", "Hafen")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["listed", "house", "rooms", "area_m2", "district", "balcony", "note", "rent"])
        for row in range(rows):
            area, rooms, district = rng.uniform(20, 140), rng.randrange(1, 6), rng.randrange(4)
            day = date(2021, 1, 1) + timedelta(days=rng.randrange(1500))
            balcony = rng.random() < 0.4
            rent = 180 + 9.5 * area + 60 * rooms + 120 * district + 70 * balcony + 0.1 * (day.year - 2021) * area
            cells: list[object] = [
                day.isoformat(),
                f"H{rng.randrange(rows // 12)}",
                "" if rng.random() < 0.02 else rooms,
                "" if rng.random() < 0.03 else f"{area:.1f}",
                "" if rng.random() < 0.05 else districts[district],
                "yes" if balcony else "no",
                "needs work" if row % 97 == 0 else "",
                f"{rent + rng.gauss(0, 25):.0f}",
            ]
            writer.writerow(cells)


def passenger_table(path: Path, *, rows: int = 800) -> None:
    """Passengers of a ship: names that all differ, gaps in ages and ports, two classes that other columns explain."""
    rng = random.Random(8)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "cabin_class", "sex", "age", "fare", "port", "survived"])
        for row in range(rows):
            cabin, sex, age = rng.randrange(1, 4), rng.choice(("female", "male")), rng.randrange(1, 80)
            score = 2.2 * (sex == "female") - 0.9 * (cabin - 2) - 0.02 * (age - 30) + rng.gauss(-0.9, 1)
            port = rng.choice(("Cherbourg", "Queenstown", "Southampton"))
            cells: list[object] = [
                f"{rng.choice(('Adams', 'Brown', 'Clark', 'Evans'))}, Passenger {row}",
                cabin,
                sex,
                "" if rng.random() < 0.2 else age,
                f"{rng.gammavariate(2, 40 / cabin):.2f}",
                "" if rng.random() < 0.02 else port,
                "yes" if score > 0 else "no",
            ]
            writer.writerow(cells)


def power_series(path: Path, *, series: int = 6, hours: int = 6_000) -> None:
    """Hourly loads of several towns below each other, as databases give them, each at a level of its own."""
    rng = random.Random(3)
    start = datetime(2024, 1, 1)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["town", "time", "temperature", "load"])
        for number in range(series):
            level = 300 + 150 * number
            for hour in range(hours):
                warmth = 12 + 8 * math.sin(2 * math.pi * hour / 8760) + 4 * math.sin(2 * math.pi * hour / 24)
                load = level * (1 + 0.25 * math.sin(2 * math.pi * (hour - 7) / 24) - 0.01 * warmth)
                load *= 0.9 if (hour // 24) % 7 > 4 else 1.0
                time = (start + timedelta(hours=hour)).isoformat(sep=" ")
                writer.writerow([f"Town {number}", time, f"{warmth:.2f}", f"{load + rng.gauss(0, 6):.2f}"])


WORDS = {
    "weather": "rain sun cloud storm wind snow cold warm fog forecast degrees thunder",
    "sport": "goal team match player coach league win lost stadium season referee score",
    "cooking": "oven flour butter salt pan boil bake onion sauce recipe spoon dough",
}
COMMON = "the a and of to in it was is that on for with very today again people said one more"


def labelled_texts(path: Path, *, per_class: int = 700) -> None:
    """A table of short texts and what they are about."""
    rng = random.Random(4)
    rows = []
    for topic, words in WORDS.items():
        for _ in range(per_class):
            text = [rng.choice((words if rng.random() < 0.3 else COMMON).split()) for _ in range(rng.randrange(8, 30))]
            rows.append([" ".join(text).capitalize() + ".", topic])
    rng.shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "topic"], *rows])


def sounds(folder: Path, *, per_class: int = 80) -> None:
    """A folder per kind of sound: mono and stereo, two rates, several lengths, and a file that is none."""
    rng = np.random.default_rng(5)
    for name in ("noise", "rising", "steady"):
        (folder / name).mkdir(parents=True)
        for number in range(per_class):
            rate = 16_000 if number % 4 else 22_050
            time_s = np.arange(int(rate * rng.uniform(0.4, 0.9))) / rate
            pitch = rng.uniform(200, 900)
            wave_ = {
                "noise": rng.standard_normal(len(time_s)),
                "rising": np.sin(2 * np.pi * pitch * time_s * (1 + time_s)),
                "steady": np.sin(2 * np.pi * pitch * time_s),
            }[name] * 0.3
            wave_ += 0.02 * rng.standard_normal(len(time_s))
            channels = 2 if number % 7 == 0 else 1
            samples = np.repeat((wave_ * 20_000).clip(-32_768, 32_767).astype("<i2"), channels)
            with wave.open(str(folder / name / f"{name} {number:02}.wav"), "wb") as file:
                file.setnchannels(channels)
                file.setsampwidth(2)
                file.setframerate(rate)
                file.writeframes(samples.tobytes())
    (folder / "noise" / "liner notes.txt").write_text("Recorded at home.")
    (folder / "steady" / "broken.wav").write_bytes(b"RIFF\x10\0\0\0WAVEfmt ")


def masked_pictures(folder: Path, *, count: int = 240, size: int = 48) -> None:
    """Two folders of the same names: pictures with one shape each, and masks that say where it is."""
    rng = random.Random(6)
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        kind = SHAPES[number % 3]
        before = rng.getstate()
        draw_shape(kind, rng, size).save(folder / "images" / f"{number:03}.png")
        rng.setstate(before)
        drawn = np.asarray(draw_shape(kind, rng, size).convert("L"))
        mask = np.where(drawn > 90, 1 + SHAPES.index(kind), 0).astype(np.uint8)
        Image.fromarray(mask).save(folder / "masks" / f"{number:03}.png")
