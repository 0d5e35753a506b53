"""Writes the template projects into resources/templates/. The same bytes each time.

Run by hand: `.venv/bin/python -m scripts.make_templates [NAME ...]`. Sources stand in resources/templates/index.json.
Where a paper and torchvision differ, the numbers are torchvision's. Positions are those of the automatic arrangement.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from netwright.engine.core.files import write_atomically
from netwright.engine.network.network import Port
from netwright.engine.network.sketch import Sketch as NetworkSketch
from netwright.engine.network.sketch import Step, Values
from netwright.engine.project.check import check
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

TEMPLATES = Path(__file__).parents[1] / "resources" / "templates"
CLASSES = 1000


class Sketch(NetworkSketch):
    """A template that grows layer by layer."""

    def classify(self, feed: Port, *, dropout: float = 0.0, pool: bool = True) -> "Sketch":
        """The usual end: pooling, dropout, one output for each class."""
        if pool:
            feed = self.add("global_average_pool", feed)
        if dropout:
            feed = self.add("dropout", feed, probability=dropout)
        self.chain(feed, ("fully_connected", {"outputs": CLASSES}), "softmax")
        return self


def photos() -> tuple[Sketch, Port]:
    """A sketch that begins with images of 224 x 224 pixels in colour."""
    sketch = Sketch()
    return sketch, sketch.add("image_input", name="image", channels=3, size=224)


def conv(filters: int, kernel: int, stride: int = 1, padding: int | None = None, *, bias: bool = False) -> Values:
    """A convolution; without a padding, one that keeps the size where the stride is 1."""
    border = kernel // 2 if padding is None else padding
    return "conv2d", {"filters": filters, "kernel": kernel, "stride": stride, "padding": border, "bias": bias}


def pool(kernel: int, stride: int, padding: int | str = 0) -> Values:
    """Max pooling."""
    return "max_pool2d", {"kernel": kernel, "stride": stride, "padding": padding}


def _alexnet() -> Sketch:
    sketch, image = photos()
    x = sketch.chain(image, conv(64, 11, 4, 2, bias=True), "relu", pool(3, 2))
    x = sketch.chain(x, conv(192, 5, bias=True), "relu", pool(3, 2))
    for filters in (384, 256, 256):
        x = sketch.chain(x, conv(filters, 3, bias=True), "relu")
    x = sketch.chain(x, pool(3, 2))
    for _ in range(2):
        x = sketch.chain(x, "dropout", ("fully_connected", {"outputs": 4096}), "relu")
    return sketch.classify(x, pool=False)


def _vgg16() -> Sketch:
    sketch, x = photos()
    for number, (filters, count) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]):
        stage = Sketch()
        y = stage.input()
        for _ in range(count):
            y = stage.chain(y, conv(filters, 3, bias=True), "relu")
        x = sketch.block(f"stage_{number + 1}", stage.output(stage.chain(y, pool(2, 2))), x)
    for _ in range(2):
        x = sketch.chain(x, ("fully_connected", {"outputs": 4096}), "relu", "dropout")
    return sketch.classify(x, pool=False)


def _airbench94() -> Sketch:
    """The first convolution whitens patches of 2 x 2 pixels: its kernels stay as they are given, its bias learns. Only
    the shift of each batch normalisation learns, 64 times as fast. `benchmarks/proofs/airbench94.py` makes kernels."""
    norm: Step = (
        "batch_norm",
        {
            "epsilon": 1e-12,
            "momentum": 0.4,
            "scale_learn_rate_factor": 0.0,
            "offset_learn_rate_factor": 64.0,
            "offset_l2_factor": 1 / 64,
        },
    )
    sketch = Sketch()
    x = sketch.add("image_input", name="image", channels=3, size=32)
    x = sketch.add(
        "conv2d", x, name="whitening", filters=24, kernel=2, padding=0, weight_learn_rate_factor=0.0,
        weight_l2_factor=0.0, bias_l2_factor=1.0,
    )  # fmt: skip
    x = sketch.chain(x, "gelu")
    for number, filters in enumerate((64, 256, 256)):
        group = Sketch()
        y = group.chain(group.input(), conv(filters, 3), pool(2, 2), norm, "gelu", conv(filters, 3), norm, "gelu")
        x = sketch.block(f"group_{number + 1}", group.output(y), x)
    sketch.chain(
        x, pool(3, 3), ("fully_connected", {"outputs": 10, "bias": False}), ("scaling", {"scale": 1 / 9}), "softmax"
    )
    return sketch


def triangle(steps_per_epoch: int, epochs: int) -> str:
    """The schedule of airbench94: from 0.2 of the highest rate up over 0.23 of the run, and down to 0.07 of it."""
    steps = steps_per_epoch * epochs
    rise = int(0.23 * steps)
    fall = round((steps - rise) / 0.93)
    cycle = f"cycle_top_factor=5 cycle_period={epochs} cycle_rise={rise / steps!r}"
    return f"cyclical {rise} iterations times 0.2 {cycle}, polynomial {fall} iterations"


def _googlenet() -> Sketch:
    norm = ("batch_norm", {"epsilon": 0.001})

    def inception(one: int, before_three: int, three: int, before_five: int, five: int, after_pool: int) -> Sketch:
        """Four ways side by side. The third has windows of 3 x 3, as in torchvision, where the paper has 5 x 5."""
        inner = Sketch()
        x = inner.input()
        ways = [inner.chain(x, conv(one, 1), norm, "relu")]
        for narrow, wide in ((before_three, three), (before_five, five)):
            ways.append(inner.chain(x, conv(narrow, 1), norm, "relu", conv(wide, 3), norm, "relu"))
        ways.append(inner.chain(x, pool(3, 1, 1), conv(after_pool, 1), norm, "relu"))
        return inner.output(inner.add("concatenation", *ways, inputs=4))

    sketch, image = photos()
    x = sketch.chain(image, conv(64, 7, 2), norm, "relu", pool(3, 2, "same"))
    x = sketch.chain(x, conv(64, 1), norm, "relu", conv(192, 3), norm, "relu", pool(3, 2, "same"))
    rows = {
        "3a": (64, 96, 128, 16, 32, 32),
        "3b": (128, 128, 192, 32, 96, 64),
        "4a": (192, 96, 208, 16, 48, 64),
        "4b": (160, 112, 224, 24, 64, 64),
        "4c": (128, 128, 256, 24, 64, 64),
        "4d": (112, 144, 288, 32, 64, 64),
        "4e": (256, 160, 320, 32, 128, 128),
        "5a": (256, 160, 320, 32, 128, 128),
        "5b": (384, 192, 384, 48, 128, 128),
    }
    for name, filters in rows.items():
        if name in ("4a", "5a"):
            x = sketch.chain(x, pool(3, 2, "same") if name == "4a" else pool(2, 2))
        x = sketch.block(f"inception_{name}", inception(*filters), x)
    return sketch.classify(x, dropout=0.2)


def _residual(*steps: Step, way: Sequence[Step] = ()) -> Sketch:
    """A block whose input goes around its layers, through a convolution of its own where the size changes."""
    inner = Sketch()
    x = inner.input()
    y = inner.chain(x, *steps)
    shortcut = inner.chain(x, *way)
    return inner.output(inner.chain(inner.add("addition", y, shortcut), "relu"))


def _resnet(counts: Sequence[int], *, bottleneck: bool) -> Sketch:
    sketch, image = photos()
    x = sketch.chain(image, conv(64, 7, 2), "batch_norm", "relu", pool(3, 2, 1))
    for number, count in enumerate(counts):
        width, stride = 64 * 2**number, 1 if number == 0 else 2

        def steps(stride: int, width: int = width) -> list[Step]:
            if bottleneck:
                narrow: list[Step] = [
                    conv(width, 1),
                    "batch_norm",
                    "relu",
                    conv(width, 3, stride),
                    "batch_norm",
                    "relu",
                ]
                return [*narrow, conv(4 * width, 1), "batch_norm"]
            return [conv(width, 3, stride), "batch_norm", "relu", conv(width, 3), "batch_norm"]

        rest = count
        if bottleneck or number:
            way = (conv(4 * width if bottleneck else width, 1, stride, 0), "batch_norm")
            x = sketch.block(f"stage_{number + 1}_down", _residual(*steps(stride), way=way), x)
            rest -= 1
        if rest:
            x = sketch.block(f"stage_{number + 1}", _residual(*steps(1)), x, repeat=rest)
    return sketch.classify(x)


def _resnet18() -> Sketch:
    return _resnet((2, 2, 2, 2), bottleneck=False)


def _resnet50() -> Sketch:
    return _resnet((3, 4, 6, 3), bottleneck=True)


def _resnet101() -> Sketch:
    return _resnet((3, 4, 23, 3), bottleneck=True)


def _squeezenet1_1() -> Sketch:
    def fire(squeeze: int, expand: int) -> Sketch:
        inner = Sketch()
        x = inner.chain(inner.input(), conv(squeeze, 1, bias=True), "relu")
        ways = [inner.chain(x, conv(expand, kernel, bias=True), "relu") for kernel in (1, 3)]
        return inner.output(inner.add("concatenation", *ways))

    sketch, image = photos()
    x = sketch.chain(image, conv(64, 3, 2, 0, bias=True), "relu", pool(3, 2))
    widths = [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]
    for number, (squeeze, expand) in enumerate(widths):
        if number in (2, 4):
            x = sketch.chain(x, pool(3, 2))
        x = sketch.block(f"fire_{number + 2}", fire(squeeze, expand), x)
    sketch.chain(x, "dropout", conv(CLASSES, 1, bias=True), "relu", "global_average_pool", "softmax")
    return sketch


def _mobilenet_v2() -> Sketch:
    relu6 = ("clipped_relu", {"ceiling": 6})

    def inverted(channels: int, expansion: int, filters: int, stride: int) -> Sketch:
        inner = Sketch()
        x = y = inner.input()
        if expansion > 1:
            y = inner.chain(y, conv(channels * expansion, 1), "batch_norm", relu6)
        y = inner.chain(y, _depthwise(3, stride), "batch_norm", relu6, conv(filters, 1), "batch_norm")
        return inner.output(inner.add("addition", y, x) if stride == 1 and channels == filters else y)

    sketch, image = photos()
    x = sketch.chain(image, conv(32, 3, 2), "batch_norm", relu6)
    channels = 32
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for number, (expansion, filters, count, stride) in enumerate(rows):
        x = sketch.block(f"stage_{number + 1}_first", inverted(channels, expansion, filters, stride), x)
        if count > 1:
            inner = inverted(filters, expansion, filters, 1)
            x = sketch.block(f"stage_{number + 1}", inner, x, repeat=count - 1)
        channels = filters
    return sketch.classify(sketch.chain(x, conv(1280, 1), "batch_norm", relu6), dropout=0.2)


def _depthwise(kernel: int, stride: int) -> Values:
    return "grouped_conv2d", {"kernel": kernel, "stride": stride, "padding": kernel // 2, "bias": False}


def _densenet121() -> Sketch:
    dense = Sketch()
    x = dense.input()
    y = dense.chain(x, "batch_norm", "relu", conv(128, 1), "batch_norm", "relu", conv(32, 3))
    dense.output(dense.add("concatenation", x, y))
    sketch, image = photos()
    x = sketch.chain(image, conv(64, 7, 2), "batch_norm", "relu", pool(3, 2, 1))
    channels = 64
    for number, count in enumerate((6, 12, 24, 16)):
        x = sketch.block(f"dense_{number + 1}", dense, x, repeat=count)
        channels += 32 * count
        if number < 3:
            channels //= 2
            down = ("average_pool2d", {"kernel": 2, "stride": 2})
            inner = Sketch()
            y = inner.chain(inner.input(), "batch_norm", "relu", conv(channels, 1), down)
            x = sketch.block(f"transition_{number + 1}", inner.output(y), x)
    return sketch.classify(sketch.chain(x, "batch_norm", "relu"))


def _efficientnet_b0() -> Sketch:
    def mbconv(channels: int, expansion: int, kernel: int, stride: int, filters: int, drop: float) -> Sketch:
        """An inverted residual with squeeze and excitation: channels are weighed by what is in all of the image."""
        inner = Sketch()
        x = y = inner.input()
        if expansion > 1:
            y = inner.chain(y, conv(channels * expansion, 1), "batch_norm", "swish")
        y = inner.chain(y, _depthwise(kernel, stride), "batch_norm", "swish")
        mean = inner.add("reduction", y, function="mean", over="places", keep=True)
        weights = inner.chain(
            mean, conv(channels // 4, 1, bias=True), "swish", conv(channels * expansion, 1, bias=True), "sigmoid"
        )
        y = inner.chain(inner.add("multiplication", y, weights), conv(filters, 1), "batch_norm")
        if stride == 1 and channels == filters:
            y = inner.add("addition", inner.add("drop_path", y, probability=drop), x)
        return inner.output(y)

    sketch, image = photos()
    x = sketch.chain(image, conv(32, 3, 2), "batch_norm", "swish")
    rows = [
        (1, 3, 1, 16, 1),
        (6, 3, 2, 24, 2),
        (6, 5, 2, 40, 2),
        (6, 3, 2, 80, 3),
        (6, 5, 1, 112, 3),
        (6, 5, 2, 192, 4),
        (6, 3, 1, 320, 1),
    ]
    channels, done, depth = 32, 0, sum(row[-1] for row in rows)
    for number, (expansion, kernel, stride, filters, count) in enumerate(rows):
        x = sketch.block(f"stage_{number + 1}_first", mbconv(channels, expansion, kernel, stride, filters, 0.0), x)
        if count > 1:
            # Stochastic depth grows from layer to layer; copies of one block share the mean of theirs.
            drop = round(0.2 * (done + count / 2) / depth, 3)
            x = sketch.block(
                f"stage_{number + 1}", mbconv(filters, expansion, kernel, 1, filters, drop), x, repeat=count - 1
            )
        channels, done = filters, done + count
    return sketch.classify(sketch.chain(x, conv(1280, 1), "batch_norm", "swish"), dropout=0.2)


def _unet() -> Sketch:
    def double(filters: int) -> Sketch:
        inner = Sketch()
        row = (conv(filters, 3), "batch_norm", "relu")
        return inner.output(inner.chain(inner.input(), *row, *row))

    sketch = Sketch()
    x = sketch.add("image_input", name="image", channels=1, size=256)
    kept = []
    for number, filters in enumerate((64, 128, 256, 512)):
        kept.append(sketch.block(f"down_{number + 1}", double(filters), x))
        x = sketch.chain(kept[-1], pool(2, 2))
    x = sketch.block("bottom", double(1024), x)
    for number, filters in enumerate((512, 256, 128, 64)):
        up = ("transposed_conv2d", {"filters": filters, "kernel": 2, "stride": 2, "cropping": 0})
        x = sketch.add("concatenation", kept[-1 - number], sketch.chain(x, up))
        x = sketch.block(f"up_{number + 1}", double(filters), x)
    sketch.chain(x, conv(2, 1, bias=True), "softmax")
    return sketch


def _transformer(heads: int, channels: int, *, epsilon: float, mask: str = "none", dropout: float = 0.0) -> Sketch:
    """Attention, then two fully connected layers, each after a normalisation and with a way around it."""
    inner = Sketch()
    x = inner.input()
    norm = ("layer_norm", {"epsilon": epsilon})
    drop: list[Values] = [("dropout", {"probability": dropout})] if dropout else []
    attention = ("self_attention", {"heads": heads, "mask": mask, "dropout": dropout})
    x = inner.add("addition", x, inner.chain(x, norm, attention, *drop))
    wide, narrow = (("fully_connected", {"outputs": n}) for n in (4 * channels, channels))
    return inner.output(inner.add("addition", x, inner.chain(x, norm, wide, "gelu", narrow, *drop)))


def _vit_b_16() -> Sketch:
    sketch, image = photos()
    patches = sketch.chain(image, conv(768, 16, 16, 0, bias=True), ("image_to_sequence", {"steps": "positions"}))
    x = sketch.chain(patches, "class_token", ("position_embedding", {"positions": 197}))
    x = sketch.block("encoder", _transformer(12, 768, epsilon=1e-6), x, repeat=12)
    x = sketch.chain(x, ("layer_norm", {"epsilon": 1e-6}), ("select_step", {"counted_from": "start"}))
    return sketch.classify(x, pool=False)


def _gpt_small() -> Sketch:
    """Six layers of 384 channels over the bytes of a text."""
    sketch = Sketch()
    x = sketch.add("sequence_input", name="tokens", content="indices", length=256)
    x = sketch.chain(
        x, ("embedding", {"vocabulary": 256, "dimension": 384}), ("position_embedding", {"positions": 256})
    )
    x = sketch.chain(x, ("dropout", {"probability": 0.2}))
    x = sketch.block("decoder", _transformer(6, 384, epsilon=1e-5, mask="causal", dropout=0.2), x, repeat=6)
    sketch.chain(x, "layer_norm", ("fully_connected", {"outputs": 256, "bias": False}), "softmax")
    return sketch


def _lstm_classifier() -> Sketch:
    sketch = Sketch()
    x = sketch.add("sequence_input", name="sequence", channels=12)
    x = sketch.chain(x, ("lstm", {"hidden_units": 100, "output_mode": "last"}), ("dropout", {"probability": 0.2}))
    sketch.chain(x, ("fully_connected", {"outputs": 9}), "softmax")
    return sketch


def _seq2seq() -> Sketch:
    """An encoder, a decoder, and attention between them: each step written looks back at all steps read."""
    sketch = Sketch()
    token = ("embedding", {"vocabulary": 8000, "dimension": 256})
    read = sketch.chain(sketch.add("sequence_input", name="source", content="indices", length=32), token)
    read = sketch.chain(read, ("bilstm", {"hidden_units": 128}))
    written = sketch.chain(sketch.add("sequence_input", name="target", content="indices", length=32), token)
    written = sketch.chain(written, ("lstm", {"hidden_units": 256}))
    scores = sketch.chain(sketch.add("matrix_product", written, read, name="scores"), "softmax")
    context = sketch.add("matrix_product", scores, read, name="context", transpose_second=False)
    x = sketch.add("concatenation", written, context)
    sketch.chain(x, ("fully_connected", {"outputs": 256}), "tanh", ("fully_connected", {"outputs": 8000}), "softmax")
    return sketch


def _conv1d_signals() -> Sketch:
    sketch = Sketch()
    x = sketch.add("sequence_input", name="signal", channels=3, length=256)
    for filters, kernel in ((128, 8), (256, 5), (128, 3)):
        x = sketch.chain(x, ("conv1d", {"filters": filters, "kernel": kernel, "bias": False}), "batch_norm", "relu")
    sketch.chain(x, "global_average_pool", ("fully_connected", {"outputs": 6}), "softmax")
    return sketch


NUMBERS: Step = ("inverse_norm", {"numbers": "fitted"})
"""The end of a forecast: numbers in the units of the data."""


def _narx() -> Sketch:
    """One step ahead from the last 24, trained as MATLAB's narxnet is in its open form."""
    sketch = Sketch()
    x = sketch.add("sequence_input", name="history", channels=2, length=24)
    x = sketch.chain(x, "flatten", ("fully_connected", {"outputs": 32}), "tanh")
    sketch.chain(x, ("fully_connected", {"outputs": 1}), NUMBERS)
    return sketch


