"""The page in `docs/` is what the declarations say, and says all of it."""

from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.export_options import OnnxOptions, flag
from netwright.engine.project.layer_reference import COMMAND
from netwright.engine.project.project import RunOptions
from netwright.engine.project.reference import DATA_PATH, EXPORT_PATH, PATH, data_text, export_text, text
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.training import TrainingOptions


def test_the_page_is_what_the_options_declare() -> None:
    shipped = PATH.read_text(encoding="utf-8") if PATH.is_file() else ""
    assert shipped == text(), f"options have changed: run `{COMMAND}` and commit the page"


def test_every_option_has_a_line() -> None:
    for name in (*TrainingOptions.fields, *EnvironmentOptions.fields):
        assert text().count(f"\n| `{name}` |") == 1


def test_the_names_in_matlab_and_torch_are_columns_and_not_prose() -> None:
    described = [f for kind in (TrainingOptions, EnvironmentOptions, RunOptions) for f in kind.fields.values()]
    assert [f.name for f in described if "MATLAB" in f.description.replace("PyTorch and MATLAB", "")] == []
    assert [f.name for f in described if "torch:" in f.description] == []
    momentum = TrainingOptions.fields["momentum"]
    assert momentum.help == f"{momentum.description}. MATLAB: Momentum; torch: momentum (default 0)"
    line = next(line for line in text().splitlines() if line.startswith("| `momentum` |"))
    assert line.endswith(f"| {momentum.description} | Momentum | momentum (default 0) |")
    assert TrainingOptions.fields["nesterov"].help == "Nesterov momentum. Default off. torch: nesterov", (
        "none is left out"
    )


def test_the_tables_of_sources_are_those_of_the_declarations() -> None:
    page = DATA_PATH.read_text(encoding="utf-8")
    assert data_text(page) == page, f"sources have changed: run `{COMMAND}` and commit the page"
    assert all(page.count(f"\n| `{key}` |") == 2 for key in SOURCES)


def test_the_table_of_options_of_onnx_is_that_of_the_declarations() -> None:
    page = EXPORT_PATH.read_text(encoding="utf-8")
    assert export_text(page) == page, f"options have changed: run `{COMMAND}` and commit the page"
    assert all(page.count(f"\n| `{flag(name)}` |") == 1 for name in OnnxOptions.fields)
