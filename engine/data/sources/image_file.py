"""One image file, decoded: its size, its numbers in the size and colours that are wanted, the classes of a mask."""

import io
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import simplejpeg
from PIL import Image, ImageOps, UnidentifiedImageError

from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.data.sources.source import Array

# What a file is shows in its first bytes, whatever its name says. Pillow would take any that it knows, and have
# Ghostscript run those that are PostScript.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
GREY_MODES = frozenset({"1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I;16N"})
DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N"})
REFUSED_MODES = {"I": "32 bits a channel", "F": "floating point numbers"}
COLOUR = 2**24
"""Number of black in a mask with colours: greater than any grey level."""
MASK_MODES = DEEP_MODES | {"1", "L", "LA", "La", "P", "PA"}
WHITE = 255
ORIENTED = frozenset({"exif", "xmp", "Raw profile type exif", "XML:com.adobe.xmp"})
"""Where Pillow finds the orientation of a JPEG once its header is read; other formats may have it behind the pixels."""
REDUCED = 2
"""Least ratio of the size that a JPEG is decoded at to the size it is resized to, as Pillow's `thumbnail` has it."""
PLAIN_JPEG_BYTES = 16 * 2**20
"""Larger files are left to Pillow, which reads them in pieces."""
HEAD_BYTES, _TRAILER = 64, 16
_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_END = b"\xff\xd9"
_START, _SCAN, _APP1 = b"\xff\xd8", 0xDA, 0xE1
"""Markers of JPEG: start of the image, start of the pixels, metadata (EXIF and XMP, which may have an orientation)."""


class BadPictureError(Exception):
    """Error of a file that is no image or cannot be used; the text gives the reason."""


class Header(NamedTuple):
    """Facts in the header of an image: `grey` or `rgb`, height and width as displayed, and whether it has 16 bits per
    channel."""

    channels: str
    height: int
    width: int
    is_deep: bool = False


def header_of(path: Path | io.BytesIO, *, decodes: bool = False) -> Header:
    """Return the header of an image; with `decodes` the whole file is read. Raises `BadPictureError`."""
    with _opened(path) as picture:
        if decodes:
            picture.load()
        width, height = picture.size[::-1] if _is_turned(picture) else picture.size
        return Header("grey" if picture.mode in GREY_MODES else "rgb", height, width, picture.mode in DEEP_MODES)