def _lstm_forecaster() -> Sketch:
    sketch = Sketch()
    x = sketch.add("sequence_input", name="history", channels=2, length=48)
    x = sketch.chain(x, ("lstm", {"hidden_units": 64, "output_mode": "last"}), ("dropout", {"probability": 0.1}))
    sketch.chain(x, ("fully_connected", {"outputs": 24}), NUMBERS)
    return sketch


def _tcn_forecaster() -> Sketch:
    """Causal convolutions whose dilation doubles from block to block: the last step sees 61 steps back."""
    sketch = Sketch()
    x = sketch.add("sequence_input", name="history", channels=2, length=48)
    for number in range(4):
        conv1d: Step = ("conv1d", {"filters": 32, "padding": "causal", "dilation": 2**number})
        steps: list[Step] = [conv1d, "relu", ("spatial_dropout", {"probability": 0.1})] * 2
        way: Sequence[Step] = () if number else (("conv1d", {"filters": 32, "kernel": 1}),)
        x = sketch.block(f"dilation_{2**number}", _residual(*steps, way=way), x)
    sketch.chain(x, "select_step", ("fully_connected", {"outputs": 24}), NUMBERS)
    return sketch


def _autoencoder() -> Sketch:
    sketch = Sketch()
    x = sketch.add("image_input", name="image", size=28, normalization="rescale-zero-one")
    for outputs in (128, 64):
        x = sketch.chain(x, ("fully_connected", {"outputs": outputs}), "relu")
    x = sketch.add("fully_connected", x, name="code", outputs=16)
    for outputs in (64, 128):
        x = sketch.chain(x, ("fully_connected", {"outputs": outputs}), "relu")
    x = sketch.chain(x, ("fully_connected", {"outputs": 784}), "sigmoid")
    sketch.chain(x, ("reshape", {"layout": "image", "sizes": [1, 28, 28]}))
    return sketch


