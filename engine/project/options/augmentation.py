"""How the images of training batches are changed at random."""

from typing import Any

from engine.core.errors import FieldError
from engine.core.fields import Float, Int
from engine.core.list_fields import Floats, Range
from engine.core.records import Record

GROUP = "Augmentation"
WHOLE_MOVES = ("rand_x_reflection", "rand_y_reflection", "rand_crop_padding")
"""What moves images by whole pixels only, so that no value is mixed."""
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
CHANGES = (*MOVES, "jitter_brightness", "jitter_contrast", *COLOURS, "noise_deviation", "erasing_probability", *MIXES)
MIXED_LOSSES = ("auto", "cross-entropy", "index-cross-entropy")
"""Those that take shares of classes as targets."""
AUGMENTATION = (*CHANGES, "fill_value", "erasing_area")


def _needs_fill(options: "AugmentationOptions") -> bool:
    return any(options.does(name) for name in (*MOVES, "erasing_probability"))


def _scales_apart(options: "AugmentationOptions") -> bool:
    return not options.does("rand_scale")


def _of_scale(what: str, matlab: str) -> Any:
    return Range(
        (1.0, 1.0),
        low=0.01,
        high=100.0,
        label=f"Scale of the {what}",
        group=GROUP,
        help=f"Range of the factor that the {what} of an image is multiplied by about its centre. Default 1, 1: none. "
        f"MATLAB: {matlab}, which is ignored there, too, where both are scaled alike",
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
        help=f"Range of the angle of a slant along {axis}: {axis} becomes {formula}. Default 0, 0: none. "
        f"MATLAB: {matlab}; torch: RandomAffine, shear",
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
        help=f"Range of how far images are moved {way}, fractions included. Default 0, 0: not at all. "
        f"MATLAB: {matlab}; torch: RandomAffine, translate, as a part of the image",
    )


def _of_mix(what: str, paper: str, torch: str) -> Float:
    return Float(
        0.0,
        low=0.0,
        high=100.0,
        label=torch,
        group=GROUP,
        help=f"{what} Each class counts by its share in the loss, which must be cross-entropy; accuracy while training "
        f"goes by the larger share. The share is drawn from Beta(this, this). Default 0: none. {paper}. "
        f"torch: {torch}, which pairs within a batch; MATLAB has none",
    )


def _of_jitter(what: str, torch: str, high: float = 10.0) -> Float:
    label = torch.capitalize()
    return Float(0.0, low=0.0, high=high, label=label, group=GROUP, help=f"{what}. torch: ColorJitter, {torch}")


