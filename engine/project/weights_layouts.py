"""Layouts of published weights: the keys of torchvision and timm for the weights of our templates.

A layout is a list of rules. A rule is a pattern for a key of ours, and where the numbers stand in the file: one or more
keys, of which the first that is there counts (an old name and a new one), perhaps a part of the rows of one tensor.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple


class Source(NamedTuple):
    """Where the numbers of a key stand: the key in the file, and which of so many equal parts of its rows."""

    key: str
    part: int = 0
    parts: int = 1


Rule = tuple[str, Callable[[re.Match[str]], tuple[str | Source, ...]]]


@dataclass(frozen=True)
class Layout:
    """Keys of one kind of published network."""

    name: str
    rules: tuple[Rule, ...]

    def sources(self, key: str) -> tuple[Source, ...]:
        """Return where the numbers of a key of the network may stand in a file, best first; empty for other keys."""
        for pattern, sources in self.rules:
            if match := _pattern(pattern).fullmatch(key):
                try:
                    return tuple(Source(source) if isinstance(source, str) else source for source in sources(match))
                except LookupError:  # a layer of another network, whose name follows the pattern
                    return ()
        return ()


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _to(*templates: str) -> Callable[[re.Match[str]], tuple[str, ...]]:
    """Return a rule's answer that fills the groups of the pattern into keys."""
    return lambda match: tuple(match.expand(template) for template in templates)


def _chain(place: str, numbers: Mapping[str, int]) -> Rule:
    """Return a rule for layers that stand one behind the other in a `Sequential`, by their names."""
    names = "|".join(map(re.escape, numbers))
    return rf"({names})\.(.*)", lambda match: (f"{place}{numbers[match[1]]}.{match[2]}",)


# ---- resnet ----


def _resnet(name: str, down: int, first_offset: int) -> Layout:
    """Return the layout of a ResNet whose blocks have their downsampling in the convolution `down`; the repeated blocks
    of the first stage begin at `first_offset`."""

    def unit(match: re.Match[str]) -> tuple[str, ...]:
        stage, is_down, copy, kind, number, rest = match.groups()
        index = 0 if is_down else int(copy or 0) + (first_offset if stage == "1" else 1)
        if int(number) == down:
            return (f"layer{stage}.{index}.downsample.{0 if kind == 'conv' else 1}.{rest}",)
        return (f"layer{stage}.{index}.{kind}{number}.{rest}",)

    return Layout(
        name,
        (
            (r"(conv|bn)_1\.(.*)", _to(r"\g<1>1.\2")),
            (r"fc_1\.(.*)", _to(r"fc.\1")),
            (r"stage_(\d)(_down)?(?:\.(\d+))?\.(conv|bn)_(\d)\.(.*)", unit),
        ),
    )


# ---- vgg, alexnet, squeezenet ----


_VGG = {
    name: place
    for stage, places in enumerate(((0, 2), (5, 7), (10, 12, 14), (17, 19, 21), (24, 26, 28)), 1)
    for name, place in ((f"stage_{stage}.conv_{number}", place) for number, place in enumerate(places, 1))
}
_FIRE = {"fire_2": 3, "fire_3": 4, "fire_4": 6, "fire_5": 7, "fire_6": 9, "fire_7": 10, "fire_8": 11, "fire_9": 12}
_FIRE_PARTS = {"1": "squeeze", "2": "expand1x1", "3": "expand3x3"}


# ---- mobilenet, efficientnet ----


_MOBILE_FIRST = (1, 2, 4, 7, 11, 14, 17)
"""Number of the first block of each stage of MobileNetV2 within `features`."""


def _mobile(match: re.Match[str]) -> tuple[str, ...]:
    stage, is_first, copy, layer, number, rest = match.groups()
    index = _MOBILE_FIRST[int(stage) - 1] + (0 if is_first else int(copy or 0) + 1)
    if stage == "1":
        places = {"grouped_conv_1": "0.0", "bn_1": "0.1", "conv_1": "1", "bn_2": "2"}
    else:
        places = {"conv_1": "0.0", "bn_1": "0.1", "grouped_conv_1": "1.0", "bn_2": "1.1", "conv_2": "2", "bn_3": "3"}
    return (f"features.{index}.conv.{places[f'{layer}_{number}']}.{rest}",)


