"""Key layouts of torchvision's models, with random numbers, and the forward passes of four of them in plain torch.

The layouts follow torchvision's model definitions: https://github.com/pytorch/vision/tree/main/torchvision/models.
"""

from collections.abc import Iterator

import torch
from torch.nn import functional

State = dict[str, torch.Tensor]
Shapes = Iterator[tuple[str, tuple[int, ...]]]


def conv(name: str, out: int, into: int, size: int, *, bias: bool = False) -> Shapes:
    """Keys of a convolution."""
    yield f"{name}.weight", (out, into, size, size)
    if bias:
        yield f"{name}.bias", (out,)


def linear(name: str, out: int, into: int) -> Shapes:
    """Keys of a linear layer."""
    yield f"{name}.weight", (out, into)
    yield f"{name}.bias", (out,)


def norm(name: str, count: int, *, batch: bool = True) -> Shapes:
    """Keys of a batch or layer normalisation."""
    yield f"{name}.weight", (count,)
    yield f"{name}.bias", (count,)
    if batch:
        yield f"{name}.running_mean", (count,)
        yield f"{name}.running_var", (count,)
        yield f"{name}.num_batches_tracked", ()


def resnet(counts: tuple[int, ...], *, bottleneck: bool) -> Shapes:
    yield from conv("conv1", 64, 3, 7)
    yield from norm("bn1", 64)
    width = 64
    for stage, count in enumerate(counts, 1):
        planes = 64 * 2 ** (stage - 1)
        out = planes * (4 if bottleneck else 1)
        for unit in range(count):
            place = f"layer{stage}.{unit}"
            sizes = ((planes, width, 1), (planes, planes, 3), (out, planes, 1)) if bottleneck else ()
            for number, (to, into, size) in enumerate(sizes or ((planes, width, 3), (planes, planes, 3)), 1):
                yield from conv(f"{place}.conv{number}", to, into, size)
                yield from norm(f"{place}.bn{number}", to)
            if unit == 0 and width != out:
                yield from conv(f"{place}.downsample.0", out, width, 1)
                yield from norm(f"{place}.downsample.1", out)
            width = out
    yield from linear("fc", 1000, width)


VGG: tuple[tuple[int, int], ...] = (
    (0, 64),
    (2, 64),
    (5, 128),
    (7, 128),
    (10, 256),
    (12, 256),
    (14, 256),
    (17, 512),
    (19, 512),
    (21, 512),
)
VGG += ((24, 512), (26, 512), (28, 512))


def vgg16() -> Shapes:
    width = 3
    for place, out in VGG:
        yield from conv(f"features.{place}", out, width, 3, bias=True)
        width = out
    for place, out, into in ((0, 4096, 25088), (3, 4096, 4096), (6, 1000, 4096)):
        yield from linear(f"classifier.{place}", out, into)


def alexnet() -> Shapes:
    for place, out, into, size in (
        (0, 64, 3, 11),
        (3, 192, 64, 5),
        (6, 384, 192, 3),
        (8, 256, 384, 3),
        (10, 256, 256, 3),
    ):
        yield from conv(f"features.{place}", out, into, size, bias=True)
    for place, out, into in ((1, 4096, 9216), (4, 4096, 4096), (6, 1000, 4096)):
        yield from linear(f"classifier.{place}", out, into)


FIRES: tuple[tuple[int, int, int, int], ...] = (
    (3, 64, 16, 64),
    (4, 128, 16, 64),
    (6, 128, 32, 128),
    (7, 256, 32, 128),
    (9, 256, 48, 192),
    (10, 384, 48, 192),
)
FIRES += ((11, 384, 64, 256), (12, 512, 64, 256))


def squeezenet() -> Shapes:
    yield from conv("features.0", 64, 3, 3, bias=True)
    for place, into, squeeze, expand in FIRES:
        yield from conv(f"features.{place}.squeeze", squeeze, into, 1, bias=True)
        yield from conv(f"features.{place}.expand1x1", expand, squeeze, 1, bias=True)
        yield from conv(f"features.{place}.expand3x3", expand, squeeze, 3, bias=True)
    yield from conv("classifier.1", 1000, 512, 1, bias=True)


INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Expansion, channels, count and stride of the stages of MobileNetV2."""


def mobilenet() -> Shapes:
    yield from conv("features.0.0", 32, 3, 3)
    yield from norm("features.0.1", 32)
    width, place = 32, 1
    for factor, out, count, _ in INVERTED:
        for _ in range(count):
            inner, at = width * factor, 0
            if factor != 1:
                yield from conv(f"features.{place}.conv.0.0", inner, width, 1)
                yield from norm(f"features.{place}.conv.0.1", inner)
                at = 1
            yield from conv(f"features.{place}.conv.{at}.0", inner, 1, 3)
            yield from norm(f"features.{place}.conv.{at}.1", inner)
            yield from conv(f"features.{place}.conv.{at + 1}", out, inner, 1)
            yield from norm(f"features.{place}.conv.{at + 2}", out)
            width, place = out, place + 1
    yield from conv("features.18.0", 1280, 320, 1)
    yield from norm("features.18.1", 1280)
    yield from linear("classifier.1", 1000, 1280)


EFFICIENT = ((1, 16, 1, 3), (6, 24, 2, 3), (6, 40, 2, 5), (6, 80, 3, 3), (6, 112, 3, 5), (6, 192, 4, 5), (6, 320, 1, 3))


def efficientnet() -> Shapes:
    yield from conv("features.0.0", 32, 3, 3)
    yield from norm("features.0.1", 32)
    width = 32
    for stage, (factor, out, count, size) in enumerate(EFFICIENT, 1):
        for unit in range(count):
            inner, place = width * factor, f"features.{stage}.{unit}.block"
            at = 0 if factor == 1 else 1
            if at:
                yield from conv(f"{place}.0.0", inner, width, 1)
                yield from norm(f"{place}.0.1", inner)
            yield from conv(f"{place}.{at}.0", inner, 1, size)
            yield from norm(f"{place}.{at}.1", inner)
            yield from conv(f"{place}.{at + 1}.fc1", max(1, width // 4), inner, 1, bias=True)
            yield from conv(f"{place}.{at + 1}.fc2", inner, max(1, width // 4), 1, bias=True)
            yield from conv(f"{place}.{at + 2}.0", out, inner, 1)
            yield from norm(f"{place}.{at + 2}.1", out)
            width = out
    yield from conv("features.8.0", 1280, 320, 1)
    yield from norm("features.8.1", 1280)
    yield from linear("classifier.1", 1000, 1280)


def densenet(dot: str = "") -> Shapes:
    """The keys of today, or those of the published files, as in `norm.1`."""
    yield from conv("features.conv0", 64, 3, 7)
    yield from norm("features.norm0", 64)
    width = 64
    for block, count in enumerate((6, 12, 24, 16), 1):
        for unit in range(1, count + 1):
            place = f"features.denseblock{block}.denselayer{unit}"
            yield from norm(f"{place}.norm{dot}1", width)
            yield from conv(f"{place}.conv{dot}1", 128, width, 1)
            yield from norm(f"{place}.norm{dot}2", 128)
            yield from conv(f"{place}.conv{dot}2", 32, 128, 3)
            width += 32
        if block < 4:
            yield from norm(f"features.transition{block}.norm", width)
            yield from conv(f"features.transition{block}.conv", width // 2, width, 1)
            width //= 2
    yield from norm("features.norm5", width)
    yield from linear("classifier", 1000, width)


INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}


def googlenet() -> Shapes:
    def basic(name: str, out: int, into: int, size: int) -> Shapes:
        yield from conv(f"{name}.conv", out, into, size)
        yield from norm(f"{name}.bn", out)

    yield from basic("conv1", 64, 3, 7)
    yield from basic("conv2", 64, 64, 1)
    yield from basic("conv3", 192, 64, 3)
    for name, (into, one, three_in, three, five_in, five, pool) in INCEPTIONS.items():
        place = f"inception{name}"
        yield from basic(f"{place}.branch1", one, into, 1)
        yield from basic(f"{place}.branch2.0", three_in, into, 1)
        yield from basic(f"{place}.branch2.1", three, three_in, 3)
        yield from basic(f"{place}.branch3.0", five_in, into, 1)
        yield from basic(f"{place}.branch3.1", five, five_in, 3)
        yield from basic(f"{place}.branch4.1", pool, into, 1)
    for number, into in ((1, 512), (2, 528)):  # which only the training of torchvision uses
        yield from basic(f"aux{number}.conv", 128, into, 1)
        yield from linear(f"aux{number}.fc1", 1024, 2048)
        yield from linear(f"aux{number}.fc2", 1000, 1024)
    yield from linear("fc", 1000, 1024)


def vit(mlp: tuple[str, str] = ("mlp.linear_1", "mlp.linear_2"), width: int = 768, depth: int = 12) -> Shapes:
    """The keys of the published file; today's are `mlp.0` and `mlp.3`."""
    yield "class_token", (1, 1, width)
    yield from conv("conv_proj", width, 3, 16, bias=True)
    yield "encoder.pos_embedding", (1, 197, width)
    for number in range(depth):
        place = f"encoder.layers.encoder_layer_{number}"
        yield from norm(f"{place}.ln_1", width, batch=False)
        yield f"{place}.self_attention.in_proj_weight", (3 * width, width)
        yield f"{place}.self_attention.in_proj_bias", (3 * width,)
        yield from linear(f"{place}.self_attention.out_proj", width, width)
        yield from norm(f"{place}.ln_2", width, batch=False)
        yield from linear(f"{place}.{mlp[0]}", 4 * width, width)
        yield from linear(f"{place}.{mlp[1]}", width, 4 * width)
    yield from norm("encoder.ln", width, batch=False)
    yield from linear("heads.head", 1000, width)


