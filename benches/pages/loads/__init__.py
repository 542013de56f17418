"""The same page from several servers, in Chromium, behind the same link."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
REPOSITORY = HERE.parent.parent
# The tables and the machine in words are those of the other harnesses.
sys.path[:0] = [str(REPOSITORY / "interop"), str(REPOSITORY / "benches" / "peers")]
