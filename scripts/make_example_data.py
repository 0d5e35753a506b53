"""Makes the data of the example projects, but for the digits, which are real. The same bytes each time.

Run by hand: `.venv/bin/python -m scripts.make_example_data`. What the data is stands in resources/data/ATTRIBUTION.md.
"""

import csv
import io
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.files import write_atomically
from scripts.make_digits import write_npz
from scripts.make_example_sounds import write_sounds
from scripts.make_example_texts import make_recipes, make_reports

DATA = Path(__file__).parents[1] / "resources" / "data"
Points = np.ndarray[Any, Any]
"""Points of a line, (n, 2)."""


def make_heating(rows: int = 800) -> list[list[Any]]:
    """Made-up houses on made-up days: a simple heat balance, with noise of 4 %."""
    random = np.random.default_rng(1)
    facing = np.array(["north", "east", "south", "west"])
    gain = {"north": 0.35, "east": 0.7, "south": 1.0, "west": 0.75}
    table: list[list[Any]] = [
        ["floor_m2", "window_share", "wall_u_value", "facing", "occupants", "outside_c", "sun_kwh_m2", "heating_kwh"]
    ]
    for _ in range(rows):
        floor, share = random.uniform(50, 220), random.uniform(0.1, 0.45)
        wall_u, side = random.uniform(0.15, 1.4), str(random.choice(facing))
        people, outside, sun = int(random.integers(1, 7)), random.uniform(-12, 16), random.uniform(0.2, 4.0)
        floor, share, wall_u = round(floor, 1), round(share, 3), round(wall_u, 2)
        outside, sun = round(outside, 1), round(sun, 2)
        shell, window = 1.1 * floor, share * floor * 0.5
        lost = (shell * wall_u + window * 1.3 + floor * 0.25) * (20.0 - outside) * 24 / 1000
        gained = window * sun * gain[side] * 0.55 + people * 1.9 + floor * 0.04
        # What is gained beyond what is lost heats nothing: a soft floor at zero.
        needed = np.logaddexp(0.0, (lost - gained) / 4.0) * 4.0 * (1 + 0.04 * random.standard_normal())
        table.append([floor, share, wall_u, side, people, outside, sun, round(float(needed), 2)])
    return table


def make_power(days: int = 77) -> list[list[Any]]:
    """Made-up demand of a town, hour by hour from winter to spring: people get up, work and cook, stay in bed at
    weekends, and heat when it was cold for a while; and the weather that makes them."""
    random = np.random.default_rng(4)
    hours = np.arange(24 * days)
    hour, day = hours % 24, hours // 24
    weather = np.zeros(len(hours))
    for now in range(1, len(hours)):
        weather[now] = 0.985 * weather[now - 1] + 0.45 * random.standard_normal()
    outside = 3.0 + 0.14 * day + 3.5 * np.sin(2 * np.pi * (hour - 9) / 24) + weather
    felt = np.zeros(len(hours))  # walls keep warm
    felt[0] = outside[0]
    for now in range(1, len(hours)):
        felt[now] = 0.9 * felt[now - 1] + 0.1 * outside[now]
    workday = (day % 7 < 5) & ~np.isin(day, (38, 59))  # the first day is a Monday; two holidays
    morning = np.exp(-0.5 * ((hour - np.where(workday, 8.0, 10.0)) / 2.0) ** 2)
    noon = np.exp(-0.5 * ((hour - 13.0) / 3.0) ** 2)
    evening = np.exp(-0.5 * ((hour - 19.0) / 2.5) ** 2)
    people = np.where(workday, 16 * morning + 12 * noon + 18 * evening, 7 * morning + 9 * noon + 15 * evening)
    demand = 38.0 + people + 0.9 * np.logaddexp(0.0, 16.0 - felt) + 0.7 * random.standard_normal(len(hours))
    start = datetime(2024, 1, 15)
    table: list[list[Any]] = [["time", "temperature", "workday", "demand_mw"]]
    for now in range(len(hours)):
        time = (start + timedelta(hours=now)).isoformat(sep=" ", timespec="minutes")
        table.append([time, round(float(outside[now]), 1), int(workday[now]), round(float(demand[now]), 1)])
    return table


