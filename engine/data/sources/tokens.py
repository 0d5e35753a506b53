"""Texts as indices of tokens: bytes, words, or pieces of words. The same for training and for new texts.

A vocabulary is fitted on the training split. Words are runs of letters, digits and underscores; a character of Chinese
or Japanese, which have no spaces between words, every other sign, and the end of a line, is a word of its own. The most
frequent ones get the indices from 1, in the order of the alphabet where two are as frequent; index 0 stands for all
others. Pieces are byte-pair encoding (Sennrich et al., 2016) of bytes, as in GPT-2, trained by the library tokenizers;
they can spell any text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import printable
from netwright.engine.data.sources.source import Array
from netwright.engine.project.preparation import TextPreparation

_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Those of Chinese and Japanese."""
WORD = re.compile(rf"[{_CHARACTERS}]|[^\W{_CHARACTERS}]+|\n|[^\w\s]")
WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Characters and signs beside which no space stands."""
OTHER = "<other>"
OPENING, CLOSING = frozenset("([{#$/-'’@"), frozenset(".,;:!?)]}%/-'’")
"""Signs that no space follows, and those that none stands before."""
MOST_TOKENIZER_CHARACTERS = 2**25
AT_ONCE = 1024
"""Texts that are encoded at once."""


def words_in(text: str, *, lower_case: bool) -> list[str]:
    """Return the words and signs of a text."""
    return WORD.findall(text.lower() if lower_case else text)


def fit_words(counts: Counter[str], limit: int, *, lower_case: bool, most: int = 0) -> TextPreparation:
    """Return the words of a vocabulary of at most `limit` indices, by their counts in the training split."""
    ordered = sorted(counts, key=lambda word: (-counts[word], word))[: limit - 1]
    return TextPreparation(
        tokens="word",
        vocabulary=len(ordered) + 1,
        lower_case="yes" if lower_case else "no",
        words=tuple(ordered),
        most=most,
    )


def fit_pieces(texts: Iterable[str], limit: int, most: int = 0) -> TextPreparation:
    """Return pieces of words, at most `limit`, trained on these texts. Raises `UserError`."""
    library = import_extra("tokenizers", "text", "Pieces of words", "Tokens of words and bytes need no library.")
    tokenizer = library.Tokenizer(library.models.BPE())
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=limit,
        show_progress=False,
        initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.train_from_iterator(texts, trainer)
    return TextPreparation(
        tokens="piece", vocabulary=tokenizer.get_vocab_size(), tokenizer=tokenizer.to_str(), most=most
    )


def of_tokenizer(content: str, where: str, most: int = 0) -> TextPreparation:
    """Return the tokens of a `tokenizer.json`; `where` names it for messages. Raises `UserError`."""
    tokenizer = _tokenizer(content, where)
    ids = tokenizer.get_vocab(with_added_tokens=True).values()
    return TextPreparation(tokens="piece", vocabulary=1 + max(ids, default=0), tokenizer=content, most=most)


@lru_cache(maxsize=4)
def _tokenizer(content: str, where: str) -> Any:
    library = import_extra("tokenizers", "text", "Pieces of words")
    if len(content) > MOST_TOKENIZER_CHARACTERS:
        raise UserError(f"{where} has more than {MOST_TOKENIZER_CHARACTERS:,} characters, which no tokenizer needs.")
    try:
        tokenizer = library.Tokenizer.from_str(content)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode("")
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        first = printable(str(error).partition("\n")[0][:150])
        raise UserError(
            f"{where} is no tokenizer of the library tokenizers: {first}. Expected a tokenizer.json, as "
            "Tokenizer.save and save_pretrained of transformers write it."
        ) from None
    return tokenizer


def encode(how: TextPreparation, texts: Sequence[str]) -> Iterator[Array]:
    """Yield the tokens (T) of each text, int32, at most `how.most` of them. Raises `UserError`."""
    most = how.most or None
    match how.tokens:
        case "byte":
            for text in texts:
                yield np.frombuffer(text.encode("utf-8", "surrogatepass")[:most], np.uint8).astype(np.int32)
        case "word":
            places = _places(how.words)
            for text in texts:
                words = words_in(text, lower_case=how.lower_case == "yes")[:most]
                yield np.fromiter((places.get(word, 0) for word in words), np.int32, len(words))
        case "piece":
            tokenizer = _tokenizer(how.tokenizer, "The tokenizer of the preparation")
            for start in range(0, len(texts), AT_ONCE):
                for ids in _encoded(tokenizer, texts[start : start + AT_ONCE]):
                    tokens = ids[:most]
                    if max(tokens, default=0) >= how.vocabulary:
                        raise UserError("The tokenizer gives tokens that are not in its vocabulary. Use another one.")
                    yield np.array(tokens, np.int32)


def _encoded(tokenizer: Any, texts: Sequence[str]) -> Iterator[Sequence[int]]:
    try:
        encodings = tokenizer.encode_batch(list(texts), add_special_tokens=True)
    except BaseException as error:  # as above
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        first = printable(str(error).partition("\n")[0][:150])
        raise UserError(f"The tokenizer cannot encode the texts: {first}. Use another one.") from None
    for encoding in encodings:
        yield encoding.ids


def prompt_tokens(how: TextPreparation, text: str) -> list[int]:
    """Return the tokens of the beginning of a text, without those that a tokenizer puts at the end of a whole one."""
    (array,) = encode(how, [text])
    tokens: list[int] = array.tolist()
    if how.tokens == "piece":
        mask = list(_tokenizer(how.tokenizer, "The tokenizer").encode(text).special_tokens_mask)
        while mask and mask[-1]:
            mask.pop()
        del tokens[len(mask) :]
    return tokens


def decode(how: TextPreparation, tokens: Sequence[int]) -> str:
    """Return the text that tokens spell. An unfinished character at the end of bytes is U+FFFD; words, whose white
    space is not known, are joined as prose is."""
    match how.tokens:
        case "byte":
            return bytes(tokens).decode("utf-8", "replace")
        case "word":
            names = [how.words[token - 1] if 0 < token <= len(how.words) else OTHER for token in tokens]
            return "".join(
                f"{' ' if _has_space(before, name) else ''}{name}"
                for before, name in zip(["\n", *names], names, strict=False)
            )
        case _:
            return str(_tokenizer(how.tokenizer, "The tokenizer").decode(list(tokens), skip_special_tokens=True))


def _has_space(before: str, word: str) -> bool:
    """Return whether a space stands between two words or signs."""
    is_wide = WIDE.match(word) or WIDE.match(before)
    return not is_wide and "\n" not in (before, word) and word not in CLOSING and before not in OPENING


@lru_cache(maxsize=4)
def _places(words: tuple[str, ...]) -> dict[str, int]:
    return {word: place for place, word in enumerate(words, 1)}


def token_names(how: TextPreparation) -> tuple[str, ...]:
    """Return a name for each token, in the order of the indices, no two alike."""
    match how.tokens:
        case "byte":
            return tuple(chr(code) if 33 <= code <= 126 else f"0x{code:02x}" for code in range(256))
        case "word":
            return (OTHER, *("\\n" if word == "\n" else word for word in how.words))
        case _:
            indices = _tokenizer(how.tokenizer, "The tokenizer").get_vocab(with_added_tokens=True)
            names = {place: name for name, place in indices.items()}
            return tuple(names.get(place, f"<{place}>") for place in range(how.vocabulary))


def decoded(how: TextPreparation, tokens: Sequence[int]) -> str:
    """Return the text of some tokens."""
    match how.tokens:
        case "byte":
            return bytes(tokens).decode(errors="replace")
        case "word":
            names = token_names(how)
            return " ".join(names[token] for token in tokens)
        case _:
            tokenizer = _tokenizer(how.tokenizer, "The tokenizer")
            return str(tokenizer.decode(list(tokens), skip_special_tokens=False))


def padded(tokens: Sequence[Array]) -> tuple[Array, Array]:
    """Return tokens (N, T), padded with 0 at their ends, and their lengths (N), at least 1."""
    lengths = np.array([max(1, len(row)) for row in tokens], np.int64)
    values = np.zeros((len(tokens), int(lengths.max(initial=1))), np.int32)
    for place, row in enumerate(tokens):
        values[place, : len(row)] = row
    return values, lengths
