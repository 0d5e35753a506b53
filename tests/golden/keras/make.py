"""Write the reference models of this folder: small `.keras` files, and what Keras computes with them.

Run it where Keras 3 is installed: `KERAS_BACKEND=torch python tests/golden/keras/make.py`. Inputs and outputs are in
Keras's order of axes.
"""

import zipfile
from pathlib import Path
from typing import Any

import keras  # type: ignore[import-not-found]
import numpy as np
from keras import layers

HERE = Path(__file__).parent
RANDOM = np.random.default_rng(3)
Input = keras.Input


def photos() -> keras.Model:
    """Convolutions, pooling, nested models used twice, operations on tensors, a flatten before a dense layer."""
    stage = keras.Sequential(
        [Input((6, 5, 4)), layers.Conv2D(4, 1, use_bias=False), layers.BatchNormalization(), layers.ReLU(max_value=6)],
        name="my-stage",
    )
    x = pictures = Input((12, 10, 3), name="pictures")
    x = layers.Rescaling(1 / 127.5, offset=-1.0)(x)
    x = layers.Conv2D(4, 4, strides=2, padding="same", activation="relu")(x)
    x = layers.Add()([stage(x), stage(x)]) * 0.5 + 1.0
    x = layers.SeparableConv2D(5, 3, padding="same", depth_multiplier=2)(x)
    x = layers.DepthwiseConv2D(2, activation=layers.LeakyReLU(0.1))(x)
    x = layers.LayerNormalization()(layers.AveragePooling2D(2, padding="same")(x))
    y = layers.Conv2DTranspose(2, 4, strides=3, padding="same", name="decoder")(x)
    x = layers.BatchNormalization(scale=False)(layers.Dropout(0.3)(layers.Flatten()(x)))
    return keras.Model(pictures, [layers.Dense(4, activation="softmax", name="classes")(x), y], name="photos")


def words() -> keras.Model:
    """Embedding and recurrent layers."""
    return keras.Sequential(
        [
            Input((9,), dtype="int32"),
            layers.Embedding(12, 6),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.GRU(4, return_sequences=True, go_backwards=True),
            layers.GRU(3, reset_after=False, return_sequences=True),
            layers.Bidirectional(layers.SimpleRNN(3), merge_mode="ave"),
            layers.Dense(2),
        ],
        name="words",
    )


def series() -> keras.Model:
    """Sequences: causal convolution, attention, states handed on, and several outputs."""
    x = steps = Input((7, 4), name="steps")
    x = layers.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="gelu")(x)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True))
    y, hidden, cell = layers.LSTM(5, return_sequences=True, return_state=True)(x)
    z = layers.LSTM(5, name="second")(layers.UpSampling1D(2)(y), initial_state=[hidden, cell])
    return keras.Model(steps, [layers.TimeDistributed(layers.Dense(2))(y), z], name="series")


def shapes() -> keras.Model:
    """Axes that change places and layouts."""
    return keras.Sequential(
        [
            Input((24,)),
            layers.Reshape((2, 3, 4)),
            layers.Permute((2, 1, 3)),
            layers.ZeroPadding2D(((1, 0), (0, 2))),
            layers.PReLU(shared_axes=[1, 2]),
            layers.Reshape((16, 4)),
            layers.MaxPooling1D(3, 2, padding="same"),
            layers.Flatten(),
            layers.Dense(3),
        ],
        name="shapes",
    )


def first() -> keras.Model:
    """Channels first."""
    x = pictures = Input((3, 8, 9), name="pictures")
    x = layers.Conv2D(4, 3, data_format="channels_first", padding="same")(x)
    x = layers.BatchNormalization(axis=1)(x)
    x = layers.MaxPooling2D(2, data_format="channels_first")(x)
    return keras.Model(pictures, layers.Dense(2)(layers.Flatten()(x)), name="first")


def set_weights(model: keras.Model) -> None:
    """Give all weights random numbers, variances positive ones."""
    for weight in model.weights:
        values = RANDOM.normal(0, 0.5, tuple(weight.shape))
        if "seed" not in weight.path:
            weight.assign(np.abs(values) + 0.2 if "variance" in weight.path else values)


def compress(path: Path) -> None:
    """Write the archive again, compressed and without dates."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Write every model, and one file with all inputs and outputs."""
    numbers: dict[str, Any] = {}
    for make in (photos, words, series, shapes, first):
        model = make()
        set_weights(model)
        path = HERE / f"{model.name}.keras"
        model.save(path)
        compress(path)
        sizes = (2, *model.inputs[0].shape[1:])
        is_index = "int" in str(model.inputs[0].dtype)
        x = RANDOM.integers(0, 12, sizes) if is_index else RANDOM.normal(0, 1, sizes).astype("float32")
        outputs = model(x, training=False)
        numbers[f"{model.name}.in"] = x
        for number, value in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
            numbers[f"{model.name}.out{number}"] = value.detach().numpy()
    np.savez_compressed(HERE / "numbers.npz", **numbers)


if __name__ == "__main__":
    main()