def flaw_of(path: Path) -> str:
    """Return the reason why a file cannot be used as an image, by its first and last bytes; empty for one that can.

    What looks cut off, or like no image, is decoded before it is called so.
    """
    try:
        with open(open_descriptor(path, "r"), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            head = file.read(HEAD_BYTES) if stat.S_ISREG(status.st_mode) else b""
            file.seek(max(0, status.st_size - HEAD_BYTES)) if head else None
            tail = file.read(HEAD_BYTES) if head else b""
        if _looks_whole(head, tail, status.st_size):
            return ""
        header_of(path, decodes=not head.startswith(_TIFF))
    except BadPictureError as error:
        return str(error)
    except OSError:  # it is missing, or may not be read
        try:
            header_of(path)
        except BadPictureError as error:
            return str(error)
    return ""


def _looks_whole(head: bytes, tail: bytes, size: int) -> bool:
    """Return whether a file begins as an image and ends as that kind does."""
    if head.startswith(_START):
        return _END in tail[-_TRAILER:]
    if head.startswith(b"\x89PNG"):
        return b"IEND" in tail[-_TRAILER:]
    if head.startswith(b"GIF8"):
        return tail.endswith(b";")
    if head.startswith(b"BM"):
        return 0 < int.from_bytes(head[2:6], "little") <= size
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return int.from_bytes(head[4:8], "little") + 8 <= size
    return False


def _is_turned(picture: Image.Image) -> bool:
    """Return whether an image is displayed turned by a quarter, by its EXIF orientation."""
    return picture.getexif().get(0x0112, 1) in (5, 6, 7, 8)


def read(path: Path | io.BytesIO, channels: str, height: int, width: int) -> Array:
    """Return an image (C, H, W) as uint8, or float32 for 16 bits per channel. Raises `BadPictureError`.

    A JPEG of at least four times the size is decoded at a half, a quarter or an eighth of it, which libjpeg does in the
    frequency domain, and resized from there: 4 times faster for 12 megapixels, with pixels that differ by 0.2 of 255
    levels on average and by 2 at most (`benchmarks/streaming.py --draft`).
    """
    if (plain := _plain_jpeg(path, (REDUCED * width, REDUCED * height))) is not None:
        return _numbers(plain, channels, height, width)
    with _opened(path) as picture:
        has_orientation = picture.format != "JPEG" or not ORIENTED.isdisjoint(picture.info)
        size = (height, width) if has_orientation and _is_turned(picture) else (width, height)
        picture.draft(None, (REDUCED * size[0], REDUCED * size[1]))
        if has_orientation:
            ImageOps.exif_transpose(picture, in_place=True)  # else it copies upright images
        return _numbers(picture, channels, height, width)


def _plain_jpeg(path: Path | io.BytesIO, reduced: tuple[int, int]) -> Image.Image | None:
    """Return a JPEG decoded by simplejpeg: the pixels that Pillow gives, in a third of the time for small images, of
    which Pillow spends most around libjpeg.

    None for all other files, and for those that Pillow must read: turned, damaged or huge ones, with metadata, of other
    colours, or so large that Pillow decodes them at a half of their size or less (`reduced`: width, height).
    """
    try:
        data = path.getvalue() if isinstance(path, io.BytesIO) else _small_jpeg(path)
        if not data.startswith(_START) or _has_metadata(data):
            return None
        height, width, colours, _ = simplejpeg.decode_jpeg_header(data)
        if height * width > (Image.MAX_IMAGE_PIXELS or 0) or (width >= 2 * reduced[0] and height >= 2 * reduced[1]):
            return None
        match colours:
            case "YCbCr":
                return Image.fromarray(simplejpeg.decode_jpeg(data, "RGB"))
            case "Gray":
                return Image.fromarray(simplejpeg.decode_jpeg(data, "GRAY")[:, :, 0])
    except (OSError, ValueError, MemoryError):  # Pillow says what is wrong
        pass
    return None


def _small_jpeg(path: Path) -> bytes:
    """Return the content of a regular file that begins as a JPEG does and is not large, else nothing. Raises
    `OSError`."""
    with open(open_descriptor(path, "r"), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > PLAIN_JPEG_BYTES or file.read(2) != _START:
            return b""
        return _START + file.readall()


def _has_metadata(data: bytes) -> bool:
    """Return whether a JPEG has metadata before its pixels, or segments that are not understood."""
    place = len(_START)
    while place + 4 <= len(data) and data[place] == 0xFF:
        if data[place + 1] == _SCAN:
            return False
        if data[place + 1] == _APP1:
            return True
        place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    return True


def read_mask(path: Path, height: int, width: int) -> Array:
    """Return a mask (H, W): grey levels, palette indices, or colours as `COLOUR` + 0xRRGGBB, resized without
    interpolation. Raises `BadPictureError`."""
    with _opened(path) as picture:
        ImageOps.exif_transpose(picture, in_place=True)
        if picture.mode in MASK_MODES:
            flat = picture if picture.mode in DEEP_MODES | {"P", "L", "1"} else picture.getchannel(0)
        elif picture.mode in ("RGB", "RGBA"):
            flat = picture.convert("RGB")
        else:
            colours = f"it has colours of the kind {picture.mode}"
            raise BadPictureError(f"{colours}; a mask is grey, has a palette, or RGB colours, one value per class")
        if flat.size != (width, height):
            flat = flat.resize((width, height), Image.Resampling.NEAREST)
        numbers = np.asarray(flat)
    if numbers.ndim == 3:
        return COLOUR + (numbers.astype(np.int32) @ np.array([0x10000, 0x100, 1], np.int32))
    return numbers.astype(np.uint8) if numbers.dtype == bool else numbers


@contextmanager
def _opened(path: Path | io.BytesIO) -> Iterator[Image.Image]:
    try:
        if isinstance(path, Path) and not stat.S_ISREG(os.stat(path).st_mode):
            raise BadPictureError("it is a folder, a device or a pipe")
        with Image.open(path, formats=FORMATS) as picture:
            if picture.mode in REFUSED_MODES:
                raise BadPictureError(f"it has {REFUSED_MODES[picture.mode]}; expected 8 or 16 bits")
            yield picture
    except PermissionError:
        raise BadPictureError("it may not be read") from None
    except FileNotFoundError:
        raise BadPictureError("it is missing, or a link that leads nowhere") from None
    except BadPictureError:
        raise
    except MemoryError:
        raise BadPictureError("it does not fit into memory, or claims so") from None
    except Exception as error:  # decoders and parsers of headers raise whatever they trip over in a damaged file
        raise BadPictureError(_words(error)) from None


def _words(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return "it is not a picture, or a damaged one"
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return f"it has more than {Image.MAX_IMAGE_PIXELS or 0:,} pixels"
    first = str(error).strip().partition("\n")[0][:100]
    return f"it is damaged ({first})" if first else "it is damaged"


def _numbers(picture: Image.Image, channels: str, height: int, width: int) -> Array:
    size = (width, height)
    if picture.mode in DEEP_MODES:
        deep = Image.fromarray(np.asarray(picture).astype(np.float32) / 257.0)
        resized = deep if deep.size == size else deep.resize(size, Image.Resampling.BILINEAR)
        plane = np.asarray(resized, dtype=np.float32)[np.newaxis]
        return plane if channels == "grey" else np.repeat(plane, 3, axis=0)
    flat, mode = _without_alpha(picture), "L" if channels == "grey" else "RGB"
    flat = flat if flat.mode == mode else flat.convert(mode)  # which copies
    if flat.size != size:
        flat = flat.resize(size, Image.Resampling.BILINEAR)
    numbers = np.asarray(flat, dtype=np.uint8)
    return numbers[np.newaxis] if channels == "grey" else numbers.transpose(2, 0, 1)


def _without_alpha(picture: Image.Image) -> Image.Image:
    """Return the image on a white background."""
    if not picture.has_transparency_data:
        return picture
    ground = Image.new("RGBA", picture.size, (WHITE, WHITE, WHITE, WHITE))
    return Image.alpha_composite(ground, picture.convert("RGBA"))


@contextmanager
def strictly() -> Iterator[None]:
    """Context that turns Pillow's warning of huge images into an error, and ignores its other warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def be_strict() -> None:
    """Set the filters of `strictly` for good, for threads: its context may end while they read."""
    warnings.filterwarnings("ignore", module=r"PIL\.")
    warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