def make_waves(count: int = 1200, steps: int = 40) -> dict[str, np.ndarray[Any, Any]]:
    """Four wave forms of random pitch, phase and height, as two sensors a quarter of a period apart see them."""
    random = np.random.default_rng(2)
    names = np.array(["sawtooth", "sine", "square", "triangle"])
    kinds = np.arange(count) % len(names)
    random.shuffle(kinds)
    periods, start = random.uniform(9, 20, (count, 1, 1)), random.uniform(0, 1, (count, 1, 1))
    phase = (np.arange(steps)[:, None] / periods + start + np.array([0.0, 0.25])) % 1.0
    forms = np.stack(
        [
            2 * phase - 1,
            np.sin(2 * np.pi * phase),
            np.where(phase < 0.5, 1.0, -1.0),
            1 - 4 * np.abs(phase - 0.5),
        ]
    )
    heights = random.uniform(0.7, 1.3, (count, 1, 1))
    values = forms[kinds, np.arange(count)] * heights + 0.08 * random.standard_normal(phase.shape)
    return {"x": (np.rint(values * 32) / 32).astype(np.float16), "y": names[kinds]}


def make_shapes(count: int = 200, size: int = 24) -> dict[str, np.ndarray[Any, Any]]:
    """Discs, squares and triangles of any grey on a darker or lighter ground, and what each pixel belongs to: 0 the
    ground, then the three; 255, which does not count, along the edges of the picture."""
    random = np.random.default_rng(3)
    y, x = np.mgrid[:size, :size]
    images, masks = np.empty((count, 1, size, size)), np.zeros((count, size, size), np.uint8)
    for number in range(count):
        images[number] = random.uniform(40, 90)
        for kind in random.permutation(3)[: random.integers(1, 4)] + 1:
            middle_y, middle_x = random.uniform(6, size - 6, 2)
            reach = random.uniform(3.5, 6.0)
            down, right = y - middle_y, x - middle_x
            inside = {
                1: down**2 + right**2 < reach**2,
                2: np.maximum(abs(down), abs(right)) < 0.85 * reach,
                3: (down < 0.7 * reach) & (2 * abs(right) < down + reach),
            }[int(kind)]
            images[number, 0][inside] = random.uniform(120, 230)
            masks[number][inside] = kind
    images += random.normal(0, 8, images.shape)
    for edge in (0, -1):
        masks[:, edge], masks[:, :, edge] = 255, 255
    return {"x": np.clip(np.rint(images / 8) * 8, 0, 255).astype(np.uint8), "y_mask": masks}


def make_orders(count: int = 3000) -> list[list[Any]]:
    """Made-up orders of a clothes shop, and whether they came back. What decides stands in no column alone: a size at
    an end of the scale matters for what has to fit, a discount makes some goods stay and others return."""
    random = np.random.default_rng(6)
    # How much a thing has to fit, from -1 to 1, and what it costs.
    items = {"boots": (0.9, 90), "coat": (0.3, 140), "dress": (1.0, 70), "gloves": (-0.8, 25), "hat": (-0.5, 30)}
    items |= {"jacket": (0.5, 110), "jeans": (1.0, 75), "pyjamas": (-0.9, 40), "sandals": (0.8, 55)}
    items |= {"scarf": (-1.0, 28), "shirt": (-0.2, 45), "skirt": (0.8, 50), "socks": (-1.0, 12), "suit": (0.9, 220)}
    names = sorted(items)
    by_invoice = {"card": 0.0, "instalments": 0.5, "invoice": 1.2, "prepaid": -1.1}
    columns = ["item", "size", "payment", "country", "price", "discount_percent", "delivery_days", "earlier_orders"]
    table: list[list[Any]] = [[*columns, "returned"]]
    for _ in range(count):
        item, payment = str(random.choice(names)), str(random.choice(sorted(by_invoice)))
        size = str(random.choice(["XS", "S", "M", "L", "XL"], p=[0.16, 0.22, 0.24, 0.22, 0.16]))
        country = str(random.choice(["AT", "BE", "CH", "DE", "FR", "IT", "NL", "PL"]))
        fit, usual_price = items[item]
        price = round(usual_price * float(np.exp(0.35 * random.standard_normal())), 2)
        discount, earlier = int(random.choice([0, 0, 10, 20, 30, 50])), int(random.geometric(0.25)) - 1
        days = 1 + int(random.poisson(2.5))
        doubt = -0.3 + 1.5 * fit * (1.0 if size in ("XS", "XL") else -0.6)
        doubt += by_invoice[payment] * (1.0 if price > 55 else -0.5) + 0.035 * fit * (discount - 15)
        doubt += 0.35 * (days - 3) * (1.0 if item in ("boots", "coat", "dress", "suit") else -0.2)
        doubt += (0.6 if country in ("AT", "CH", "DE") else -0.4) * (1.2 - np.log1p(earlier))
        is_returned = random.random() < 1 / (1 + np.exp(-2.2 * doubt))
        returned = "yes" if is_returned else "no"
        table.append([item, size, payment, country, price, discount, days, earlier, returned])
    return table


