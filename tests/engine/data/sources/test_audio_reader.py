"""Audio files: each format by its reference writer, folders and tables, and files that cannot be used."""

import importlib
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.apply_preparation import prepare
from netwright.engine.data.loading.data_places import record
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.preview_data import preview
from netwright.engine.data.sources.audio_reader import look_at, read_sound
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.preparation import Preparation
from netwright.engine.project.preparing import preparation_of
from netwright.engine.project.sources.guess import guesses
from tests.builders import chain, layer

OPTIONS = DataOptions(source="audio", path="d", validation_share=0.0, test_share=0.0)
RATE = 8000
NOISE = (np.random.default_rng(0).normal(size=(RATE // 2, 2)) * 0.2).clip(-1, 0.99)


def tone(frequency: float, seconds: float = 0.5, rate: int = RATE) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * frequency * np.arange(int(seconds * rate)) / rate)


def write(path: Path, samples: np.ndarray, rate: int = RATE, **how: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, **how)


def folder(path: Path) -> Path:
    for name, frequency in (("high", 1500), ("low", 300)):
        for number in range(6):
            write(path / "d" / name / f"{number}.wav", tone(frequency + 5 * number, 0.4 + 0.02 * number))
    return path


def refused(base: Path, **changes: Any) -> str:
    with pytest.raises(UserError) as error:
        load(OPTIONS.replace(**changes), base)
    return str(error.value).replace(str(base), "")


@pytest.mark.parametrize("kind", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "ULAW"])
def test_wav_files(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "a.wav", NOISE, subtype=kind)
    samples, rate = read_sound(tmp_path / "a.wav", 10)
    assert (rate, samples.dtype, look_at(tmp_path / "a.wav").frames) == (RATE, np.float32, len(NOISE))
    coarse = {"PCM_U8": 2**-7, "PCM_16": 2**-15, "ULAW": 0.02}.get(kind, 2**-22)
    np.testing.assert_allclose(samples, NOISE, atol=coarse)
    other, _ = soundfile.read(tmp_path / "a.wav", dtype="float32")
    np.testing.assert_allclose(samples, other, atol=1e-7)
    assert len(read_sound(tmp_path / "a.wav", 0.1)[0]) == RATE // 10


@pytest.mark.parametrize("name", ["a.flac", "a.ogg", "a.aiff", "a.mp3"])
def test_other_files(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, tone(440))
    samples, _ = read_sound(tmp_path / name, 10)
    assert np.abs(samples[: len(tone(440)), 0] - tone(440)).mean() < (0.05 if name.endswith(("3", "g")) else 2**-14)


def test_wav_needs_no_library_and_others_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.wav", tone(440))
    write(tmp_path / "b.flac", tone(440))

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    assert len(read_sound(tmp_path / "a.wav", 1)[0]) == RATE // 2
    with pytest.raises(UserError, match=r'Sounds such as b.flac need soundfile.*pip install "netwright\[audio\]"'):
        read_sound(tmp_path / "b.flac", 1)


@pytest.mark.parametrize(
    ("changes", "layout", "sizes"),
    [
        ({}, "image", (1, 40, 48)),
        ({"sound_features": "spectrogram", "sound_channels": "stereo"}, "image", (2, 129, 48)),
        ({"sound_layout": "sequence", "mel_bands": 12, "hop_ms": 20}, "sequence", (24, 12)),
        ({"sound_features": "waveform", "sound_duration": 0.25}, "sequence", (2000, 1)),
        ({"sound_features": "waveform", "sample_rate": 4000}, "sequence", (2000, 1)),
    ],
)
def test_a_folder_streamed_is_that_in_memory(tmp_path: Path, changes: dict[str, Any], layout: str, sizes: Any) -> None:
    folder(tmp_path)
    options = OPTIONS.replace(**changes)
    held, read = load(options, tmp_path), load(options, tmp_path, is_streamed=True)
    assert held.facts == read.facts
    given = held.facts.inputs[0]
    assert (given.type.layout, given.type.sizes, held.facts.classes) == (layout, sizes, ("high", "low"))
    one, other = held.split("training"), read.split("training")
    np.testing.assert_array_equal(one.inputs[0], other.inputs[0][:])
    assert one.inputs[0].shape == (12, *sizes)


def test_test_data_of_another_length_becomes_that_of_the_training(tmp_path: Path) -> None:
    folder(tmp_path)
    for name in ("high", "low"):
        write(tmp_path / "d2" / "test" / name / "0.wav", tone(500, 2.0, 16000), 16000)
    data = load(OPTIONS.replace(test_path="d2/test"), tmp_path, is_streamed=True)
    assert data.facts.samples == {"training": 12, "validation": 0, "test": 2}
    assert data.split("test").inputs[0][:].shape == (2, 1, 40, 48)
    assert [note for note in data.facts.notes if "test" in note] == [
        "test: The files last 2 s, at 16,000 Hz, with 1 channel."
    ]
    (tmp_path / "d").rename(tmp_path / "d2" / "train")
    assert load(OPTIONS.replace(path="d2", split="folders"), tmp_path).facts.samples["test"] == 2
    names = {
        place.listing and len(place.listing) for place in record(OPTIONS.replace(path="d2/train"), tmp_path, {}).places
    }
    assert names == {12}


def test_files_of_one_speaker_are_in_one_split(tmp_path: Path) -> None:
    for name in ("high", "low"):
        for speaker in "abcdef":
            for number in range(3):
                write(tmp_path / "d" / name / f"{speaker}_{number}.wav", tone(400, 0.1))
    options = OPTIONS.replace(split="grouped", group_pattern="{group}_*", validation_share=0.3, test_share=0.2)
    data = load(options, tmp_path)
    groups = [{(number % 18) // 3 for number in data.numbers[split].tolist()} for split in data.numbers]
    assert sum(map(len, groups)) == 6
    assert all(groups)


def test_pitch_shows_in_the_bands(tmp_path: Path) -> None:
    folder(tmp_path)
    part = load(OPTIONS, tmp_path).split("training")
    loudest = part.inputs[0][:, 0].mean(2).argmax(1)
    assert loudest[part.targets[0] == 0].min() > loudest[part.targets[0] == 1].max()


def test_a_table_of_files(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / "clips" / f"{number}.flac", tone(300 + 100 * number), rate=RATE)
    rows = "".join(f"{number},clips/{number}.flac,{0.5 * number}\n" for number in range(6))
    (tmp_path / "d.csv").write_text(f"id,file,pitch\n{rows}")
    data = load(OPTIONS.replace(path="d.csv"), tmp_path)
    assert (data.facts.task, data.facts.targets[0].name, data.facts.samples["training"]) == ("numbers", "pitch", 6)
    assert guesses(tmp_path / "d.csv")[0].source == "audio"
    assert 'has no column "name" with the names of sounds' in refused(tmp_path, path="d.csv", sound_column="name")
    (tmp_path / "clips" / "3.flac").unlink()
    assert "1 of 6 sounds in  cannot be used:\n  clips/3.flac: it is missing" in refused(
        tmp_path, path="d.csv", mel_bands=9, bad_samples="fatal"
    )


def test_facts_stand_in_the_notes(tmp_path: Path) -> None:
    folder(tmp_path)
    write(tmp_path / "d" / "low" / "x.wav", tone(300, 1.0, 16000), rate=16000)
    (tmp_path / "d" / "low" / "read.me").write_text("x")
    notes = load(OPTIONS.replace(sound_duration=0.6, mel_bands=200), tmp_path).facts.notes
    assert notes[0] == "Left out, since they are no sounds: low/read.me."
    assert notes[1] == "The files last 0.4 s to 1 s, at 8,000, 16,000 Hz, with 1 channel."
    assert notes[2] == "Sounds of another rate are resampled to 8,000 Hz (polyphase filter)."
    assert notes[3].startswith("Longer sounds are cut after 0.6 s.")
    assert notes[4] == "Shorter sounds are filled with silence up to 0.6 s."
    assert "of 200 mel bands are narrower than the step between two frequencies" in notes[5]


def test_damaged_files_are_named(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "d" / "low" / "3.wav").write_bytes(b"RIFF....WAVEjunk")
    (tmp_path / "d" / "low" / "4.wav").write_bytes(b"")
    text = refused(tmp_path, bad_samples="fatal")
    assert text.startswith("2 of 12 sounds in /d cannot be used:\n  low/3.wav: it is damaged (")
    assert "A window of 9000 ms is longer than the sounds" in refused(folder(tmp_path / "other"), window_ms=9000)


def test_a_header_that_claims_more_than_the_file(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(b"\1\0" * 100)
    content = bytearray((tmp_path / "a.wav").read_bytes())
    content[40:44] = (2**31 - 2).to_bytes(4, "little")
    (tmp_path / "a.wav").write_bytes(content)
    assert look_at(tmp_path / "a.wav").frames < 200
    assert len(read_sound(tmp_path / "a.wav", 3600)[0]) == 100


def test_folders_and_tables_are_guessed(tmp_path: Path) -> None:
    folder(tmp_path)
    assert guesses(tmp_path / "d")[0].reason == "2 subfolders with 12 sounds: one class each"
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert guesses(tmp_path / "t.csv")[0].source == "table"


def test_a_preview_shows_spectrograms(tmp_path: Path) -> None:
    folder(tmp_path)
    look = preview(OPTIONS, tmp_path, tmp_path / "look", 4)
    assert (look["kind"], len(look["pictures"])) == ("pictures", 4)
    assert preview(OPTIONS.replace(sound_features="waveform"), tmp_path, tmp_path / "look", 4)["kind"] == "series"


@pytest.mark.parametrize("layout", ["image", "sequence"])
def test_new_sounds_are_prepared_as_those_of_the_training(tmp_path: Path, layout: str) -> None:
    folder(tmp_path)
    options = OPTIONS.replace(sound_layout=layout, mel_bands=10, sample_rate=4000)
    data = load(options, tmp_path)
    sizes = data.facts.inputs[0].type.sizes
    first = (
        layer("image_input", channels=1, size=(10, 48)) if layout == "image" else layer("sequence_input", channels=10)
    )
    assert sizes == ((1, 10, 48) if layout == "image" else (48, 10))
    facts = DatasetInfo.read(data.facts.write())
    assert facts == data.facts
    record = Preparation.parse(preparation_of(chain(first), options, facts).content(), "R")
    (made,) = prepare(record, sorted((tmp_path / "d").glob("*/*.wav")))
    order = np.argsort(data.numbers["training"])
    np.testing.assert_array_equal(made, data.split("training").inputs[0][order])
    with pytest.raises(UserError, match="Expected a sound, such as WAV or FLAC"):
        prepare(record, [tmp_path / "missing.wav"])
    strange = record.content().replace(b'"hop": 40', b'"hop": 0')
    with pytest.raises(UserError, match="expected positive numbers"):
        Preparation.parse(strange, "R")


def test_a_folder_of_sounds_as_they_come(tmp_path: Path) -> None:
    """Rates, lengths, channels and depths that differ, odd files among them, and a class folder without sounds."""
    kinds = ("PCM_16", "PCM_24", "PCM_U8", "PCM_32", "FLOAT")
    for number in range(200):
        rate = (8000, 16000, 16000, 22050)[number % 4]
        sound = tone(200 + 10 * (number % 40), 0.2 + 0.01 * (number % 30), rate)
        samples = np.stack([sound, -sound / 2], axis=1) if number % 3 else sound
        kind = ("high", "low")[number % 2]
        write(tmp_path / "d" / kind / f"{number:03} größe.wav", samples, rate, subtype=kinds[number % 5])
    low = tmp_path / "d" / "low"
    (low / "000.wav").write_bytes(b"")
    (low / "page.wav").write_text("<html>not found</html>")
    (low / "broken.wav").write_bytes(b"RIFF....WAVEjunk")
    write(low / "silent.wav", np.zeros(0))
    (low / "cut.wav").write_bytes((low / "001 größe.wav").read_bytes()[:4000])
    for name in ("Thumbs.db", ".DS_Store", "notes.txt"):
        (low / name).write_bytes(b"x")
    (tmp_path / "d" / "empty").mkdir()
    found = load(OPTIONS, tmp_path).facts
    assert found.inputs[0].sound is not None
    assert (sum(found.samples.values()), found.inputs[0].sound.rate) == (201, 16000)
    assert found.classes == ("high", "low")
    (warning,) = found.warnings
    assert warning.startswith(
        "4 of 205 sounds are left out because of damage: low/000.wav (it is empty), low/broken.wav"
    )
    assert "low/page.wav (it is no WAV file), low/silent.wav (it holds no sound); data.bad_samples=fatal" in warning
    assert "Left out, since they are no sounds: low/notes.txt." in found.notes
    assert "Left out because the folders have no sounds: empty." in found.notes
    assert any("at 8,000, 16,000, 22,050 Hz, with 1, 2 channels" in note for note in found.notes)
    streamed = load(OPTIONS, tmp_path, is_streamed=True).split("training").inputs[0][:]
    np.testing.assert_array_equal(streamed, load(OPTIONS, tmp_path).split("training").inputs[0])


def test_a_table_beside_sounds_names_them_without_folder_or_suffix(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path / "clips" / f"{number:02}.wav", tone(300 + 50 * number))
    pitches = [f"{number / 4}".replace(".", ",") for number in range(12)]
    rows = "".join(f"{number:02}.wav;{'ab'[number % 2]};{pitch}\n" for number, pitch in enumerate(pitches))
    (tmp_path / "list.csv").write_text(f"file;kind;pitch\n{rows}gone.wav;a;1\n;a;1\n")
    guess = guesses(tmp_path)[0]
    assert (guess.source, dict(guess.options)) == ("audio", {"path": str(tmp_path / "list.csv")})
    data = load(OPTIONS.replace(path="list.csv", response="kind"), tmp_path)
    assert sum(data.facts.samples.values()) == 12
    assert "Left out because the name of sounds is missing: 1 row." in data.facts.notes
    assert "Columns that are not read: pitch (data.response names those to predict)." in data.facts.notes
    assert data.facts.warnings[0].startswith("1 sound is left out because of damage: gone.wav (it is missing")


def test_a_table_may_lie_in_a_folder_beside_that_of_its_sounds(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / "d" / "audio" / f"{number}.wav", tone(300 + 200 * (number % 2)))
    rows = [f"{number}.wav,{('low', 'high')[number % 2]}" for number in range(6)]
    (tmp_path / "d" / "meta").mkdir()
    (tmp_path / "d" / "meta" / "list.csv").write_text("\n".join(["file,class", *rows]) + "\n")
    data = load(OPTIONS.replace(path="d/meta/list.csv"), tmp_path)
    assert data.facts.targets[0].classes == ("high", "low")
    assert data.split("training").targets[0].tolist() == [1, 0] * 3
