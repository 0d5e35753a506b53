"""Files as the operating system has them: open, lock, replace, read at an offset; pipes; shared memory. Both modules
have the same names."""

import sys

if sys.platform == "win32":
    from netwright.engine.core.windows_files import *  # noqa: F403
else:
    from netwright.engine.core.posix_files import *  # noqa: F403