def make_stations(days: int = 460) -> list[list[Any]]:
    """Made-up daily counts of bicycles at six places: some on ways to work, some on trips, all in the same weather."""
    random = np.random.default_rng(7)
    # Size, and the share of those who ride to work.
    stations = {"harbour": (900, 0.2), "museum": (600, 0.05), "ring road": (2600, 0.9)}
    stations |= {"station square": (3400, 0.75), "university": (1900, 0.95), "west bridge": (1500, 0.5)}
    day, weather = np.arange(days), np.zeros(days)
    for now in range(1, days):
        weather[now] = 0.8 * weather[now - 1] + 2 * random.standard_normal()
    temperature = np.round(10 - 9.5 * np.cos(2 * np.pi * (day - 15) / 365) + weather, 1)
    rain = np.round(np.where(random.random(days) < 0.38, random.gamma(1.1, 5, days), 0), 1)
    dates = [(datetime(2023, 1, 2) + timedelta(days=number)).date().isoformat() for number in range(days)]
    holidays = ("01-01", "01-06", "04-07", "04-10", "05-01", "05-18", "05-29", "10-03", "12-25", "12-26")
    workday = (day % 7 < 5) & ~np.isin([date[5:] for date in dates], holidays)
    table: list[list[Any]] = [["day", "station", "temperature", "rain_mm", "workday", "bicycles"]]
    for name, (size, share) in stations.items():
        level = np.zeros(days)  # road works, fashions
        for now in range(1, days):
            level[now] = 0.93 * level[now - 1] + 0.04 * random.standard_normal()
        to_work = share * np.where(workday, 1.25, 0.35) / (1 + np.exp(-(temperature + 2) / 5))
        to_work *= 1 - 0.35 * (1 - np.exp(-rain / 5))
        trips = (
            (1 - share) * np.where(workday, 0.6, 2.1) / (1 + np.exp(-(temperature - 15) / 3.2)) * np.exp(-rain / 3.5)
        )
        counts = size * (to_work + trips + 0.05) * np.exp(level + 0.07 * random.standard_normal(days))
        for date, *cells in zip(dates, temperature, rain, workday, counts, strict=True):
            warm, wet, works, count = cells
            table.append([date, name, float(warm), float(wet), int(works), round(float(count))])
    return table


def _arc(x: float, y: float, radii: tuple[float, float], start: float, end: float) -> Points:
    """Return points on an ellipse, from one angle in degrees to another; y points down."""
    angles = np.radians(np.linspace(start, end, 14))
    return np.stack([x + radii[0] * np.cos(angles), y - radii[1] * np.sin(angles)], axis=1)