def _mlp() -> Sketch:
    sketch = Sketch()
    x = sketch.add("feature_input", name="table", channels=20)
    for outputs in (128, 64):
        x = sketch.chain(x, ("fully_connected", {"outputs": outputs}), "relu", ("dropout", {"probability": 0.2}))
    sketch.chain(x, ("fully_connected", {"outputs": 10}), "softmax")
    return sketch


MAKERS: dict[str, Callable[[], Sketch]] = {
    make.__name__.removeprefix("_"): make
    for make in (
        _mlp, _narx, _lstm_forecaster, _tcn_forecaster, _autoencoder, _conv1d_signals, _lstm_classifier, _seq2seq,
        _gpt_small, _alexnet, _airbench94, _vgg16, _googlenet, _resnet18, _resnet50, _resnet101, _squeezenet1_1,
        _mobilenet_v2, _densenet121, _efficientnet_b0, _vit_b_16, _unet,
    )
}  # fmt: skip


FORECAST = TrainingOptions(
    solver="adam", schedule="cosine", mini_batch_size=32, shuffle="every-epoch", normalize_targets=True
)
"""Numbers to predict are normalised in training: their units may be of any size."""
AIRBENCH94 = TrainingOptions(
    solver="sgdm",
    initial_learn_rate=1.5,  # 11.5 / (1 + 1 / (1 - momentum)), of the mean over a batch of 1,024
    momentum=0.85,
    nesterov=True,
    l2_regularization=0.0153 / 11.5,
    mini_batch_size=1024,
    max_epochs=10,
    shuffle="every-epoch",
    last_batch="discard",
    label_smoothing=0.2,
    schedule="chain",
    schedule_chain=triangle(50_000 // 1024, 10),
    weight_averaging="lookahead",
    lookahead_decay=0.95**5,
    lookahead_power=3.0,
    rand_x_reflection=0.5,
    alternating_reflection=True,
    rand_crop_padding=2,
    fill_value=(125.3, 123.0, 113.9),
)
"""Jordan: 94% on CIFAR-10 in 3.29 seconds on a single GPU, 2024, with 10 epochs for 9.9."""
TRAINING = {"narx": FORECAST, "lstm_forecaster": FORECAST, "tcn_forecaster": FORECAST, "airbench94": AIRBENCH94}


def project(name: str) -> Project:
    """The template's project."""
    sketch = MAKERS[name]()
    return Project(sketch.network, sketch.layout(), training=TRAINING.get(name, TrainingOptions()))


def main(names: Sequence[str]) -> None:
    """Write these, or all."""
    for name in names or MAKERS:
        made = project(name)
        check(made).refuse_errors()
        write_atomically(TEMPLATES / f"{name}.netwright", dumps(made).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
