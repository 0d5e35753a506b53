"""`python -m netwright.app` is `netwright`."""

import sys

from netwright.app.main import main

if __name__ == "__main__":
    sys.exit(main())
