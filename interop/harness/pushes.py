"""Pushed responses between utmost and aioquic, the one other stack here that pushes and takes pushes.

aioquic's client allows the push IDs 0 to 8 from the start (MAX_PUSH_ID 8) and never more. Its server pushes what it is told to.
"""

import json

from . import pairs
from . import site as sites
from . import stacks
from .processes import Failure, run_client, running

DOCUMENT = sites.DOCUMENT
# More than aioquic's client allows.
NAMES = tuple(sites.SMALL_FILES)[:12]
AIOQUIC_ALLOWS = 9
FROM_US, TO_US = "the nine that aioquic allows, of twelve", "twelve"


def run(site, work):
    """The results of both directions."""
    folder = work / "pushes"
    folder.mkdir()
    checks = [
        ("aioquic", "utmost", FROM_US, lambda: from_us(site, folder)),
        ("utmost", "aioquic", TO_US, lambda: to_us(site, folder)),
    ]
    return [
        pairs.judge(stacks.Client(client, None), stacks.Server(server, None), case, check)
        for client, server, case, check in checks
    ]


def from_us(site, folder):
    """`utmost serve` wants to push twelve files: nine come as pushes, byte for byte."""
    config = folder / "serve.toml"
    config.write_text(route(site.root))
    tls = ["--cert", site.cert, "--key", site.key]
    server = stacks.Server(
        "utmost",
        lambda _site, port: [stacks.UTMOST, "serve", "--config", config, "--listen", f"127.0.0.1:{port}", *tls],
    )
    bodies, pushed, out = folder / "from-us", folder / "from-us-pushed", folder / "from-us.stdout"
    bodies.mkdir()
    pushed.mkdir()
    with running(server, site, folder / "utmost.log") as it:
        options = ["--connect", f"127.0.0.1:{it.port}", "--ca", site.ca, "--out", bodies, "--pushed", pushed]
        url = f"https://localhost:{it.port}/{DOCUMENT}"
        command = [*stacks.python("aioquic_peer.py"), "fetch", *options, url]
        run_client(command, out, folder / "from-us.stderr")
    pairs.compare(bodies / DOCUMENT, site.root / DOCUMENT)
    compare_pushed(site, pushed, out.read_text())


def compare_pushed(site, pushed, said):
    """What aioquic's client says it was pushed, `push ID NAME` a line, and the bodies that came."""
    ids = [int(line.split()[1]) for line in said.splitlines() if line.startswith("push ")]
    if sorted(ids) != list(range(AIOQUIC_ALLOWS)):
        raise Failure(f"aioquic was pushed the IDs {sorted(ids)}, not 0 to {AIOQUIC_ALLOWS - 1}")
    came = sorted(it.name for it in pushed.iterdir())
    if came != sorted(NAMES[:AIOQUIC_ALLOWS]):
        raise Failure(f"aioquic was pushed {came}, not the first {AIOQUIC_ALLOWS} of the route")
    for name in came:
        pairs.compare(pushed / name, site.root / name)


def route(root):
    """A configuration that pushes the files with the document."""
    paths = ", ".join(f'"/{name}"' for name in NAMES)
    return f'[site]\nroot = "{root}"\n\n[[route]]\npath = "/{DOCUMENT}"\npush = [{paths}]\nmax_concurrent_pushes = 100\n'


def to_us(site, folder):
    """aioquic's server pushes twelve files with a page's document: our client takes them and asks for none of them."""
    case = next(it for it in sites.CASES if it.files == tuple(sites.SMALL_FILES))
    pushing = [option for name in NAMES for option in ("--push", f"/{name}")]
    peer = stacks.peer_server(*stacks.python("aioquic_peer.py"))
    server = stacks.Server("aioquic", lambda site, port: [*peer(site, port), *pushing])
    bodies, out = folder / "to-us", folder / "to-us.stdout"
    bodies.mkdir()
    with running(server, site, folder / "aioquic.log") as it:
        command = [*stacks.utmost_play(site, case, it.port, bodies), "--push-log"]
        run_client(command, out, folder / "to-us.stderr")
        asked = [line.split()[1] for line in it.log.read_text().splitlines() if line.startswith("asked ")]
    pairs.check_report(out)
    for name in (DOCUMENT, *case.files):
        pairs.compare(bodies / name, site.root / name)
    check_taken(json.loads(out.read_text()), asked)


def check_taken(report, asked):
    pushed = {it["url"].rpartition("/")[2] for it in report["runs"][0]["resources"] if it["pushed"]}
    if pushed != set(NAMES):
        raise Failure(f"our client says that it was pushed {sorted(pushed)}, not {sorted(NAMES)}")
    if again := set(NAMES) & {it.lstrip("/") for it in asked}:
        raise Failure(f"our client asked for what it was promised: {sorted(again)}")


def table(results):
    return [["client", "server", "pushes", "outcome"], *([it.client, it.server, it.case, it.outcome] for it in results)]