def _efficient(match: re.Match[str]) -> tuple[str, ...]:
    stage, is_first, copy, layer, number, rest = match.groups()
    index = 0 if is_first else int(copy or 0) + 1
    places = {"grouped_conv_1": "0.0", "bn_1": "0.1", "conv_1": "1.fc1", "conv_2": "1.fc2", "conv_3": "2.0"}
    if stage == "1":
        places["bn_2"] = "2.1"
    else:
        places = {"conv_1": "0.0", "bn_1": "0.1", "grouped_conv_1": "1.0", "bn_2": "1.1", "conv_2": "2.fc1"}
        places |= {"conv_3": "2.fc2", "conv_4": "3.0", "bn_3": "3.1"}
    return (f"features.{stage}.{index}.block.{places[f'{layer}_{number}']}.{rest}",)


_INVERTED = r"stage_(\d)(_first)?(?:\.(\d+))?\.(grouped_conv|conv|bn)_(\d)\.(.*)"


# ---- densenet, googlenet ----


def _inverted(name: str, last: int, blocks: Callable[[re.Match[str]], tuple[str, ...]]) -> Layout:
    """Return the layout of inverted residual blocks between two convolutions; `last` is the number of the second."""
    rules: tuple[Rule, ...] = (
        (r"conv_1\.(.*)", _to(r"features.0.0.\1")),
        (r"bn_1\.(.*)", _to(r"features.0.1.\1")),
        (_INVERTED, blocks),
        (r"conv_2\.(.*)", _to(rf"features.{last}.0.\1")),
        (r"bn_2\.(.*)", _to(rf"features.{last}.1.\1")),
        (r"fc_1\.(.*)", _to(r"classifier.1.\1")),
    )
    return Layout(name, rules)


def _dense(match: re.Match[str]) -> tuple[str, ...]:
    block, copy, kind, number, rest = match.groups()
    kind = "norm" if kind == "bn" else kind
    start = f"features.denseblock{block}.denselayer{int(copy) + 1}.{kind}"
    return f"{start}{number}.{rest}", f"{start}.{number}.{rest}"  # files of 2017 have a dot, as in norm.1


_BRANCHES = {"1": "1", "2": "2.0", "3": "2.1", "4": "3.0", "5": "3.1", "6": "4.1"}


# ---- vision transformer ----


def _attention(template: str) -> Rule:
    """Return the rule for query, key and value, which stand under each other in one tensor."""

    def answer(match: re.Match[str]) -> tuple[Source, ...]:
        return (Source(match.expand(template), ("query", "key", "value").index(match[2]), 3),)

    return r"encoder\.(\d+)\.self_attention_1\.(query|key|value)\.(weight|bias)", answer


