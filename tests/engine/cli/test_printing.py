"""Lines, errors and tables on standard output and standard error."""

import io
import sys

import pytest

from netwright.engine.cli.main import main
from netwright.engine.cli.printing import LONGEST_LINE, TableOutput, say
from netwright.engine.core.errors import FieldError, FieldErrors, UserError, read_error

CODES = "\x1b[31m\x9b\u202e\u2066\u200b\ud800\0"
SHOWN = "\\u001b[31m\\u009b\\u202e\\u2066\\u200b\\ud800\\u0000"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_is_one_line_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    say("one", f"two {CODES}\nthree\r", 4)
    assert capsys.readouterr().out == f"one\ntwo {SHOWN}\\u000athree\\u000d\n4\n"


def test_a_long_line_of_an_error_loses_its_middle(capsys: pytest.CaptureFixture[str]) -> None:
    say("a" * 10**6 + "z", to=sys.stderr)
    said = capsys.readouterr().err
    assert len(said) < LONGEST_LINE
    assert said.endswith("az\n")


@pytest.mark.parametrize(("out", "shown"), [(io.StringIO(), "\u202e\u200d"), (Terminal(), "\\u202e\\u200d")])
def test_a_table_is_exact_but_for_control_characters(out: io.StringIO, shown: str) -> None:
    TableOutput(out).write('a,"b\n\x1b[31m\x9b\u202e\u200d"\n')
    assert out.getvalue() == f'a,"b\n\\u001b[31m\\u009b{shown}"\n'


def test_each_thing_that_is_wrong_is_a_line_and_no_name_begins_one() -> None:
    several = FieldErrors([FieldError("a", "b\nc"), FieldError("d", "e")])
    assert several.lines == ("a: b\nc", "d: e")
    assert read_error(several.write()).lines == several.lines
    assert UserError("a\nb", hint="Do c.").lines == ("a\nb Do c.",)
    assert UserError.of_lines(["a\nb", "c"]).reworded("x", "y").lines == ("x", "y")


def test_a_name_in_an_error_begins_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "no\n::error::forged"]) == 2
    assert main(["train", "--set", "x\n::error::forged", "a.netwright", "--set=y"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert not [line for line in said if line.startswith("::")]
