"""Processes as the operating system has them: start, fork, end, priority, signals, limits of memory, cores; and what
the system tells of a process and of this machine. Both modules have the same names."""

import sys

if sys.platform == "win32":
    from netwright.engine.core.windows_processes import *  # noqa: F403
else:
    from netwright.engine.core.posix_processes import *  # noqa: F403

CALM_THREADS = {"GOMP_SPINCOUNT": "2000"}
"""Variables by which idle threads of OpenMP sleep soon instead of spinning; read when torch is imported."""
