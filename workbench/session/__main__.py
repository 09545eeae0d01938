"""``python -m workbench.session``: one line if Java is missing or wrong."""

from __future__ import annotations

import sys

from workbench.errors import JavaError
from workbench.session import check_java

if __name__ == "__main__":
    try:
        check_java()
    except JavaError as error:
        sys.exit(str(error))
