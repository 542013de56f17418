"""The page of the article about `tcp_notsent_lowat`, whose sizes its times imply, as files for a browser.

Meenan 2018, "Optimizing HTTP/2 prioritization with BBR and tcp_notsent_lowat". The sizes are those of `fitted` in
reproduce/src/notsent_lowat/blog.rs, which explains them: nothing is drawn before the last style sheet and script, which another
script asks for after the browser has asked for 58 images, and the fonts are asked for once the page is laid out.
"""

import colorsys
import struct
import zlib

VISIBLE_IMAGES, IMAGES, IMAGE_BYTES = 16, 16 + 42, 90_000
FONTS, FONT_BYTES = ("text", "bold", "icons"), 90_000
TEXT_BYTES = {"index.html": 60_000, "theme.css": 150_000, "jquery.js": 400_000, "late.css": 150_000, "late.js": 180_000}
# Needed before anything is drawn, for all that is seen without scrolling, and in all.
FIRST_BYTES = sum(TEXT_BYTES.values())
VISIBLE_BYTES = FIRST_BYTES + len(FONTS) * FONT_BYTES + VISIBLE_IMAGES * IMAGE_BYTES
ALL_BYTES = VISIBLE_BYTES + (IMAGES - VISIBLE_IMAGES) * IMAGE_BYTES
# The images have a place before they come, so that those further down are never seen: four rows of four fill the window.
STYLE = "body { margin: 0 } img { width: 25%; height: 192px; float: left } p { position: absolute; margin: 0 }"
LATE = "document.write('<link rel=stylesheet href=/late.css><script src=/late.js></scr' + 'ipt>')"


def write(root):
    """Writes the page's files into `root`, a folder that exists."""
    faces = "".join(f"@font-face {{ font-family: {it}; src: url(/{it}.woff2) }}" for it in FONTS)
    texts = "".join(f"<p style='font-family: {it}'>text in {it}</p>" for it in FONTS)
    images = "".join(f"<img src=/{number}.png>" for number in range(IMAGES))
    head = "<!doctype html><link rel=icon href=data:><link rel=stylesheet href=/theme.css><body><script src=/jquery.js></script>"
    contents = {"theme.css": STYLE, "jquery.js": LATE, "late.css": faces, "late.js": ""}
    for name, text in contents.items():
        (root / name).write_text(padded(text, TEXT_BYTES[name]))
    (root / "index.html").write_text(padded(f"{head}{texts}{images}", TEXT_BYTES["index.html"], "<!--", "-->"))
    for number in range(IMAGES):
        (root / f"{number}.png").write_bytes(image(number))
    # No browser can draw with them. It has waited for them all the same.
    for name in FONTS:
        (root / f"{name}.woff2").write_bytes(bytes(FONT_BYTES))


def padded(text, size, begin="/*", end="*/"):
    return text + begin + " " * (size - len(text) - len(begin) - len(end)) + end


def image(number):
    """A PNG of one colour, which is the last that arrives: what comes before it is not drawn."""
    red, green, blue = colorsys.hsv_to_rgb(number / VISIBLE_IMAGES % 1, 0.5, 0.8)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    colour = chunk(b"IDAT", zlib.compress(bytes([0, *(int(255 * it) for it in (red, green, blue))])))
    begin, end = b"\x89PNG\r\n\x1a\n" + header, colour + chunk(b"IEND", b"")
    return begin + chunk(b"prVt", bytes(IMAGE_BYTES - len(begin) - len(end) - 12)) + end


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
