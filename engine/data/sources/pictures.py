"""One picture file as numbers: N C H W wants them all of one size, with 1 or 3 channels, from 0 to 255.

What pictures come in is made that: the orientation noted by the camera is applied; transparent ones are laid on white;
palettes, CMYK and the rest become RGB; 16 bits a channel become 0 to 255 with fractions; of several frames the first is
taken. Numbers without a scale (32 bits a channel, floating point) are refused, since nobody can say what white is.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from engine.data.sources.source import Array
from engine.errors import UserError

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
# What a file is shows in its first bytes, whatever its name says. Pillow would take any that it knows, and have
# Ghostscript run those that are PostScript.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
GREY_MODES = frozenset({"1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I;16N"})
DEEP_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N"})
REFUSED_MODES = {"I": "32 bits a channel", "F": "floating point numbers"}
MASK_MODES = DEEP_MODES | {"1", "L", "LA", "La", "P", "PA"}
WHITE = 255


class BadPictureError(Exception):
    """A file that is no picture, or not one that can be used; the text says why."""


def shape_of(path: Path) -> tuple[str, int, int]:
    """`grey` or `rgb`, height and width as shown. Raises `BadPictureError`."""
    with _opened(path) as picture:
        turned = picture.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        width, height = picture.size[::-1] if turned else picture.size
        return ("grey" if picture.mode in GREY_MODES else "rgb"), height, width


def is_deep(path: Path) -> bool:
    """Whether the picture has 16 bits a channel, so that 0 to 255 needs fractions. Raises `BadPictureError`."""
    with _opened(path) as picture:
        return picture.mode in DEEP_MODES


def read(path: Path, channels: str, height: int, width: int) -> Array:
    """C H W, uint8, or float32 for 16 bits a channel. Raises `BadPictureError`."""
    with _opened(path) as picture:
        ImageOps.exif_transpose(picture, in_place=True)  # otherwise it copies what stands upright
        return _numbers(picture, channels, height, width)


def read_mask(path: Path, height: int, width: int) -> Array:
    """H W: the values of a grey picture, or the places in the palette of one with a palette, resized without mixing
    them. Raises `BadPictureError`."""
    with _opened(path) as picture:
        if picture.mode not in MASK_MODES:
            colours = f"it has colours ({picture.mode})"
            raise BadPictureError(f"{colours}; a mask is grey or has a palette, one value a class")
        flat = picture if picture.mode in DEEP_MODES | {"P", "L", "1"} else picture.getchannel(0)
        if flat.size != (width, height):
            flat = flat.resize((width, height), Image.Resampling.NEAREST)
        numbers = np.asarray(flat)
    return numbers.astype(np.uint8) if numbers.dtype == bool else numbers


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
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
        one = np.asarray(resized, dtype=np.float32)[np.newaxis]
        return one if channels == "grey" else np.repeat(one, 3, axis=0)
    flat, mode = _without_alpha(picture), "L" if channels == "grey" else "RGB"
    flat = flat if flat.mode == mode else flat.convert(mode)  # which copies
    if flat.size != size:
        flat = flat.resize(size, Image.Resampling.BILINEAR)
    numbers = np.asarray(flat, dtype=np.uint8)
    return numbers[np.newaxis] if channels == "grey" else numbers.transpose(2, 0, 1)


def _without_alpha(picture: Image.Image) -> Image.Image:
    """The picture on a white ground."""
    if not picture.has_transparency_data:
        return picture
    ground = Image.new("RGBA", picture.size, (WHITE, WHITE, WHITE, WHITE))
    return Image.alpha_composite(ground, picture.convert("RGBA"))


def bad_pictures(bad: list[tuple[str, str]], total: int, folder: Path, out_of: int = 0) -> UserError:
    """The error for pictures that cannot be used: the first five and how many there are. `total` were looked at, which
    may be some out of more: then nobody knows yet how many of those are bad."""
    lines = "".join(f"\n  {name}: {why}" for name, why in bad[:5])
    more = f"\n  and {len(bad) - 5:,} more" if len(bad) > 5 else ""
    files = "file" if total == 1 else "files"
    looked = f" ({total:,} of {out_of:,} were looked at)" if out_of > total else ""
    return UserError(
        f"{len(bad):,} of {total:,} image {files} in {folder} cannot be used{looked}:{lines}{more}\n"
        "Expected whole pictures, such as PNG or JPEG. Replace or remove what is damaged."
    )
