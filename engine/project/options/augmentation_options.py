"""How the images and sequences of training batches are changed at random."""

from typing import Any

from netwright.engine.core.errors import FieldError
from netwright.engine.core.fields import Bool, Float, Int
from netwright.engine.core.list_fields import Floats, Range
from netwright.engine.core.records import Record

GROUP = "Augmentation"
WHOLE_MOVES = ("rand_x_reflection", "rand_y_reflection", "rand_crop_padding")
"""Changes that move images by whole pixels only, without interpolation."""
MOVES = (
    *WHOLE_MOVES,
    "rand_rotation",
    "rand_scale",
    "rand_x_scale",
    "rand_y_scale",
    "rand_x_shear",
    "rand_y_shear",
    "rand_x_translation",
    "rand_y_translation",
)
COLOURS = ("jitter_saturation", "jitter_hue")
MIXES = ("mixup_alpha", "cutmix_alpha")
OF_IMAGES = (
    *MOVES,
    "jitter_brightness",
    "jitter_contrast",
    *COLOURS,
    "noise_deviation",
    "erasing_probability",
    *MIXES,
)
OF_SEQUENCES = ("rand_time_shift", "sequence_noise", "time_mask")
CHANGES = (*OF_IMAGES, *OF_SEQUENCES)
MIXED_LOSSES = ("auto", "cross-entropy", "index-cross-entropy")
"""Losses that accept shares of classes as targets."""
IMAGE_OPTIONS = (*OF_IMAGES, "alternating_reflection", "fill_value", "erasing_area")
AUGMENTATION = (*IMAGE_OPTIONS, *OF_SEQUENCES)


def _needs_fill(options: "AugmentationOptions") -> bool:
    return any(options.does(name) for name in (*MOVES, "erasing_probability"))


def _scales_apart(options: "AugmentationOptions") -> bool:
    return not options.does("rand_scale")


def _of_scale(dimension: str, matlab: str) -> Any:
    return Range(
        (1.0, 1.0),
        low=0.01,
        high=100.0,
        label=f"Scale of the {dimension}",
        group=GROUP,
        help=f"Range of the factor on the {dimension}. Default 1, 1: no change. Images are scaled about their centre",
        matlab=f"{matlab}, also ignored if width and height are scaled together",
        torch="none",
        visible_when=_scales_apart,
    )


def _of_shear(axis: str, formula: str, matlab: str) -> Any:
    return Range(
        (0.0, 0.0),
        low=-89.0,
        high=89.0,
        is_symmetric=True,
        unit="degrees",
        label=f"Shear along {axis}",
        group=GROUP,
        help=f"Range of the shear angle along {axis}. Default 0, 0: no change. {axis} becomes {formula}",
        matlab=matlab,
        torch="shear of RandomAffine",
    )


def _of_translation(way: str, matlab: str) -> Any:
    return Range(
        (0.0, 0.0),
        low=-8192.0,
        high=8192.0,
        is_symmetric=True,
        unit="pixels",
        label=f"Translation {way}",
        group=GROUP,
        help=f"Range of the shift {way}. Default 0, 0: no change. Fractions of a pixel are included",
        matlab=matlab,
        torch="translate of RandomAffine, as a fraction of the image",
    )


def _of_mix(effect: str, shares: str, paper: str, torch: str) -> Float:
    return Float(
        0.0,
        low=0.0,
        high=100.0,
        label=torch,
        group=GROUP,
        help=f"{effect}. Default 0: no mixing. The shares are drawn from the distribution Beta(a, a): {shares}. The "
        "loss, which must be cross-entropy, weights the two classes by their shares; training accuracy uses the "
        f"larger share. {paper}",
        matlab="none",
        torch=f"{torch}, which pairs images within a batch",
    )


def _of_jitter(help: str, matlab: str, torch: str, high: float = 10.0) -> Float:
    label, torch = torch.capitalize(), f"{torch} of ColorJitter"
    return Float(0.0, low=0.0, high=high, label=label, group=GROUP, help=help, matlab=matlab, torch=torch)


