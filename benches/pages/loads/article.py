"""The page of the article about `tcp_notsent_lowat`, whose sizes its times imply, as files for a browser.

Meenan 2018, "Optimizing HTTP/2 prioritization with BBR and tcp_notsent_lowat". The sizes are those of `fitted` in
reproduce/src/notsent_lowat/blog.rs, which explains them: nothing is drawn before the last style sheet and script, which another
script asks for after the browser has asked for 58 images, and the fonts are asked for once the page is laid out.
"""

import random
import struct
import zlib

VISIBLE_IMAGES, IMAGES, IMAGE_BYTES = 16, 16 + 42, 90_000
FONTS, FONT_BYTES = ("text", "bold", "icons"), 90_000
DOCUMENT_BYTES = 60_000
# The images have a place before they come, so that those further down are never seen: four rows of four fill the window.
STYLE = "body { margin: 0 } img { width: 25%; height: 192px; float: left } p { position: absolute; margin: 0 }"
LATE = "document.write('<link rel=stylesheet href=/late.css><script src=/late.js></scr' + 'ipt>')"


def write(root):
    """Writes the page's files into `root`, a folder that exists."""
    faces = "".join(f"@font-face {{ font-family: {it}; src: url(/{it}.woff2) }}" for it in FONTS)
    texts = "".join(f"<p style='font-family: {it}'>text in {it}</p>" for it in FONTS)
    images = "".join(f"<img src=/{number}.png>" for number in range(IMAGES))
    head = "<!doctype html><link rel=icon href=data:><link rel=stylesheet href=/theme.css><body><script src=/jquery.js></script>"
    files = {
        "index.html": padded(f"{head}{texts}{images}", DOCUMENT_BYTES, "<!--", "-->"),
        "theme.css": padded(STYLE, 150_000),
        "jquery.js": padded(LATE, 400_000),
        "late.css": padded(faces, 150_000),
        "late.js": padded("", 180_000),
    }
    for name, text in files.items():
        (root / name).write_text(text)
    noise = random.Random(1)
    for number in range(IMAGES):
        (root / f"{number}.png").write_bytes(image(noise))
    # No browser can draw with them. It has waited for them all the same.
    for name in FONTS:
        (root / f"{name}.woff2").write_bytes(noise.randbytes(FONT_BYTES))


def padded(text, size, begin="/*", end="*/"):
    return text + begin + " " * (size - len(text) - len(begin) - len(end)) + end


def image(noise, side=172):
    """A PNG of coloured noise with as many bytes as the page's images have, nearly."""
    rows = b"".join(b"\0" + noise.randbytes(3 * side) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0))
    rest = IMAGE_BYTES - len(picture) - 2 * 12
    return picture + chunk(b"prVt", bytes(rest)) + chunk(b"IEND", b"")


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
