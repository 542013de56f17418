"""Our server and others do the same work, and the CPU time of each is compared."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
REPOSITORY = HERE.parent.parent
# The interoperation tests start and stop the same programs.
sys.path.append(str(REPOSITORY / "interop"))
