"""Data of a size that users have, made anew for each journey, with the odd things that lie in real folders."""

import random
from pathlib import Path

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