_VIT = Layout(
    "torchvision: vision transformer",
    (
        (r"conv_1\.(.*)", _to(r"conv_proj.\1")),
        (r"class_token_1\.token", _to("class_token")),
        (r"position_embedding_1\.table\.weight", _to("encoder.pos_embedding")),
        (r"encoder\.(\d+)\.layer_norm_(\d)\.(.*)", _to(r"encoder.layers.encoder_layer_\1.ln_\2.\3")),
        _attention(r"encoder.layers.encoder_layer_\1.self_attention.in_proj_\3"),
        (
            r"encoder\.(\d+)\.self_attention_1\.result\.(.*)",
            _to(r"encoder.layers.encoder_layer_\1.self_attention.out_proj.\2"),
        ),
        *(
            (
                rf"encoder\.(\d+)\.fc_{number}\.(.*)",  # files hold the names that torchvision had before 0.13
                _to(
                    rf"encoder.layers.encoder_layer_\1.mlp.{place}.\2",
                    rf"encoder.layers.encoder_layer_\1.mlp.linear_{number}.\2",
                ),
            )
            for number, place in ((1, 0), (2, 3))
        ),
        (r"layer_norm_1\.(.*)", _to(r"encoder.ln.\1")),
        (r"fc_1\.(.*)", _to(r"heads.head.\1")),
    ),
)
_TIMM_VIT = Layout(
    "timm: vision transformer",
    (
        (r"conv_1\.(.*)", _to(r"patch_embed.proj.\1")),
        (r"class_token_1\.token", _to("cls_token")),
        (r"position_embedding_1\.table\.weight", _to("pos_embed")),
        (r"encoder\.(\d+)\.layer_norm_(\d)\.(.*)", _to(r"blocks.\1.norm\2.\3")),
        _attention(r"blocks.\1.attn.qkv.\3"),
        (r"encoder\.(\d+)\.self_attention_1\.result\.(.*)", _to(r"blocks.\1.attn.proj.\2")),
        (r"encoder\.(\d+)\.fc_(\d)\.(.*)", _to(r"blocks.\1.mlp.fc\2.\3")),
        (r"layer_norm_1\.(.*)", _to(r"norm.\1")),
        (r"fc_1\.(.*)", _to(r"head.\1")),
    ),
)

LAYOUTS: tuple[Layout, ...] = (
    _resnet("torchvision: ResNet of basic blocks", 3, 0),
    _resnet("torchvision: ResNet of bottlenecks", 4, 1),
    Layout(
        "torchvision: VGG-16",
        (
            _chain("features.", _VGG),
            _chain("classifier.", {"fc_1": 0, "fc_2": 3, "fc_3": 6}),
        ),
    ),
    Layout(
        "torchvision: AlexNet",
        (
            _chain("features.", {"conv_1": 0, "conv_2": 3, "conv_3": 6, "conv_4": 8, "conv_5": 10}),
            _chain("classifier.", {"fc_1": 1, "fc_2": 4, "fc_3": 6}),
        ),
    ),
    Layout(
        "torchvision: SqueezeNet 1.1",
        (
            (r"conv_1\.(.*)", _to(r"features.0.\1")),
            (r"conv_2\.(.*)", _to(r"classifier.1.\1")),
            (
                r"(fire_\d)\.conv_(\d)\.(.*)",
                lambda found: (f"features.{_FIRE[found[1]]}.{_FIRE_PARTS[found[2]]}.{found[3]}",),
            ),
        ),
    ),
    _inverted("torchvision: MobileNetV2", 18, _mobile),
    _inverted("torchvision: EfficientNet", 8, _efficient),
    Layout(
        "torchvision: DenseNet",
        (
            (r"conv_1\.(.*)", _to(r"features.conv0.\1")),
            (r"bn_1\.(.*)", _to(r"features.norm0.\1")),
            (r"dense_(\d)\.(\d+)\.(bn|conv)_(\d)\.(.*)", _dense),
            (r"transition_(\d)\.conv_1\.(.*)", _to(r"features.transition\1.conv.\2")),
            (r"transition_(\d)\.bn_1\.(.*)", _to(r"features.transition\1.norm.\2")),
            (r"bn_2\.(.*)", _to(r"features.norm5.\1")),
            (r"fc_1\.(.*)", _to(r"classifier.\1")),
        ),
    ),
    Layout(
        "torchvision: GoogLeNet",
        (
            (r"(conv|bn)_(\d)\.(.*)", _to(r"conv\2.\1.\3")),
            (
                r"inception_(\d\w)\.(conv|bn)_(\d)\.(.*)",
                lambda found: (f"inception{found[1]}.branch{_BRANCHES[found[3]]}.{found[2]}.{found[4]}",),
            ),
            (r"fc_1\.(.*)", _to(r"fc.\1")),
        ),
    ),
    _VIT,
    _TIMM_VIT,
)
