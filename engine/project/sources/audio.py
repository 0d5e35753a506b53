"""Audio files: one subfolder per class, or a table of file and label."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Choice, ColumnNames, Float, Int
from netwright.engine.core.records import Record
from netwright.engine.project.sources.csv_dialect import Beginning
from netwright.engine.project.sources.number_texts import is_number_like
from netwright.engine.project.sources.source_type import Guess, Peek, SourceType
from netwright.engine.project.sources.table import CLASS_NAMES

if TYPE_CHECKING:
    from netwright.engine.project.data import DataOptions

AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".opus", ".aif", ".aiff", ".mp3")
MOST_TABLES = 20
"""Tables of a folder that are looked at."""
LEAST_RATE, MOST_RATE = 100, 768_000


class AudioOptions(Record):
    """Options of audio files."""

    sound_column = ColumnNames(
        "",
        label="Column of sounds",
        group="Source",
        help="Column of a table that names the audio files, relative to the table's folder. Default: the first column "
        "of texts beside the response",
        visible_when=lambda options: options.path.lower().endswith((".csv", ".tsv")),
    )
    sample_rate = Int(
        0,
        low=0,
        high=MOST_RATE,
        zero="auto",
        unit="Hz",
        group="Source",
        help="Sample rate that all sounds are resampled to. Default auto: the most frequent one. MATLAB: resample; "
        "torchaudio: Resample",
    )
    sound_channels = Choice(
        "mono",
        options=("mono", "stereo"),
        notes={"mono": "One channel, the mean of all", "stereo": "Two channels; a mono file gives two equal ones"},
        label="Sound channels",
        group="Source",
        help="Channels of each sound. Default mono",
    )
    sound_duration = Float(
        0.0,
        low=0.0,
        high=3600.0,
        unit="s",
        label="Duration",
        group="Source",
        help="Length of each sound in seconds: longer ones are cut at their end, shorter ones filled with silence. "
        "Default 0: as the longest file, at most 60 s",
    )
    sound_features = Choice(
        "mel",
        options=("mel", "spectrogram", "waveform"),
        words={"mel": "Mel spectrogram", "spectrogram": "Spectrogram", "waveform": "Waveform"},
        notes={
            "mel": "Power in bands of the mel scale, in decibels",
            "spectrogram": "Power per frequency, in decibels",
            "waveform": "The samples, from -1 to 1",
        },
        label="Features",
        group="Source",
        help="What the network gets of a sound. Default mel. MATLAB: melSpectrogram; torchaudio: MelSpectrogram with "
        "AmplitudeToDB",
    )
    sound_layout = Choice(
        "image",
        options=("image", "sequence"),
        notes={"image": "channels × bands × steps of time", "sequence": "steps of time × bands"},
        label="Layout",
        group="Source",
        help="Axes of a spectrogram: an image for convolutions, or a sequence for recurrent layers. Default image",
        visible_when=lambda options: options.sound_features != "waveform",
    )
    window_ms = Float(
        25.0,
        above=0.0,
        high=10_000.0,
        unit="ms",
        label="Window",
        group="Source",
        help="Length of a window of the Fourier transform (Hann). Default 25. MATLAB: Window; torchaudio: win_length",
        visible_when=lambda options: options.sound_features != "waveform",
    )
    hop_ms = Float(
        10.0,
        above=0.0,
        high=10_000.0,
        unit="ms",
        label="Hop",
        group="Source",
        help="Time from one window to the next. Default 10. MATLAB: window minus OverlapLength; torchaudio: hop_length",
        visible_when=lambda options: options.sound_features != "waveform",
    )
    mel_bands = Int(
        40,
        low=1,
        high=1024,
        label="Mel bands",
        group="Source",
        help="Number of bands from 0 Hz to half the sample rate. Default 40. MATLAB: NumBands; torchaudio: n_mels",
        visible_when=lambda options: options.sound_features == "mel",
    )


class Audio(SourceType):
    """Sounds in files."""

    key, label = "audio", "Audio files"
    note = "Sounds: a folder with one subfolder per class, or a table of file and label"
    wanted = "the folder of sounds, or the table that names them"
    inputs = (
        "sounds as a waveform, a spectrogram or a mel spectrogram; one subfolder per class, or a table of files "
        "([audio](#audio))"
    )
    targets = "the class, or the column that `response` names"
    options = AudioOptions
    uses = (
        *("path", "response", "task", "text_encoding", "decimal_mark"),
        *("loading", "decoded_cache", "bad_samples", "group_pattern"),
    )
    takes = "both"
    suffixes, files = (".csv", ".tsv"), "Tables of files"
    reader = "netwright.engine.data.sources.audio_reader:Audio"
    reads = "sound"
    resizes = has_folders = True
    can_stream = True
    streamed = "all sounds, decoded on demand; those decoded are cached as images are"
    resident = "nothing"
    reads_single_samples = True
    bytes_per_number = 8

    @property
    def recorded(self) -> tuple[str, ...]:
        """Suffixes of sounds, beside those of tables."""
        return (*AUDIO_SUFFIXES, *self.suffixes)

    def problems(self, options: "DataOptions") -> Iterator[FieldError]:
        """Yield the combinations of options that cannot be meant."""
        yield from super().problems(options)
        if options.is_visible("task") and options.task in ("labels", "transcripts"):
            yield FieldError("task", "sounds have a class or numbers as responses. Choose one of them, or auto.")
        if 0 < options.sample_rate < LEAST_RATE:
            yield FieldError("sample_rate", f"expected at least {LEAST_RATE} Hz, or 0 for the most frequent one.")

    def guess(self, peek: Peek) -> Guess | None:
        """Return a guess for a folder whose subfolders hold sounds, and for a table whose lines name some."""
        if not peek.is_folder:
            is_list = peek.suffix in self.suffixes and names_sounds(peek)
            return Guess(self.key, 0.95, "The table names audio files") if is_list else None
        counts = {inside: sum(map(is_sound, names)) for inside, names in peek.tree.items()}
        folders = [inside for inside, count in counts.items() if count and inside and "/" not in inside]
        if len(folders) < 2:
            return self._listed(peek, sum(counts.values()))
        more = "more than " if peek.is_cut else ""
        total = sum(counts[inside] for inside in folders)
        return Guess(self.key, 0.95, f"{len(folders):,} subfolders with {more}{total:,} sounds: one class each")

    def _listed(self, peek: Peek, count: int) -> Guess | None:
        """Return a guess for a folder with a table that names sounds there or in folders inside."""
        if not count:
            return None
        tables = [
            peek.path / inside / name
            for inside, names in peek.tree.items()
            for name in names
            if name.lower().endswith(self.suffixes) and "/" not in inside
        ]
        best = next((path for path in tables[:MOST_TABLES] if names_sounds(Peek(path))), None)
        if best is None:
            return None
        reason = f"{count:,} sounds, and the table {best.name} that names them"
        response = _class_column(Peek(best).table)
        return Guess(self.key, 0.95, reason, {"path": str(best), **({"response": response} if response else {})})


def _class_column(table: Beginning) -> str:
    """Return the column of classes by its name, where it is not the last one: the first that holds texts, else the
    first; empty where there is none."""
    names = table.dialect.names
    usual = [place for place, name in enumerate(names) if name.strip().lower() in CLASS_NAMES]
    if not usual or usual[-1] == len(names) - 1:
        return ""
    return names[next((place for place in usual if not all(map(is_number_like, table.column(place)))), usual[0])]


def names_sounds(peek: Peek) -> bool:
    """Return whether a column of a table holds the names of sounds."""
    table = peek.table
    columns = [table.column(place) for place in range(len(table.dialect.names)) if table.rows]
    return any(cells and 2 * sum(map(is_sound, cells)) > len(cells) for cells in columns)


def is_sound(name: str) -> bool:
    """Return whether a file is a sound, by its suffix."""
    return name.lower().endswith(AUDIO_SUFFIXES)
