"""Declared fields: what they take, refuse, write, show; and records made of them."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import FieldError, FieldErrors, UserError, did_you_mean
from netwright.engine.core.fields import Bool, Choice, Field, FilePath, Float, Int, Text, quoted
from netwright.engine.core.list_fields import Choices, Floats, Ints, Padding, Pairs, Size, Texts
from netwright.engine.core.records import Record, set_by_text
from netwright.engine.network.catalog import catalog
from netwright.engine.project.project import SECTIONS
from tests.strategies import field_values


class Sample(Record):
    """One field of each kind."""

    count = Int(3, low=1, high=9)
    many = Int(0)
    rate = Float(0.5, low=0.0, high=1.0)
    step = Float(lambda record: 0.1 if record.word == "a" else 0.2, above=0.0)
    limit = Float(math.inf, above=0.0, infinite=True)
    on = Bool(False)
    word = Choice("a", options=("a", "b", "gamma"))
    words = Choices(("a",), options=("a", "b", "top-k"))
    text = Text("")
    path = FilePath("")
    numbers = Ints((), low=-1)
    size = Size(3, length=2)
    padding = Padding("same", length=2)


FIELDS = list(Sample.fields.items())
WRONG: tuple[object, ...] = (None, [], {}, "no such", math.nan)


@pytest.mark.parametrize(
    ("name", "given_value", "value"),
    [
        ("count", 4, 4),
        ("count", 4.0, 4),
        ("rate", 1, 1.0),
        ("limit", "Infinity", math.inf),
        ("limit", " inf ", math.inf),
        ("limit", 2, 2.0),
        ("on", "yes", True),
        ("on", True, True),
        ("word", "gamma", "gamma"),
        ("words", "b, a", ("b", "a")),
        ("words", ["top-k", "b", "top-k"], ("top-k", "b")),
        ("text", "\u202eabc", "\u202eabc"),
        ("numbers", [1, 2.0], (1, 2)),
        ("numbers", 7, (7,)),
        ("numbers", "", ()),
        ("size", 5, (5, 5)),
        ("size", "4 × 6", (4, 6)),
        ("size", [4, 6], (4, 6)),
        ("padding", 2, (2, 2)),
        ("padding", "1, 0", (1, 0)),
        ("padding", "same", "same"),
    ],
)
def test_a_field_takes_what_is_meant(name: str, given_value: object, value: object) -> None:
    assert getattr(Sample(**{name: given_value}), name) == value


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        *((name, wrong) for name in ("count", "rate", "on", "word", "words") for wrong in WRONG),
        ("count", 0),
        ("count", 10),
        ("count", True),
        ("count", 3.5),
        ("count", 1e300),
        ("count", 10**4000),
        ("rate", 1.1),
        ("rate", -math.inf),
        ("rate", math.inf),
        ("rate", 10**400),
        ("rate", False),
        ("limit", 0),
        ("limit", -math.inf),
        ("limit", math.nan),
        ("step", 0.0),
        ("on", 1),
        ("word", "A"),
        ("words", ""),
        ("words", ["a", 1]),
        ("words", "a, B"),
        ("text", 5),
        ("text", "a\nb"),
        ("text", "a\0b"),
        ("text", "x" * 5000),
        ("text", "\ud800"),
        ("path", "\udcff.csv"),
        ("numbers", [1] * 17),
        ("numbers", [True]),
        ("numbers", ["1"]),
        ("numbers", "--5"),
        ("numbers", "9" * 5000),
        ("numbers", list(range(100_000))),
        ("size", [1, 2, 3]),
        ("size", 0),
        ("size", "3 by 3"),
        ("padding", "valid"),
        ("padding", [-1, 0]),
        ("padding", [[[]]]),
    ],
)
def test_a_refusal_names_the_field_what_was_expected_and_received(name: str, refused: object) -> None:
    with pytest.raises(FieldErrors) as caught:
        Sample(**{name: refused})
    (error,) = caught.value.errors
    assert error.path == name
    assert "received" in error.message or "cannot be saved" in error.message
    assert len(str(error)) < 250
    str(error).encode()


@given(st.sampled_from(FIELDS), st.data())
def test_what_is_written_and_shown_is_read_as_the_same_value(named: tuple[str, Field], data: st.DataObject) -> None:
    name, field = named
    value = field.check(data.draw(field_values(field, getattr(Sample(), name))))
    assert field.check(json.loads(json.dumps(field.write(value)))) == value
    assert field.parse(field.show(value)) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1e10, "1e10"),
        (-2.5e9, "-2.5e9"),
        (1e7, "10000000"),
        (123456789.0, "123456789"),
        (1e-8, "1e-08"),
        (1e300, "1e300"),
    ],
)
def test_a_large_round_number_is_short(value: float, shown: str) -> None:
    assert Float(0.0).show(value) == shown
    assert float(shown) == value


@given(st.floats(0.0, 1.0))
def test_a_number_is_shown_without_losing_any_of_it(value: float) -> None:
    assert Sample.rate.parse(Sample.rate.show(value)) == value


@given(st.sampled_from(FIELDS), st.text(max_size=30))
def test_whatever_is_typed_is_taken_or_refused_in_words(named: tuple[str, Field], text: str) -> None:
    name, _ = named
    record = Sample()
    with contextlib.suppress(FieldError):
        record = set_by_text(record, name, text, "sample")
    assert set(record.changed()) <= {name}
    assert Sample.read(json.loads(json.dumps(record.write())), "sample") == record


@pytest.mark.parametrize(("text", "value"), [
    ("07", 7), ("+7", 7), ("+007", 7), (" 7 ", 7), ("0", 0), ("00", 0), ("-0", 0), ("7e0", 7),
])  # fmt: skip
def test_a_typed_number_may_have_leading_zeros_and_a_plus_sign(text: str, value: int) -> None:
    assert Int(1).parse(text) == value
    assert Float(1.0).parse(text) == value
    assert Float(1.0).parse("007.50") == 7.5
    assert Text("").parse("007") == "007", "it is no number"


def test_values_equal_to_the_default_are_not_kept() -> None:
    assert Sample(count=3, size=[3, 3]).changed() == {}
    assert Sample(word="b", step=0.2).changed() == {"word": "b"}
    assert Sample(word="b", step=0.1).write() == {"step": 0.1, "word": "b"}
    assert Sample(count=3) == Sample()
    assert hash(Sample(count=3)) == hash(Sample())


def test_a_default_may_follow_another_value() -> None:
    assert Sample().step == 0.1
    assert Sample(word="b").step == 0.2
    assert Sample(word="b").replace(word="a").step == 0.1


def test_a_record_is_a_value() -> None:
    record = Sample()
    with pytest.raises(AttributeError, match="replace"):
        record.count = 5
    assert record.replace(count=5).count == 5
    assert record.count == 3


def test_all_refusals_come_at_once() -> None:
    with pytest.raises(FieldErrors) as caught:
        Sample.read({"count": 0, "cuont": 1, "on": 2}, "sample")
    said = [str(error) for error in caught.value.errors]
    assert said[0].startswith("sample.count: expected a whole number from 1 to 9, received 0.")
    assert said[1] == "sample.cuont: there is no such field. Did you mean 'count'?"
    assert said[2].startswith("sample.on: expected true or false, received 2.")


def test_a_flood_of_unknown_keys_is_cut_short() -> None:
    with pytest.raises(FieldErrors) as caught:
        Sample.read({f"key{i}": i for i in range(100_000)}, "sample")
    assert len(caught.value.errors) == 21


@pytest.mark.parametrize("key", ["self", "fields", "__class__", "__init__", "_values", "x" * 10_000, "\u202e", ""])
def test_no_key_reaches_anything_but_a_declared_field(key: str) -> None:
    with pytest.raises(FieldErrors, match="no such field") as caught:
        Sample.read({key: 1}, "sample")
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_unknown_keys_are_kept_where_asked() -> None:
    record = Sample.read({"count": 4, "new": {"deep": [1]}}, "sample", keep_unknown=True)
    assert record.replace(count=5).write() == {"count": 5, "new": {"deep": [1]}}


def test_set_names_the_options_there_are() -> None:
    with pytest.raises(UserError, match=r"sample\.cont: there is no such option\. Did you mean 'count'\?$"):
        set_by_text(Sample(), "cont", "1", "sample")


@pytest.mark.parametrize("record", [*SECTIONS.values(), *(catalog()[key] for key in sorted(catalog()))])
def test_every_declared_field_describes_itself(record: type[Record]) -> None:
    for name, field in record.fields.items():
        assert field.label, name
        assert field.expects != Field.expects, name
        assert field.schema().keys() >= {"title"}
        default = field.default_for(record())
        assert field.check(field.write(default)) == default, name


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_a_quoted_value_is_short_and_printable(value: object) -> None:
    assert len(quoted(value)) <= 60
    assert quoted(value).isprintable()


def test_a_deep_or_huge_value_can_be_quoted() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert quoted(deep) == '[[["..."]]]'
    assert len(quoted({str(i): [i] * 1000 for i in range(10_000)})) <= 60
    assert quoted("\x1b[31m\x9b\u202e") == '"\\u001b[31m\\u009b\\u202e"'


def test_the_nearest_word_is_offered_without_long_search() -> None:
    assert did_you_mean("sgmd", ["sgdm", "adam"]) == " Did you mean 'sgdm'?"
    assert did_you_mean("lion", ["sgdm", "adam"]) == ""
    assert did_you_mean("x" * 10_000, ["x" * 9_999]) == ""
    assert did_you_mean("", ["a"]) == ""


def test_texts_stand_between_semicolons() -> None:
    class Files(Record):
        files = Texts()

    assert Files().files == ()
    for typed in ("a, 1.png; b.png;", ["a, 1.png", "b.png", "b.png"], ("a, 1.png", "b.png")):
        made = Files(files=typed)
        assert made.files == ("a, 1.png", "b.png")
        assert made.write() == {"files": ["a, 1.png", "b.png"]}
    assert Files.files.show(("a", "b")) == "a; b"
    for wrong in (1, [1], ["a\nb"], {"a": "b"}):
        with pytest.raises(FieldErrors, match="texts separated by semicolons"):
            Files(files=wrong)


def test_pairs_are_texts_by_text() -> None:
    class Names(Record):
        map = Pairs()

    assert Names().map == ()
    for typed in ("a = b; c=", {"a": "b", "c": ""}, (("a", "b"), ("c", ""))):
        made = Names(map=typed)
        assert made.map == (("a", "b"), ("c", ""))
        assert made.write() == {"map": {"a": "b", "c": ""}}
        assert hash(made) == hash(Names(map={"a": "b", "c": ""}))
    assert Names.map.show((("a", "b"), ("c", ""))) == "a=b; c="
    for wrong in (1, "a", "=b", ["a"], {"a": 1}, {"": "b"}, {"a\nb": "c"}, (1, 2)):
        with pytest.raises(FieldErrors, match="pairs such as name=other"):
            Names(map=wrong)


def test_floats_are_numbers_between_commas() -> None:
    class Weights(Record):
        weights = Floats(low=0.0)

    assert Weights().weights == ()
    for typed in ("1, 2.5,0", "[1 2.5 0]", [1, 2.5, 0], (1.0, "2.5", 0)):
        made = Weights(weights=typed)
        assert made.weights == (1.0, 2.5, 0.0)
        assert made.write() == {"weights": [1.0, 2.5, 0.0]}
    assert Weights.weights.show((1.0, 2.5, 1e-5)) == "1, 2.5, 1e-05"
    assert Weights(weights="0.5").weights == (0.5,)
    for wrong in ("1, x", [-1], [True], {"a": 1}, "1, inf", [[1]]):
        with pytest.raises(FieldErrors, match="numbers separated by commas, each at least 0"):
            Weights(weights=wrong)