class AugmentationOptions(Record):
    """How the images of training batches are changed at random, anew in each epoch; of validation and test none is.

    Each number is drawn evenly from its range, of each sample by itself, from seed, epoch and the place of the sample
    in the data: neither workers nor a resumed run change it. First come reflection, scaling, shear, rotation and
    translation about the centre, as one transform with bilinear interpolation; then the crop, brightness, contrast,
    saturation, hue, noise, erasing and mixing, in this order.
    """

    rand_x_reflection = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Left-right reflection",
        group=GROUP,
        help="Probability that an image is mirrored left to right. Default 0. MATLAB: RandXReflection, where true is "
        "0.5; torch: RandomHorizontalFlip",
    )
    rand_y_reflection = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Top-bottom reflection",
        group=GROUP,
        help="Probability that an image is mirrored top to bottom. Default 0. MATLAB: RandYReflection, where true is "
        "0.5; torch: RandomVerticalFlip",
    )
    rand_rotation = Range(
        (0.0, 0.0),
        low=-360.0,
        high=360.0,
        is_symmetric=True,
        unit="degrees",
        label="Rotation",
        group=GROUP,
        help="Range of the angle that images are turned by about their centre, clockwise, with bilinear interpolation. "
        "Default 0, 0: none. MATLAB: RandRotation; torch: RandomAffine, degrees. The order is torch's: scaling, shear, "
        "rotation, translation, after reflection; MATLAB's documentation names none",
    )
    rand_scale = Range(
        (1.0, 1.0),
        low=0.01,
        high=100.0,
        label="Scale",
        group=GROUP,
        help="Range of the factor that images are enlarged by about their centre, both sides alike. Default 1, 1: "
        "none. MATLAB: RandScale; torch: RandomAffine, scale",
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
        help="Images get a border of so many pixels, and a part of their own size is cut out anywhere: moved by whole "
        "pixels, so nothing is mixed. Default 0: none. 4 is usual for CIFAR. torch: RandomCrop, padding; MATLAB: "
        "randcrop, which cuts from larger images",
    )
    fill_value = Floats(
        (0.0,),
        group=GROUP,
        help="What stands where no image is, in the units of the data (pictures: 0 to 255), one number or one a "
        "channel. Default 0. Pixels of a mask do not count there. MATLAB: FillValue; torch: fill",
        visible_when=_needs_fill,
    )
    jitter_brightness = _of_jitter(
        "Images are multiplied by a factor from 1 - this, at least 0, to 1 + this, and kept within black and white "
        "(pictures: 0 and 255, else the least and the largest number of the training split). Default 0: none. MATLAB: "
        "jitterColorHSV, Brightness, adds instead",
        "brightness",
    )
    jitter_contrast = _of_jitter(
        "The difference to the mean grey of an image is multiplied by a factor from 1 - this, at least 0, to 1 + this. "
        "Default 0: none. MATLAB: jitterColorHSV, Contrast",
        "contrast",
    )
    jitter_saturation = _of_jitter(
        "The difference of colours to their grey is multiplied by a factor from 1 - this, at least 0, to 1 + this. "
        "Default 0: none. MATLAB: jitterColorHSV, Saturation, adds instead",
        "saturation",
    )
    jitter_hue = _of_jitter(
        "Colours are turned on the colour circle (HSV) by up to this part of it either way, 0.5 at most. Default 0: "
        "none. MATLAB: jitterColorHSV, Hue",
        "hue",
        high=0.5,
    )
    noise_deviation = Float(
        0.0,
        low=0.0,
        high=1e6,
        label="Noise",
        group=GROUP,
        help="Standard deviation of normal noise that is added to each number, in the units of the data (pictures: 0 "
        "to 255). Default 0: none. torch: GaussianNoise, sigma, of images from 0 to 1; MATLAB: imnoise",
    )
    erasing_probability = Float(
        0.0,
        low=0.0,
        high=1.0,
        label="Erasing",
        group=GROUP,
        help="Probability that a rectangle of an image is replaced by the fill value (cutout). Default 0. Its sides "
        "are in a ratio from 0.3 to 3.3; masks keep what they say there. torch: RandomErasing, p; MATLAB has none",
    )
    erasing_area = Range(
        (0.02, 0.33),
        low=0.0,
        high=1.0,
        label="Area erased",
        group=GROUP,
        help="Range of the part of the image that is erased. Default 0.02, 0.33. torch: RandomErasing, scale",
        visible_when=lambda options: options.erasing_probability > 0,
    )

    mixup_alpha = _of_mix(
        "Each image is mixed with another one of the training split, wherever that is, by shares of their values.",
        "Zhang et al., 2018",
        "MixUp",
    )
    cutmix_alpha = _of_mix(
        "A rectangle of each image is taken from another one of the training split. Together with MixUp, each is done "
        "to half of the images.",
        "Yun et al., 2019",
        "CutMix",
    )

    @property
    def mixes(self) -> bool:
        """Whether images are mixed with others, and their classes with them."""
        return any(self.does(name) for name in MIXES)

    def does(self, name: str) -> bool:
        """Whether this option changes images."""
        return name in CHANGES and self.is_visible(name) and getattr(self, name) != type(self).fields[name].default

    @property
    def augments(self) -> tuple[str, ...]:
        """The names of the options that change images; none where images are left as they are."""
        return tuple(name for name in CHANGES if self.does(name))

    def problems(self) -> list[FieldError]:
        """Solvers that compare one iteration with the next want the same samples in both."""
        found = super().problems()
        if getattr(self, "is_full_batch", False) and (changes := self.augments):
            solver = getattr(self, "solver", "")
            message = (
                f"the solver {solver} needs the same samples at each iteration. Switch it off, or use another one."
            )
            found.append(FieldError(changes[0], message))
        if self.mixes:
            first = next(name for name in MIXES if self.does(name))
            for loss in (name for name in getattr(self, "losses", ()) if name not in MIXED_LOSSES):
                message = (
                    f"classes are mixed with their images, which {loss} cannot take. Use cross-entropy, or set it to 0."
                )
                found.append(FieldError(first, message))
            if getattr(self, "step_function", ""):
                message = "a training step of your own gets class numbers, and mixed images have none. Set it to 0."
                found.append(FieldError(first, message))
        return found
