"""What can be set is found by its name here, by MATLAB's, and by what it does."""

import json

import pytest

from netwright.engine.cli.main import main
from netwright.engine.operations.options import everything, meant
from netwright.engine.project.option_names import NAMES_ELSEWHERE
from netwright.engine.project.project import SECTIONS


def names(*words: str) -> list[str]:
    return [name for name, _ in meant(list(words))]


def test_without_a_word_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(len(kind.fields) for kind in SECTIONS.values())
    assert [line.split()[0] for line in lines] == [name for name, _ in everything()]
    assert all(len(line.split()) > 2 for line in lines), "each says what it does"


@pytest.mark.parametrize(
    "word", ["mini_batch_size", "training.mini_batch_size", "MiniBatchSize", "--mini-batch-size", "MINI_BATCH_SIZE"]
)
def test_a_name_is_understood_in_several_spellings(word: str) -> None:
    assert names(word) == ["training.mini_batch_size"]


def test_a_name_elsewhere_is_understood() -> None:
    assert names("optimizer")[0] == "training.solver"
    assert names("lr")[0] == "training.initial_learn_rate"
    assert names("epochs")[0] == "training.max_epochs"
    assert "training.schedule" in names("one-cycle")


def test_names_elsewhere_are_of_options_that_there_are() -> None:
    assert {*NAMES_ELSEWHERE} <= {name for name, _ in everything()}
    words = " ".join(NAMES_ELSEWHERE.values()).split()
    assert len(words) == len({*words})


def test_a_whole_name_means_that_option_alone() -> None:
    assert names("loss") == ["training.loss"]
    assert {"training.loss_function", "training.output_losses"} <= set(names("loss", "function"))


def test_choices_are_explained_where_few_are_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "OutputNetwork"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("training.output_network = auto\n")
    assert "\n    best-validation" in told
    assert max(map(len, told.splitlines())) <= 100


def test_json_has_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "precision", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["options"]
    assert told["training.precision"]["default"] == "auto"
    assert "bf16" in told["training.precision"]["choices"]


def test_what_is_not_there_is_refused_with_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["options", "warp", "drive"]) == 2
    assert "'warp drive'" in capsys.readouterr().err