def _strokes() -> list[list[Points]]:
    """Return the strokes of the digits 0 to 9, in a square from -1 to 1."""
    two, three = _arc(0, -0.4, (0.5, 0.5), 165, -35), _arc(-0.05, -0.45, (0.5, 0.45), 150, -90)
    five, six = _arc(-0.05, 0.35, (0.55, 0.55), 120, -150), _arc(0, 0.35, (0.5, 0.55), 150, 510)
    return [
        [_arc(0, 0, (0.55, 0.9), 90, 450)],
        [np.array([(-0.35, -0.5), (0.05, -0.9), (0.05, 0.9)])],
        [np.concatenate([two, [(-0.55, 0.9), (0.6, 0.9)]])],
        [np.concatenate([three, _arc(-0.05, 0.43, (0.55, 0.47), 90, -150)])],
        [np.array([(0.3, 0.9), (0.3, -0.9), (-0.6, 0.3), (0.65, 0.3)])],
        [np.concatenate([[(0.5, -0.9), (-0.4, -0.9), (-0.45, -0.1)], five])],
        [np.concatenate([[(0.3, -0.9)], six])],
        [np.array([(-0.55, -0.9), (0.55, -0.9), (-0.1, 0.9)])],
        [_arc(0, -0.45, (0.42, 0.45), 270, -90), _arc(0, 0.45, (0.52, 0.45), 90, 450)],
        [np.concatenate([_arc(0, -0.35, (0.5, 0.55), -30, 330), [(0.35, 0.9)]])],
    ]


def make_angles(count: int = 2000, size: int = 28) -> dict[str, np.ndarray[Any, Any]]:
    """Digits as drawn by a pen, light on black, turned by up to 45 degrees, and the angles; plus is clockwise."""
    random = np.random.default_rng(5)
    axis = np.arange(size) - (size - 1) / 2
    pixels = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 1, 2)
    digits, angles = _strokes(), np.round(random.uniform(-45, 45, count), 1)
    images = np.empty((count, 1, size, size), np.uint8)
    for number, angle in enumerate(np.radians(angles)):
        slant, width, height = random.normal(0, 0.06), random.uniform(0.75, 1.1), random.uniform(0.85, 1.1)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = 8.2 * turn @ np.array([[width, -slant], [0, height]])
        pen, place = random.uniform(0.8, 1.7), random.uniform(-1.2, 1.2, 2)
        distance = np.full(size * size, np.inf)
        for stroke in digits[number % 10]:
            points = (stroke + random.normal(0, 0.03, stroke.shape)) @ matrix.T + place
            start, way = points[:-1], np.diff(points, axis=0)
            along = np.clip(((pixels - start) * way).sum(-1) / (way**2).sum(-1), 0, 1)
            nearest = np.linalg.norm(pixels - start - along[..., None] * way, axis=-1)
            distance = np.minimum(distance, nearest.min(axis=1))
        light = np.clip(pen + 0.5 - distance, 0, 1) * random.uniform(180, 250)
        images[number, 0] = (np.rint(light / 17) * 17).reshape(size, size)
    return {"x": images, "y_angle": angles[:, None].astype(np.float32)}


def make_codes() -> dict[str, np.ndarray[Any, Any]]:
    """The handwritten digits as inputs and as targets, from 0 to 1."""
    with np.load(DATA / "digits.npz", allow_pickle=False) as file:
        images = file["images"][:, None]
    return {"x": images, "y_image": (images / 16).astype(np.float16)}


def write_table(path: Path, table: list[list[Any]]) -> None:
    """Write rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    write_atomically(path, text.getvalue().encode())


TABLES = {"heating": make_heating, "power": make_power, "orders": make_orders, "stations": make_stations}
ARRAYS = {"shapes": make_shapes, "waves": make_waves, "angles": make_angles, "codes": make_codes}


def write_data() -> None:
    """Write the tables, the arrays, the texts and the sounds."""
    for name, make_table in {**TABLES, "reports": make_reports}.items():
        write_table(DATA / f"{name}.csv", make_table())
    for name, make_arrays in ARRAYS.items():
        write_npz(DATA / f"{name}.npz", make_arrays())
    write_atomically(DATA / "recipes.txt", "".join(f"{line}\n" for line in make_recipes()).encode())
    write_sounds(DATA / "sounds")


if __name__ == "__main__":
    write_data()
