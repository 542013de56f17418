"""Film strips: what visits showed, second by second, as one picture that Chromium draws."""

import os
import subprocess
import tempfile
from pathlib import Path

SECONDS = range(1, 13)
STYLE = "body { margin: 8px; font: 12px sans-serif } td { padding: 2px 4px } img { width: 112px; border: 1px solid #888 }"


def draw(films, path):
    """`films`: by title, a folder of frames that are named by their times in ms."""
    head = "".join(f"<td>{it} s" for it in SECONDS)
    rows = "".join(f"<tr><td>{title}{row(folder)}" for title, folder in films.items())
    with tempfile.TemporaryDirectory(prefix="utmost-strip-") as name:
        page = Path(name) / "strip.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><table><tr><td>{head}{rows}</table>")
        browser = [os.environ.get("CHROMIUM", "chromium"), "--headless=new", "--no-sandbox", "--hide-scrollbars"]
        size = f"--window-size={140 + 124 * len(SECONDS)},{40 + 66 * len(films)}"
        subprocess.run([*browser, size, f"--screenshot={path}", page.as_uri()], capture_output=True, check=True)


def row(folder):
    return "".join(f"<td><img src='{frame.as_uri()}'>" if frame else "<td>" for frame in (shown(folder, it) for it in SECONDS))


def shown(folder, second):
    """The frame that could be seen at this time."""
    frames = [it for it in sorted(folder.glob("*.jpg")) if int(it.stem) <= 1000 * second]
    return frames[-1] if frames else None
