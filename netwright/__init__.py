"""Netwright for scripts and notebooks: design, train, evaluate, predict, explain, export, search, queue.

    import netwright as nw

    project = nw.load("digits.netwright", {"training.max_epochs": 5})
    run = nw.train(project)
    print(run.test["accuracy"], run.run)

The functions are those of `netwright.engine.api`, which is imported when the first of them is used.
"""

import os

if __name__ != "netwright":
    raise ImportError(f"This package is imported as netwright, not as {__name__}.")

TYPE_CHECKING = False
if TYPE_CHECKING:  # as `typing` defines it, whose import would cost each start of a program
    from netwright.engine.api import *  # noqa: F403

_checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not os.path.isdir(os.path.join(os.path.dirname(__file__), "engine")):
    # In a checkout the packages lie beside this folder, in a wheel inside it.
    __path__.append(_checkout)  # noqa: F405


def __getattr__(name: str) -> object:
    if not name.startswith("_"):
        from netwright.engine import api

        if name in api.__all__:
            value = globals()[name] = getattr(api, name)
            return value
    raise AttributeError(f"module 'netwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    from netwright.engine import api

    return [*globals(), *api.__all__]
