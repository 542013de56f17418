"""What is fetched: the files, the pages that name them, and the certificate that protects them."""

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """One run of a client: files that it fetches at once over one connection."""

    name: str
    files: tuple


SIZES = {"empty.bin": 0, "byte.bin": 1, "20k.bin": 20_000, "1m.bin": 1_000_000, "5m.bin": 5_000_000}
SMALL_FILES = {f"small-{number:02}.bin": 500 + 97 * number for number in range(20)}
# Of one size, so that only priorities can tell them apart: 72 packets each.
PRIORITY_NAMES = (
    *("first", "second", "third", "low", "low1", "low2", "lowest", "middle", "normal", "high"),
    *("before", "left", "right", "after"),
)
PRIORITY_FILES = dict.fromkeys(PRIORITY_NAMES, 100_000)
# As many as the QUIC interop runner multiplexes on one connection, and larger ones for transfers that last.
MANY_FILES = {f"many-{number:04}.bin": 32 for number in range(1999)}
LARGE_FILES = {"10m.bin": 10_000_000, "12m.bin": 12_000_000}
# The host of the page that harness/verdicts.py plays. A server answers 421 for hosts that its certificate does not name.
PAGE_HOST = "davies-meenan.test"
DOCUMENT = "index.html"
DOCUMENT_BYTES = 3_000

CASES = [
    Case("0 B", ("empty.bin",)),
    Case("1 B", ("byte.bin",)),
    Case("20 kB", ("20k.bin",)),
    Case("1 MB", ("1m.bin",)),
    Case("5 MB", ("5m.bin",)),
    Case("20 files at once", tuple(SMALL_FILES)),
]


@dataclass(frozen=True)
class Site:
    """The files of a run, on disk."""

    root: Path
    pages: Path
    ca: Path
    cert: Path
    key: Path


def build(work):
    """Writes everything below `work`. The bodies are the same in each run: seeded random bytes."""
    site = Site(work / "root", work / "pages", work / "ca.pem", work / "cert.pem", work / "key.pem")
    site.root.mkdir()
    site.pages.mkdir()
    noise = random.Random(9218)
    known = {DOCUMENT: DOCUMENT_BYTES, **SIZES, **SMALL_FILES, **PRIORITY_FILES}
    for name, size in {**known, **MANY_FILES, **LARGE_FILES}.items():
        (site.root / name).write_bytes(noise.randbytes(size))
    for case in CASES:
        page_of(site, case).write_text(json.dumps(page(case), indent=1))
    certify(work, site)
    return site


def page_of(site, case):
    return site.pages / (case.name.replace(" ", "-") + ".json")


def page(case):
    """The case as a page: a document, and the files that it asks for as soon as it is complete."""
    sizes = {**SIZES, **SMALL_FILES}
    document = {
        "id": 0,
        "url": f"/{DOCUMENT}",
        "kind": "html",
        "mime": "text/html",
        "bytes": DOCUMENT_BYTES,
        "main": True,
        "trigger": {"on": "nav"},
    }
    files = [
        {
            "id": number,
            "url": f"/{name}",
            "kind": "other",
            "mime": "application/octet-stream",
            "bytes": sizes[name],
            "trigger": {"on": "complete", "of": 0},
        }
        for number, name in enumerate(case.files, start=1)
    ]
    return {
        "format": "utmost-page/1",
        "name": page_name(case),
        "source": {"kind": "generated", "from": "interop/run", "licence": "CC0-1.0"},
        "viewport": [1280, 720],
        "origins": [{"host": "localhost", "party": "first"}],
        "resources": [document, *files],
    }


def page_name(case):
    return "interop-" + case.name.lower().replace(" ", "-")


def certify(work, site):
    """A certificate authority of one run and its certificate for localhost, both ECDSA on P-256."""
    ca_key, request, extensions = work / "ca.key", work / "request.pem", work / "extensions.cnf"
    extensions.write_text(f"subjectAltName=DNS:localhost,DNS:{PAGE_HOST},IP:127.0.0.1,IP:::1\nbasicConstraints=CA:FALSE\n")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    openssl("req", "-x509", *new_key, "-keyout", ca_key, "-out", site.ca, "-subj", "/CN=utmost interop", "-days", 7)
    openssl("req", "-new", *new_key, "-keyout", site.key, "-out", request, "-subj", "/CN=localhost")
    signer = ["-CA", site.ca, "-CAkey", ca_key, "-CAcreateserial"]
    openssl("x509", "-req", "-in", request, *signer, "-extfile", extensions, "-out", site.cert, "-days", 7)


def openssl(*arguments):
    command = ["openssl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"interop/run: {' '.join(command)}: {done.stderr.strip()}")