def timm_vit(width: int = 768) -> Shapes:
    """The keys of timm's vit_base_patch16_224."""
    yield "cls_token", (1, 1, width)
    yield "pos_embed", (1, 197, width)
    yield from conv("patch_embed.proj", width, 3, 16, bias=True)
    for number in range(12):
        place = f"blocks.{number}"
        yield from norm(f"{place}.norm1", width, batch=False)
        yield from linear(f"{place}.attn.qkv", 3 * width, width)
        yield from linear(f"{place}.attn.proj", width, width)
        yield from norm(f"{place}.norm2", width, batch=False)
        yield from linear(f"{place}.mlp.fc1", 4 * width, width)
        yield from linear(f"{place}.mlp.fc2", width, 4 * width)
    yield from norm("norm", width, batch=False)
    yield from linear("head", 1000, width)


def random_state(shapes: Shapes) -> State:
    """Numbers of a size that keeps signals alive through deep networks."""
    torch.manual_seed(3)
    state: State = {}
    for key, shape in shapes:
        if key.endswith("num_batches_tracked"):
            state[key] = torch.tensor(7)
        elif key.endswith("running_var"):
            state[key] = 0.5 + torch.rand(shape)
        elif len(shape) > 1:
            state[key] = torch.randn(shape) * (2 / max(1, torch.Size(shape[1:]).numel())) ** 0.5
        else:
            state[key] = 0.1 * torch.randn(shape) + (1.0 if key.endswith("weight") else 0.0)
    return state


# ---- forward passes ----


