"""JSON within a number of characters, for readers that pay for each."""

import json
from typing import Any

MOST_CHARACTERS = 60_000
"""Of an answer: some 20,000 tokens."""
LONGEST_TEXT = 8_000
_STEPS = (1000, 300, 100, 30, 10, 3)


def bounded(value: Any, most: int = MOST_CHARACTERS, longest: int = LONGEST_TEXT) -> tuple[Any, bool]:
    """Return a JSON value whose text has at most so many characters, and whether anything was cut. Long texts lose
    their ends, then long lists, each with a text that says how much is missing."""
    for most_items in (len(json.dumps(value)), *_STEPS):
        shorter = _cut(value, most_items, longest)
        if len(json.dumps(shorter)) <= most:
            return shorter, shorter != value
        longest = max(100, longest // 2)
    return f"{json.dumps(value)[: most // 3]} ... (cut)", True  # quotation marks take two characters each


def _cut(value: Any, most_items: int, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]} ... ({len(value) - longest:,} more characters)"
    if isinstance(value, dict):
        rows = [*value.items()]
        shorter = {key: _cut(item, most_items, longest) for key, item in rows[:most_items]}
        return shorter if len(rows) <= most_items else {**shorter, "...": f"{len(rows) - most_items:,} more"}
    if isinstance(value, list):
        items = [_cut(item, most_items, longest) for item in value[:most_items]]
        return items if len(value) <= most_items else [*items, f"... ({len(value) - most_items:,} more)"]
    return value
