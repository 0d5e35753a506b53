"""The outcome of a run as JUnit XML, which CI systems show as test results."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from engine.commands.require import Requirement
from engine.errors import UserError
from engine.files import write_atomically


def write_junit(path: Path, result: Mapping[str, Any], requirements: Sequence[Requirement]) -> None:
    """One test case for the training itself and one for each requirement. Raises `UserError`."""
    finished = result["state"] == "finished"
    missed = [r for r in requirements if not (finished and r.holds(result))]
    suite = ElementTree.Element(
        "testsuite",
        name="netwright",
        tests=str(1 + len(requirements)),
        failures=str(len(missed)),
        errors=str(int(not finished)),
        time=f"{result['seconds']:.3f}",
    )
    case = ElementTree.SubElement(
        suite, "testcase", classname="netwright", name="train", time=f"{result['seconds']:.3f}"
    )
    if not finished:
        ElementTree.SubElement(case, "error", message=_legal(f"{result['state']}: {result['reason']}"))
    for requirement in requirements:
        case = ElementTree.SubElement(suite, "testcase", classname="netwright.require", name=_legal(requirement.text))
        if requirement in missed:
            ElementTree.SubElement(case, "failure", message=_legal(requirement.verdict(result)))
    try:
        write_atomically(path, ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        raise UserError(f"--junit {path} cannot be written: {error.strerror}.") from None


def _legal(text: str) -> str:
    """The text without the characters that XML cannot hold in any form."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