def batch_norm(state: State, name: str, x: torch.Tensor) -> torch.Tensor:
    mean, variance, weight, bias = (
        state[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
    )
    return functional.batch_norm(x, mean, variance, weight, bias)


def run_resnet18(state: State, x: torch.Tensor) -> torch.Tensor:
    x = functional.conv2d(x, state["conv1.weight"], stride=2, padding=3)
    x = functional.max_pool2d(functional.relu(batch_norm(state, "bn1", x)), 3, 2, 1)
    for stage in range(1, 5):
        for unit in range(2):
            place, stride = f"layer{stage}.{unit}", 2 if stage > 1 and unit == 0 else 1
            y = functional.conv2d(x, state[f"{place}.conv1.weight"], stride=stride, padding=1)
            y = functional.relu(batch_norm(state, f"{place}.bn1", y))
            y = batch_norm(state, f"{place}.bn2", functional.conv2d(y, state[f"{place}.conv2.weight"], padding=1))
            if stride == 2:
                x = functional.conv2d(x, state[f"{place}.downsample.0.weight"], stride=2)
                x = batch_norm(state, f"{place}.downsample.1", x)
            x = functional.relu(x + y)
    return functional.linear(x.mean((2, 3)), state["fc.weight"], state["fc.bias"])


def run_vgg16(state: State, x: torch.Tensor) -> torch.Tensor:
    for place, _ in VGG:
        x = functional.relu(
            functional.conv2d(x, state[f"features.{place}.weight"], state[f"features.{place}.bias"], padding=1)
        )
        if place in (2, 7, 14, 21, 28):
            x = functional.max_pool2d(x, 2)
    x = x.flatten(1)
    for place in (0, 3, 6):
        x = functional.linear(x, state[f"classifier.{place}.weight"], state[f"classifier.{place}.bias"])
        x = functional.relu(x) if place < 6 else x
    return x


def run_mobilenet(state: State, x: torch.Tensor) -> torch.Tensor:
    def step(x: torch.Tensor, name: str, normal: str, *, is_last: bool = False, stride: int = 1) -> torch.Tensor:
        weight = state[f"{name}.weight"]
        groups = x.shape[1] if weight.shape[1] == 1 else 1
        x = functional.conv2d(x, weight, stride=stride, padding=weight.shape[2] // 2, groups=groups)
        x = batch_norm(state, normal, x)
        return x if is_last else functional.relu6(x)

    x = step(x, "features.0.0", "features.0.1", stride=2)
    place = 1
    for factor, out, count, first in INVERTED:
        for unit in range(count):
            name, stride, at, y = f"features.{place}.conv", first if unit == 0 else 1, 0, x
            if factor != 1:
                y, at = step(y, f"{name}.0.0", f"{name}.0.1"), 1
            y = step(y, f"{name}.{at}.0", f"{name}.{at}.1", stride=stride)
            y = step(y, f"{name}.{at + 1}", f"{name}.{at + 2}", is_last=True)
            x = x + y if stride == 1 and x.shape[1] == out else y
            place += 1
    x = step(x, "features.18.0", "features.18.1")
    return functional.linear(x.mean((2, 3)), state["classifier.1.weight"], state["classifier.1.bias"])


def run_vit(state: State, x: torch.Tensor) -> torch.Tensor:
    x = functional.conv2d(x, state["conv_proj.weight"], state["conv_proj.bias"], stride=16).flatten(2).transpose(1, 2)
    width, heads = x.shape[2], 12
    x = torch.cat([state["class_token"].expand(len(x), -1, -1), x], 1) + state["encoder.pos_embedding"]

    def normal(x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(x, (width,), state[f"{name}.weight"], state[f"{name}.bias"], 1e-6)

    def dense(x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    for number in range(12):
        place = f"encoder.layers.encoder_layer_{number}"
        y = normal(x, f"{place}.ln_1")
        y = functional.linear(
            y, state[f"{place}.self_attention.in_proj_weight"], state[f"{place}.self_attention.in_proj_bias"]
        )
        query, key, value = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in y.chunk(3, 2))
        y = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        x = x + dense(y, f"{place}.self_attention.out_proj")
        y = functional.gelu(dense(normal(x, f"{place}.ln_2"), f"{place}.mlp.linear_1"))
        x = x + dense(y, f"{place}.mlp.linear_2")
    return dense(normal(x, "encoder.ln")[:, 0], "heads.head")