class AugmentationOptions(Record):
    """Random changes to the images and sequences of training batches, drawn anew in each epoch; validation and test
    samples stay as they are.

    Each value is drawn uniformly from its range, separately for each sample, from the seed, the epoch and the position
    of the sample in the data: neither the number of workers nor a resumed run changes it. Reflection, scaling, shear,
    rotation and translation about the centre come first, as one transform with bilinear interpolation; then the crop,
    brightness, contrast, saturation, hue, noise, erasing and mixing, in this order. Sequences of numbers are shifted in
    time, get noise, and are masked, in this order.
    """

    rand_x_reflection = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Left-right reflection",
        group=GROUP,
        help="Probability of mirroring left to right, 0 to 1. Default 0",
        matlab="RandXReflection, where true means 0.5",
        torch="RandomHorizontalFlip",
    )
    alternating_reflection = Bool(
        False,
        label="Alternating reflection",
        group=GROUP,
        help="Mirrors every image left to right in every other epoch. Default off: by chance in each epoch. The "
        "probability decides in which of two epochs, so that two epochs show an image from both sides. Jordan, 2024",
        matlab="none",
        torch="none",
        visible_when=lambda options: options.rand_x_reflection > 0,
    )
    rand_y_reflection = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Top-bottom reflection",
        group=GROUP,
        help="Probability of mirroring top to bottom, 0 to 1. Default 0",
        matlab="RandYReflection, where true means 0.5",
        torch="RandomVerticalFlip",
    )
    rand_rotation = Range(
        (0.0, 0.0),
        low=-360.0,
        high=360.0,
        is_symmetric=True,
        unit="degrees",
        label="Rotation",
        group=GROUP,
        help="Range of the angle of clockwise rotation. Default 0, 0: no change. Images are rotated about their "
        "centre, bilinearly. The order is scaling, shear, rotation, translation, after reflection",
        matlab="RandRotation, in an undocumented order",
        torch="degrees of RandomAffine, in this order",
    )
    rand_scale = Range(
        (1.0, 1.0),
        low=0.01,
        high=100.0,
        label="Scale",
        group=GROUP,
        help="Range of the factor on width and height together. Default 1, 1: no change. Images are scaled about "
        "their centre",
        matlab="RandScale",
        torch="scale of RandomAffine",
    )
    rand_x_scale = _of_scale("width", "RandXScale")
    rand_y_scale = _of_scale("height", "RandYScale")
    rand_x_shear = _of_shear("x", "x + y · tan(angle), y counted downwards from the centre", "RandXShear")
    rand_y_shear = _of_shear("y", "y + x · tan(angle), x counted from the centre", "RandYShear")
    rand_x_translation = _of_translation("to the right", "RandXTranslation")
    rand_y_translation = _of_translation("down", "RandYTranslation")
    rand_crop_padding = Int(
        0,
        low=0,
        high=8192,
        unit="pixels",
        label="Padding of random crops",
        group=GROUP,
        help="Border added before a random crop to the old size. Default 0: no crop. 4 is usual for CIFAR. Images "
        "move by whole pixels without interpolation",
        matlab="randcrop, which crops larger images",
        torch="padding of RandomCrop",
    )
    fill_value = Floats(
        (0.0,),
        group=GROUP,
        help="Value of pixels outside the image. Default 0. One number or one per channel, in the units of the data "
        "(image files: 0 to 255). Such pixels are ignored in masks",
        matlab="FillValue",
        torch="fill",
        visible_when=_needs_fill,
    )
    jitter_brightness = _of_jitter(
        "Largest change b of brightness. Default 0: no change. Images are multiplied by a factor from max(0, 1 - b) to "
        "1 + b, and clipped (image files: to 0 and 255, otherwise to the range of the training split)",
        "Brightness of jitterColorHSV, which adds instead",
        "brightness",
    )
    jitter_contrast = _of_jitter(
        "Largest change c of contrast. Default 0: no change. Differences from the mean grey of an image are multiplied "
        "by a factor from max(0, 1 - c) to 1 + c",
        "Contrast of jitterColorHSV",
        "contrast",
    )
    jitter_saturation = _of_jitter(
        "Largest change s of saturation. Default 0: no change. Differences of colours from their grey are multiplied "
        "by a factor from max(0, 1 - s) to 1 + s",
        "Saturation of jitterColorHSV, which adds instead",
        "saturation",
    )
    jitter_hue = _of_jitter(
        "Largest rotation of hues, 0 to 0.5 of the circle. Default 0: no change. In either direction, in HSV",
        "Hue of jitterColorHSV",
        "hue",
        high=0.5,
    )
    noise_deviation = Float(
        0.0,
        low=0.0,
        high=1e6,
        label="Noise",
        group=GROUP,
        help="Standard deviation of normal noise. Default 0: no noise. It is added to each value, in the units of the "
        "data (image files: 0 to 255)",
        matlab="imnoise",
        torch="sigma of GaussianNoise, for images from 0 to 1",
    )
    erasing_probability = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Erasing",
        group=GROUP,
        help="Probability that a rectangle is erased, 0 to 1. Default 0. It is filled with the fill value (cutout). "
        "Its aspect ratio is between 0.3 and 3.3; masks are unchanged",
        matlab="none",
        torch="p of RandomErasing",
    )
    erasing_area = Range(
        (0.02, 0.33),
        low=0.0,
        high=1.0,
        label="Area erased",
        group=GROUP,
        help="Range of the fraction erased, 0 to 1. Default 0.02, 0.33",
        matlab="none",
        torch="scale of RandomErasing",
        visible_when=lambda options: options.erasing_probability > 0,
    )

    mixup_alpha = _of_mix(
        "Strength a of averaging two images",
        "an image is averaged with a random one of the training split",
        "Zhang et al., 2018",
        "MixUp",
    )
    cutmix_alpha = _of_mix(
        "Strength a of pasting a part of another image",
        "a rectangle comes from a random image of the training split; with MixUp, each of the two applies to half of "
        "the images",
        "Yun et al., 2019",
        "CutMix",
    )

    rand_time_shift = Range(
        (0.0, 0.0),
        low=-1e6,
        high=1e6,
        is_symmetric=True,
        unit="steps",
        label="Time shift",
        group=GROUP,
        help="Range of the shift to later steps. Default 0, 0: no change. Sequences of numbers keep their length: "
        "steps that become free repeat the value at that end. Targets per step are moved along",
        matlab="TimeShiftRange of audioDataAugmenter, in seconds",
        torch="none",
    )
    sequence_noise = Float(
        0.0,
        low=0.0,
        high=1e6,
        label="Noise of sequences",
        group=GROUP,
        help="Standard deviation of normal noise. Default 0: no noise. It is added to each value of sequences of "
        "numbers, in the units of the data",
        matlab="SNRRange of audioDataAugmenter, as a ratio",
        torch="AddNoise of torchaudio, as a ratio",
    )
    time_mask = Int(
        0,
        low=0,
        high=1_000_000,
        unit="steps",
        label="Masked steps",
        group=GROUP,
        help="Most steps in a row that are masked. Default 0: none. A random number of steps up to this, at a random "
        "place, gets the mean of the sequence, per channel. Targets stay. Park et al., 2019",
        matlab="none",
        torch="time_mask_param of TimeMasking in torchaudio, which sets 0",
    )

    @property
    def mixes(self) -> bool:
        """Whether images and their classes are mixed with others."""
        return any(self.does(name) for name in MIXES)

    def does(self, name: str) -> bool:
        """Whether this option changes images or sequences."""
        return name in CHANGES and self.is_visible(name) and getattr(self, name) != type(self).fields[name].default

    @property
    def augments(self) -> tuple[str, ...]:
        """The names of the options that change samples; none where they are left as they are."""
        return tuple(name for name in CHANGES if self.does(name))

    def problems(self) -> list[FieldError]:
        """Return contradictions: a solver that needs the same samples at each iteration, a loss that refuses mixed
        classes."""
        problems = super().problems()
        if getattr(self, "is_full_batch", False) and (changes := self.augments):
            solver = getattr(self, "solver", "")
            message = (
                f"the solver {solver} needs the same samples at each iteration. Switch augmentation off, or choose "
                "another solver."
            )
            problems.append(FieldError(changes[0], message))
        if self.mixes:
            first = next(name for name in MIXES if self.does(name))
            for loss in (name for name in getattr(self, "losses", ()) if name not in MIXED_LOSSES):
                message = (
                    f"mixed images have mixed classes, which {loss} does not support. Use cross-entropy, or set this "
                    "option to 0."
                )
                problems.append(FieldError(first, message))
            if getattr(self, "step_function", ""):
                message = "a custom training step needs class numbers, which mixed images lack. Set this option to 0."
                problems.append(FieldError(first, message))
        return problems
