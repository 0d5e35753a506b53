"""Makes the texts of two example projects: reports on machines, and recipes. The same each time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

MACHINES = ("pump", "mixer", "conveyor", "press", "oven", "filler", "labeller", "sorter", "crane", "dryer", "robot arm")
FAULTS = {
    "electrical": (
        "trips the breaker",
        "blows its fuse",
        "gives off sparks",
        "has no power",
        "draws too much current",
        "has a burnt cable",
    ),
    "leak": (
        "leaks oil",
        "drips water",
        "loses coolant",
        "has a wet seal",
        "spills onto the floor",
        "has a puddle below it",
    ),
    "mechanical": (
        "rattles",
        "is jammed",
        "squeals at start",
        "has a worn bearing",
        "shakes at full speed",
        "has a bent shaft",
    ),
    "software": (
        "freezes",
        "shows error 17",
        "restarts by itself",
        "lost its settings",
        "ignores the panel",
        "counts wrongly",
    ),
}
BEFORE = ("", "", "since this morning ", "after the night shift ", "every few hours ", "again ", "as on Monday ")
NOT_NOW = (
    "the {machine} no longer {fault}",
    "last month the {machine} {fault}, but that is repaired",
    "nobody saw that the {machine} {fault}",
    "we looked whether the {machine} {fault}, and it is fine",
)
VEGETABLES = (
    "beetroot",
    "carrot",
    "courgette",
    "cucumber",
    "leek",
    "mushroom",
    "onion",
    "parsnip",
    "pumpkin",
    "turnip",
)
FRUITS = ("apple", "apricot", "lemon", "peach", "pear", "plum", "quince")
HERBS = ("basil", "chives", "dill", "mint", "parsley", "sage", "thyme")


class Draw:
    """Draws texts at random."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one(self, texts: Sequence[str]) -> str:
        """Return one of the texts."""
        return texts[int(self.random.integers(len(texts)))]

    def two(self, texts: Sequence[str]) -> list[str]:
        """Return two different ones."""
        return [texts[place] for place in self.random.choice(len(texts), 2, replace=False)]

    def mistyped(self, text: str, share: float) -> str:
        """Return the text with some of its letters replaced."""
        is_wrong = self.random.random(len(text)) < share
        letters = self.random.integers(ord("a"), ord("z") + 1, len(text))
        triples = zip(text, is_wrong, letters, strict=True)
        return "".join(chr(other) if wrong and sign.isalpha() else sign for sign, wrong, other in triples)


def make_reports(count: int = 1200) -> list[list[Any]]:
    """Reports on machines and the kind of their fault. Most name a fault of another kind, too, which is not there: the
    words alone do not tell, their order does. Some letters are wrong, and 2 in 100 kinds are."""
    draw = Draw(8)
    table: list[list[Any]] = [["report", "fault"]]
    for _ in range(count):
        kind, machine = draw.one(tuple(FAULTS)), draw.one(MACHINES)
        parts = [f"{draw.one(BEFORE)}the {machine} {draw.one(FAULTS[kind])}"]
        for _ in range(draw.random.choice(3, p=[0.25, 0.5, 0.25])):
            other = draw.one([name for name in FAULTS if name != kind])
            machine = draw.one((machine, draw.one(MACHINES)))
            part = draw.one(NOT_NOW).format(machine=machine, fault=draw.one(FAULTS[other]))
            parts.insert(int(draw.random.integers(len(parts) + 1)), part)
        text = ". ".join(part[0].upper() + part[1:] for part in parts)
        written = draw.one(tuple(FAULTS)) if draw.random.random() < 0.02 else kind
        table.append([f"{draw.mistyped(text, 0.008)}.", written])
    return table


def make_recipes(count: int = 1000) -> list[str]:
    """Recipes in a line each: a name, and what to do with the ingredients in it."""
    draw = Draw(9)
    lines = []
    for _ in range(count):
        (first, second), herb, fruit = draw.two(VEGETABLES), draw.one(HERBS), draw.one(FRUITS)
        eaters, cheese, minutes = draw.one("246"), draw.one(("blue", "goat", "hard")), draw.one(("20", "25", "30"))
        bake = f"bake for {minutes} minutes."
        recipes = (
            f"{first} soup with {herb}: chop {eaters} {first}s and one {second}. simmer in stock for {minutes} "
            f"minutes. add {herb} and serve the soup hot.",
            f"{fruit} cake: beat {eaters} eggs with sugar. fold in flour and the {fruit}s in slices. {bake} "
            f"serve the {fruit} cake cold.",
            f"{first} salad with {second}: slice the {first}s and the {second}s. mix with oil, salt and {herb}. "
            f"wait for {minutes} minutes.",
            f"{first} pie with {cheese} cheese: fry the {first}s in butter. spread on the dough, add {cheese} cheese "
            f"and {herb}. {bake}",
        )
        lines.append(draw.one(recipes))
    return lines
