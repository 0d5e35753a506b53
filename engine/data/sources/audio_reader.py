"""Audio files with a label each: one subfolder per class, or a table of file and label.

WAV files of whole numbers are read by Python's own library; FLAC, OGG, MP3 and other WAV files by soundfile. All sounds
get one rate, number of channels and length: see `netwright.engine.data.sources.sound`.
"""

import os
import wave
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import printable
from netwright.engine.core.progress import report
from netwright.engine.core.text import format_duration
from netwright.engine.core.types import TensorType, image, sequence
from netwright.engine.data.sources import labelled_files
from netwright.engine.data.sources.labelled_files import LabelledFiles
from netwright.engine.data.sources.sound import mel_bands, prepare_sound
from netwright.engine.data.sources.source import (
    Array,
    BadSampleError,
    Outline,
    Readers,
    Samples,
    Source,
    listed,
    refuse_too_large,
)
from netwright.engine.data.sources.split_keys import groups_of_names
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DamageWarning, InputInfo
from netwright.engine.project.preparation import SoundPreparation
from netwright.engine.project.sources.audio import AUDIO_SUFFIXES, LEAST_RATE, MOST_RATE, is_sound

EXPECTED = "a folder with one subfolder of sounds per class, or a CSV table of files and labels"
AUTO_SECONDS = 60.0
"""Longest duration that is chosen by itself."""
MOST_THREADS = 8
LOOKED_AT = 32
"""Number of files, evenly spaced, whose headers are read where the duration is given."""
MOST_CHANNELS = 64
MOST_VALUES = 2**28
"""Largest number of values of one sound."""
FFT = 2**20
WAVE_STARTS = frozenset({b"RIFF", b"RIFX", b"RF64", b"riff"})


class BadSoundError(Exception):
    """Error of a file that is no sound or cannot be used; the text gives the reason."""


@dataclass(frozen=True)
class SoundFacts:
    """Rate in Hz, number of channels and of frames of a file, from its header."""

    rate: int
    channels: int
    frames: int

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.frames / self.rate


def look_at(path: Path) -> SoundFacts:
    """Return the facts in the header of a file. Raises `BadSoundError`, and `UserError` without soundfile."""
    return _read(path, 0)[0]


def read_sound(path: Path, seconds: float) -> tuple[Array, int]:
    """Return the samples from -1 to 1 (frames, channels), float32, of the first seconds of a file, and its rate.

    Raises `BadSoundError`, and `UserError` without soundfile.
    """
    facts, samples = _read(path, seconds)
    return samples, facts.rate


def _read(path: Path, seconds: float) -> tuple[SoundFacts, Array]:
    try:
        if not path.is_file():
            raise BadSoundError("it is missing, or no file")
        with open(path, "rb") as file:
            start = file.read(4)
        if not start:
            raise BadSoundError("it is empty")
        if path.suffix.lower() == ".wav":
            if start not in WAVE_STARTS:
                raise BadSoundError("it is no WAV file")
            try:
                if start == b"RIFF":
                    return _read_wave(path, seconds)
            except (wave.Error, EOFError):
                pass  # floating point, compressed or damaged: soundfile says which
        return _read_other(path, seconds)
    except (BadSoundError, UserError):
        raise
    except PermissionError:
        raise BadSoundError("it may not be read") from None
    except MemoryError:
        raise BadSoundError("it does not fit into memory, or claims so") from None
    except Exception as error:  # parsers of headers raise whatever they trip over in a damaged file
        first = printable(str(error).partition("\n")[0].removeprefix(f"Error opening {str(path)!r}: ")[:100])
        raise BadSoundError(f"it is damaged ({first})" if first else "it is damaged") from None


def _checked(rate: int, channels: int, frames: int) -> SoundFacts:
    if not LEAST_RATE <= rate <= MOST_RATE or not 1 <= channels <= MOST_CHANNELS:
        raise BadSoundError(f"it claims a rate of {rate:,} Hz and {channels:,} channels")
    if frames < 1:
        raise BadSoundError("it holds no sound")
    return SoundFacts(rate, channels, frames)


