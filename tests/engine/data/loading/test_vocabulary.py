"""Indices of the data against the vocabulary of the embeddings."""

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.sequences import refuse_unknown_indices
from netwright.engine.network.analysis import analyse
from netwright.engine.project.data import DataOptions
from netwright.engine.project.training import TrainingOptions
from tests.builders import chain, layer


def refuse(folder, vocabulary: int, **options: object) -> None:
    network = chain(
        layer("sequence_input", content="indices"),
        layer("embedding", vocabulary=vocabulary, dimension=4),
        layer("gru", hidden_units=4, output_mode="last"),
        layer("fully_connected", outputs=2),
    )
    words, lengths = np.arange(60).reshape(20, 3), np.array([2, 3] * 10)
    np.savez(folder / "t.npz", words=words, words_lengths=lengths, y=np.arange(20) % 2)
    data = load(DataOptions(source="arrays", path="t.npz"), folder)
    refuse_unknown_indices(network, analyse(network), data, TrainingOptions(**options))


def test_an_index_beyond_the_vocabulary_is_refused_in_words(tmp_path):
    with pytest.raises(UserError) as error:
        refuse(tmp_path, 59)
    assert str(error.value).startswith("embedding_1, vocabulary: 'words' of the data holds the index 59")
    assert str(error.value).endswith("Set the vocabulary size to at least 60.")


def test_the_largest_index_may_be_the_last_of_the_vocabulary(tmp_path):
    refuse(tmp_path, 60)


def test_padding_that_layers_see_has_to_be_an_index_that_they_know(tmp_path):
    refuse(tmp_path, 61, sequence_padding="seen", sequence_padding_value=60)
    with pytest.raises(UserError, match="the index 60 pads sequences, but the embedding 'embedding_1' has vectors"):
        refuse(tmp_path, 60, sequence_padding="seen", sequence_padding_value=60)
