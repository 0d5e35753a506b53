"""The other names of a layer type."""

import pytest

from netwright.engine.layers.names import matlab_name, search_rank, search_text, torch_names
from netwright.engine.network.catalog import built_in, layer_type


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("conv2d", "convolution2dLayer"),
        ("max_pool1d", "maxPooling1dLayer"),
        ("batch_norm", "batchNormalizationLayer"),
        ("fully_connected", "fullyConnectedLayer"),
        ("select_step", "indexing1dLayer"),
        ("adaptive_max_pool1d", "adaptiveMaxPooling1dLayer"),  # not in MATLAB; what its rule would make of it
    ],
)
def test_matlab_names(key: str, name: str) -> None:
    assert matlab_name(layer_type(key)) == name
    assert name.lower() in search_text(key)


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("conv2d", ("torch.nn.Conv2d",)),
        ("batch_norm", ("torch.nn.BatchNorm1d", "torch.nn.BatchNorm2d", "torch.nn.BatchNorm3d")),
        ("fully_connected", ("torch.nn.Linear",)),
        ("addition", ("torch.add",)),
        ("flatten", ("torch.Tensor.flatten",)),
        ("image_input", ()),
        ("self_attention", ()),
    ],
)
def test_torch_names_follow_from_the_calls(key: str, names: tuple[str, ...]) -> None:
    assert torch_names(layer_type(key)) == names


def test_no_two_layer_types_have_one_matlab_name() -> None:
    named = [type.matlab for type in built_in().values() if type.matlab]
    assert len(named) == len(set(named))


def test_american_spelling_is_found() -> None:
    assert "normalization" in search_text("layer_norm")
    assert "normalizes" in search_text("layer_norm")


MATLAB = (
    "imageInput image3dInput sequenceInput featureInput convolution1d convolution2d convolution3d groupedConvolution2d "
    "transposedConv1d transposedConv2d transposedConv3d spectralConvolution1d spectralConvolution2d "
    "spectralConvolution3d fullyConnected complexFullyConnected lstm bilstm gru lstmProjected gruProjected "
    "peepholeLSTM selfAttention attention embedding wordEmbedding positionEmbedding sinusoidalPositionEncoding "
    "embeddingConcatenation indexing1d patchEmbedding neuralODE relu leakyRelu prelu elu gelu sigmoid tanh softmax "
    "softplus clippedRelu swish complexRelu zrelu function batchNormalization groupNormalization instanceNormalization "
    "layerNormalization crossChannelNormalization inverseNormalization dropout spatialDropout crop2d crop3d flatten "
    "reshape permute identity network scaling quadratic realToComplex complexToReal averagePooling1d averagePooling2d "
    "averagePooling3d maxPooling1d maxPooling2d maxPooling3d globalAveragePooling1d globalAveragePooling2d "
    "globalAveragePooling3d globalMaxPooling1d globalMaxPooling2d globalMaxPooling3d adaptiveAveragePooling2d "
    "maxUnpooling2d addition multiplication concatenation depthConcatenation resize2d resize3d depthToSpace2d "
    "spaceToDepth stft istft cwt icwt modwt"
)
TORCH = (
    "RNN Bilinear EmbeddingBag Mish Hardswish Hardsigmoid SELU CELU GLU SwiGLU RReLU RMSNorm TransformerEncoderLayer "
    "TransformerDecoderLayer Transformer MultiheadAttention AdaptiveMaxPool2d LPPool2d FractionalMaxPool2d ZeroPad2d "
    "ReflectionPad2d ReplicationPad2d CircularPad2d ConstantPad2d Unfold Fold ChannelShuffle PixelShuffle "
    "PixelUnshuffle Upsample AlphaDropout DropPath CosineSimilarity LocalResponseNorm Dropout2d matmul einsum split "
    "chunk select slice squeeze Parameter Constant Lambda"
)


def test_every_layer_of_matlab_and_torch_that_belongs_here_is_found_by_its_name() -> None:
    words = [search_text(key) for key in built_in()]
    names = [f"{name}Layer" for name in MATLAB.split()] + TORCH.split()
    assert [name for name in names if not any(name.lower() in text for text in words)] == []


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("bn", "batch_norm"),
        ("BatchNormalization", "batch_norm"),
        ("fc", "fully_connected"),
        ("dense", "fully_connected"),
        ("linear", "fully_connected"),
        ("gap", "global_average_pool"),
        ("GlobalAveragePooling2D", "global_average_pool"),
        ("softmax", "softmax"),
        ("softmaxlayer", "softmax"),
        ("convolution2dLayer", "conv2d"),
        ("Conv2D", "conv2d"),
        ("MaxPooling2D", "max_pool2d"),
        ("add", "addition"),
        ("concat", "concatenation"),
        ("mha", "multihead_attention"),
        ("upsample", "resize2d"),
        ("silu", "swish"),
    ],
)
def test_a_short_or_foreign_name_is_nearest_to_its_layer(typed: str, key: str) -> None:
    text = typed.lower()
    ranks = {other: search_rank(other, text) for other in built_in() if text in search_text(other)}
    assert ranks[key] == min(ranks.values())
