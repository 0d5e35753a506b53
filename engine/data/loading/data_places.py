"""The places of the data of a run: their state for its record, and what has changed behind URLs since."""

import time
from collections.abc import Mapping
from pathlib import Path

from netwright.engine.core.fields import FilePath
from netwright.engine.data.loading.open_data import open_source
from netwright.engine.data.sources.remote_files import recorded_remote
from netwright.engine.data.sources.shard_places import recorded
from netwright.engine.data.sources.source import locate, unreadable
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import admit
from netwright.engine.project.sources.shards import PLACES
from netwright.engine.project.sources.urls import is_remote
from netwright.engine.runs.data_files import DataPlace
from netwright.engine.runs.data_record import DataRecord


def places_of(options: DataOptions, base: Path) -> list[DataPlace]:
    """Return the state of the files that the options name. Raises `UserError`."""
    admit(options)
    places: list[DataPlace] = []
    suffixes = options.source_type.recorded if options.source_type is not None else ()
    for name, field in options.fields.items():
        if name in PLACES and options.source_type is not None and options.source_type.has_patterns:
            if text := getattr(options, name):
                places.append(recorded(name, text, base))
            continue
        if isinstance(field, FilePath) and options.is_visible(name) and (text := getattr(options, name)):
            if is_remote(text):
                places.append(recorded_remote(name, text))
                continue
            path = locate(text, base)
            # One array file stands for all in its folder.
            path = path.parent if path.suffix == ".npy" and path.is_file() else path
            try:
                places.append(DataPlace.look(name, path, suffixes))
            except OSError as error:
                raise unreadable(path, error) from None
    return places


def record(options: DataOptions, base: Path, versions: Mapping[str, str]) -> DataRecord:
    """Return the record of the data for the folder of a run: its files as they are now, and the splits. Raises
    `UserError`."""
    places = places_of(options, base)
    division = open_source(options, base).division
    kind = options.split if division.in_time is None else division.rule.kind
    return DataRecord(options.source, tuple(places), kind, division.codes, versions, round(time.time(), 3))


def remote_changes(options: DataOptions, base: Path, before: DataRecord) -> tuple[str, ...]:
    """Return a sentence for each place behind a URL that has changed. Raises `UserError`."""
    declared = options.source_type
    has_shards = declared is not None and declared.has_patterns
    changes = []
    for place in before.places:
        text = getattr(options, place.option, "") if place.kind == "remote" else ""
        if text and has_shards and place.option in PLACES:
            changes.append(place.differences(recorded(place.option, text, base)))
        elif text:
            changes.append(place.differences(recorded_remote(place.option, text, is_fresh=True)))
    return tuple(filter(None, changes))