def _read_wave(path: Path, seconds: float) -> tuple[SoundFacts, Array]:
    with wave.open(str(path), "rb") as file:
        width, channels = file.getsampwidth(), file.getnchannels()
        frames = path.stat().st_size // max(1, width * channels)  # the header may claim more
        facts = _checked(file.getframerate(), channels, min(file.getnframes(), frames))
        content = file.readframes(min(facts.frames, int(seconds * facts.rate)))
    whole = content[: len(content) // (width * channels) * (width * channels)]
    match width:
        case 1:
            numbers = (np.frombuffer(whole, np.uint8).astype(np.float32) - 128) / 2**7
        case 2:
            numbers = np.frombuffer(whole, "<i2").astype(np.float32) / 2**15
        case 3:
            bytes_of = np.frombuffer(whole, np.uint8).reshape(-1, 3)
            padded = np.concatenate((np.zeros((len(bytes_of), 1), np.uint8), bytes_of), 1)
            numbers = (padded.reshape(-1).view("<i4") / 2**31).astype(np.float32)
        case 4:
            numbers = (np.frombuffer(whole, "<i4") / 2**31).astype(np.float32)
        case _:
            raise BadSoundError(f"it has {8 * width} bits per sample; expected 8, 16, 24 or 32")
    return facts, numbers.reshape(-1, channels)


def _read_other(path: Path, seconds: float) -> tuple[SoundFacts, Array]:
    way_out = "WAV files of 16 bits are read without it."
    soundfile = import_extra("soundfile", "audio", f"Sounds such as {path.name}", way_out)
    with soundfile.SoundFile(path) as file:
        facts = _checked(file.samplerate, file.channels, file.frames)
        frames = min(facts.frames, int(seconds * facts.rate))
        refuse_too_large(frames * facts.channels * 4, f"The sound {path}", "Choose a shorter duration.")
        samples: Array = file.read(frames, dtype="float32", always_2d=True)
    if not np.isfinite(samples).all():
        raise BadSoundError("it holds numbers that are not finite")
    return facts, samples


@dataclass(frozen=True, eq=False)
class _Sounds:
    """The files, and facts of those that were looked at."""

    files: LabelledFiles
    facts: tuple[SoundFacts, ...]

    @property
    def bytes(self) -> int:
        """Memory in bytes, about."""
        return 100 * (len(self.facts) + len(self.files.names))


class Audio(Source):
    """Sounds of one rate and length, as waveforms or spectrograms."""

    def stamp(self, path: Path) -> Hashable:
        """Return a value that changes when the files do."""
        return labelled_files.stamp(path, EXPECTED)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, from the list of files and their headers: of all files that can be left out for damage or
        that tell the duration."""
        files = _files(options, path)
        is_lenient = options.bad_samples == "leave-out"
        step = 1 if is_lenient or not options.sound_duration else 1 + len(files.names) // LOOKED_AT
        facts, bad = _looked_at(files, files.names[::step])
        if bad and (not is_lenient or not facts):
            raise bad_sounds(bad, len(files.names[::step]), files.base)
        if bad:
            files = _whole(files, bad)
        how = preparation(options, facts)
        groups = options.group_pattern if options.is_visible("group_pattern") else ""
        return Outline(
            inputs=(InputInfo("sound", type_of(how), sound=how),),
            split_keys=groups_of_names(files.names, groups) if groups else None,
            targets=files.targets,
            wanted=files.wanted,
            notes=(*files.notes, _facts_note(facts, len(files.names))),
            warnings=files.warnings,
            raw=_Sounds(files, tuple(facts)),
        )

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline with notes on what is done to the files; nothing is learned from them."""
        how, sounds = outline.inputs[0].sound, outline.raw
        assert how is not None
        assert isinstance(sounds, _Sounds)
        return replace(outline, notes=(*outline.notes, *_notes(how, sounds.facts)))

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the sounds in float32; with `indices`, for a look, those that cannot be read are silent."""
        reader = _reader(outline)
        numbers = np.arange(len(reader.names)) if indices is None else indices
        needed = 4 * len(numbers) * int(np.prod(reader.shape[1:]))
        refuse_too_large(needed, f"{len(numbers):,} sounds", "Choose a shorter duration, or stream them.")
        array = np.zeros((len(numbers), *reader.shape[1:]), np.float32)

        def read_one(item: tuple[int, int]) -> tuple[str, str] | None:
            place, number = item
            try:
                array[place] = reader.sound(number)
            except BadSoundError as error:
                return reader.names[number], str(error)
            return None

        bad = []
        with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
            for count, failed in enumerate(pool.map(read_one, enumerate(numbers.tolist())), 1):
                report(count, len(numbers), "files")
                bad += [failed] if failed else []
        if bad and (indices is None or len(bad) == len(numbers)):
            raise bad_sounds(bad, len(numbers), reader.folder)
        return Samples((array,), tuple(f"Shown silent because it cannot be used: {n}, {why}." for n, why in bad[:5]))

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader that decodes files on demand."""
        return Readers((_reader(outline),))


def _files(options: DataOptions, path: Path) -> LabelledFiles:
    if labelled_files.is_table(path):
        return labelled_files.of_table(options, path, options.sound_column, "sounds", is_sound)
    if not path.is_dir():
        raise UserError(f"{path} is a file. Expected {EXPECTED}.")
    return labelled_files.of_classes(path, AUDIO_SUFFIXES, "sounds", is_sound)


def _whole(files: LabelledFiles, bad: Sequence[tuple[str, str]]) -> LabelledFiles:
    """Return the files without those that cannot be used, and a warning that names these."""
    examples = listed([f"{name} ({why})" for name, why in bad])
    are = "1 sound is" if len(bad) == 1 else f"{len(bad):,} of {len(files.names):,} sounds are"
    unusable = {name for name, _ in bad}
    places = np.flatnonzero([name not in unusable for name in files.names])
    warning = f"{are} left out because of damage: {examples}; data.bad_samples=fatal has them end a run."
    return files.only(places, DamageWarning(warning, [name for name, _ in bad]))


def _looked_at(files: LabelledFiles, names: Sequence[str]) -> tuple[list[SoundFacts], list[tuple[str, str]]]:
    """Return the facts of the files with these names, and those that cannot be used, with the reason."""

    def look(name: str) -> SoundFacts | tuple[str, str]:
        try:
            return look_at(files.base / name)
        except BadSoundError as error:
            return name, str(error)

    facts: list[SoundFacts] = []
    bad: list[tuple[str, str]] = []
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for count, answer in enumerate(pool.map(look, names), 1):
            report(count, len(names), "files")
            if isinstance(answer, SoundFacts):
                facts.append(answer)
            else:
                bad.append(answer)
    return facts, bad


def bad_sounds(bad: Sequence[tuple[str, str]], total: int, folder: Path) -> UserError:
    """Return the error for files that cannot be used, with the first five."""
    lines = [f"  {name}: {why}" for name, why in bad[:5]]
    more_message = f"  and {len(bad) - 5:,} more"
    message = f"{len(bad):,} of {total:,} sounds in {folder} cannot be used:"
    way_out = "Expected whole files, such as WAV or FLAC. Replace or remove those that are damaged."
    return UserError.of_lines([message, *lines, *([more_message] if len(bad) > 5 else ()), way_out])


def preparation(options: DataOptions, facts: Sequence[SoundFacts]) -> SoundPreparation:
    """Return the preparation of sounds by the options, and by the files where they leave it open. Raises
    `UserError`."""
    rate = options.sample_rate or Counter(sound.rate for sound in facts).most_common(1)[0][0]
    seconds = options.sound_duration or min(AUTO_SECONDS, max(sound.seconds for sound in facts))
    length = max(1, round(seconds * rate))
    channels = 2 if options.sound_channels == "stereo" else 1
    if options.sound_features == "waveform":
        how = SoundPreparation(rate=rate, channels=channels, length=length, features="waveform", layout="sequence")
    else:
        window, hop = max(1, round(options.window_ms * rate / 1000)), max(1, round(options.hop_ms * rate / 1000))
        transform = 1 << (window - 1).bit_length()
        if window > length or transform > FFT:
            raise UserError(
                f"A window of {options.window_ms:g} ms is longer than the sounds, or too long: they last "
                f"{length / rate:.3g} s. Choose a shorter window (data.window_ms), or a longer duration."
            )
        mel = options.sound_features == "mel"
        how = SoundPreparation(
            rate=rate,
            channels=channels,
            length=length,
            features="mel" if mel else "spectrogram",
            layout="image" if options.sound_layout == "image" else "sequence",
            window=window,
            hop=hop,
            transform=transform,
            bands=options.mel_bands if mel else 0,
        )
    if (values := int(np.prod(how.shape))) > MOST_VALUES:
        raise UserError(
            f"Each sound becomes {values:,} values; at most {MOST_VALUES:,} are taken. Choose a shorter duration, a "
            "longer hop, or fewer bands."
        )
    return how


def type_of(how: SoundPreparation) -> TensorType:
    """Return the type of the input that sounds become."""
    return image(*how.shape) if how.layout == "image" and how.features != "waveform" else sequence(*how.shape)


def _facts_note(facts: Sequence[SoundFacts], total: int) -> str:
    """Return a sentence on duration, rate and channels of the files."""
    shortest, longest = min(sound.seconds for sound in facts), max(sound.seconds for sound in facts)
    rates, channels = sorted({sound.rate for sound in facts}), sorted({sound.channels for sound in facts})
    remark = "" if len(facts) == total else f" ({len(facts):,} of {total:,} were looked at)"
    times = " to ".join(dict.fromkeys((_seconds(shortest), _seconds(longest))))
    counts = f"{listed([str(count) for count in channels])} {'channel' if channels == [1] else 'channels'}"
    return f"The files last {times}, at {listed([f'{rate:,}' for rate in rates])} Hz, with {counts}{remark}."


def _notes(how: SoundPreparation, facts: Sequence[SoundFacts]) -> Iterator[str]:
    """Yield notes on the changes that files undergo."""
    seconds, slack = how.length / how.rate, 0.5 / how.rate
    if {sound.rate for sound in facts} != {how.rate}:
        yield f"Sounds of another rate are resampled to {how.rate:,} Hz (polyphase filter)."
    if max(sound.seconds for sound in facts) > seconds + slack:
        yield f"Longer sounds are cut after {_seconds(seconds)}. The duration sets another length."
    if min(sound.seconds for sound in facts) < seconds - slack:
        yield f"Shorter sounds are filled with silence up to {_seconds(seconds)}."
    if how.features == "mel" and (empty := int((mel_bands(how.bands, how.transform, how.rate).sum(1) == 0).sum())):
        yield (
            f"{empty} of {how.bands} mel bands are narrower than the step between two frequencies and stay empty. "
            "Choose fewer bands, or a longer window."
        )


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 60 else format_duration(seconds)


@dataclass(frozen=True)
class AudioReader:
    """Reader of audio files, which decodes them on demand."""

    folder: Path
    names: Sequence[str]
    how: SoundPreparation
    at_once: int = 4
    largest: int = 0

    @property
    def kind(self) -> np.dtype[Any]:
        """Dtype of the numbers."""
        return np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of all samples, samples first."""
        return (len(self.names), *self.how.shape)

    @property
    def where(self) -> str:
        """Folder of the sounds."""
        return str(self.folder)

    def sound(self, number: int) -> Array:
        """Return the sound with this index. Raises `BadSoundError`."""
        return load_sound(self.folder / self.names[number], self.how)

    def wave(self, number: int) -> Array:
        """Return the samples (N) of the sound with this index, at the rate of its file; empty where it cannot be
        read."""
        try:
            samples, _ = read_sound(self.folder / self.names[number], self.how.length / self.how.rate)
        except BadSoundError:
            return np.zeros(0, np.float32)
        return samples if samples.ndim == 1 else np.asarray(samples.mean(1))

    def read(self, indices: Array, out: Array) -> None:
        """Decode the chosen sounds into `out`. Raises `BadSampleError` for the first that cannot be decoded."""
        for place, number in enumerate(indices.tolist()):
            try:
                out[place] = self.sound(number)
            except BadSoundError as error:
                message = str(bad_sounds([(self.names[number], str(error))], len(self.names), self.folder))
                raise BadSampleError(message, self.names[number], str(error)) from None


def load_sound(path: Path, how: SoundPreparation) -> Array:
    """Return the input of a network for an audio file. Raises `BadSoundError`."""
    margin = 0.1  # for the filter that resamples
    samples, rate = read_sound(path, how.length / how.rate + margin)
    return prepare_sound(how, samples, rate)


def _reader(outline: Outline) -> AudioReader:
    how, sounds = outline.inputs[0].sound, outline.raw
    assert how is not None
    assert isinstance(sounds, _Sounds)
    return AudioReader(sounds.files.base, sounds.files.names, how)
