"""Options as a person passes them on: as JSON of the project file, or as `--set` arguments of the command line."""

import json
import shlex
import subprocess
import sys

from engine.fields import Record


def as_json(**sections: Record) -> str:
    """The sections of the project file with what differs from the defaults."""
    written = {name: record.write() for name, record in sections.items()}
    return json.dumps({name: values for name, values in written.items() if values}, indent=2, ensure_ascii=False)


def as_arguments(**sections: Record) -> str:
    """`--set section.name=value` for what differs from the defaults, quoted for the shell of this machine."""
    words = []
    for section, record in sections.items():
        for name, value in record.changed().items():
            words += ["--set", f"{section}.{name}={record.fields[name].show(value)}"]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
