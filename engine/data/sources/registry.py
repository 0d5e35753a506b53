"""The data sources by the words of `DataOptions.source`. A new one is a file, an entry here and a word there."""

from collections.abc import Mapping

from engine.data.sources.arrays import ArrayFile
from engine.data.sources.digits import Digits
from engine.data.sources.images import Images
from engine.data.sources.source import Source
from engine.data.sources.table import Table

SOURCES: Mapping[str, Source] = {"digits": Digits(), "images": Images(), "table": Table(), "arrays": ArrayFile()}
