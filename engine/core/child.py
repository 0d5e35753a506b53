"""Run a module of Netwright as a program: `python -m netwright.engine.core.child MODULE [ARGUMENT ...]`.

The module has a function `main`, which takes the list of arguments and returns the exit code; None is 0. One with
`ENDS_AT_ONCE` set ends without the exit of the interpreter, for which torch and the threads of others take long; one
with `ENDS_WITH_PARENT` is ended when the process ends that has started it.
"""

import importlib
import os
import sys

from netwright.engine.core.platform import end_with_parent


def run(name: str, arguments: list[str]) -> int:
    """Run a module and return its exit code."""
    module = importlib.import_module(name)
    if getattr(module, "ENDS_WITH_PARENT", False):
        end_with_parent(os.getppid())
    sys.argv[:] = [name, *arguments]
    code = int(module.main(arguments) or 0)
    if getattr(module, "ENDS_AT_ONCE", False):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
