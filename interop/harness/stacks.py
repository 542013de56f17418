"""The stacks: how each client and server is started, and which version it is.

To add one, add a row to CLIENTS or SERVERS and its installation to interop/setup.
"""

import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

from . import site as sites
from .processes import at

INTEROP = Path(__file__).resolve().parent.parent
REPOSITORY = INTEROP.parent
INSTALLED = Path(os.environ.get("UTMOST_INTEROP_DIR", REPOSITORY / "target" / "interop")).resolve()
UTMOST = (REPOSITORY / os.environ.get("UTMOST_BIN", "target/debug/utmost")).resolve()
UTMOST_SERVE = UTMOST.with_name("utmost-serve")

# What of priorities a client can say: a `priority` header, a request once others are under way, PRIORITY_UPDATE.
HEADER, LATE, UPDATE = "header", "late", "update"

# What of a case of harness/cases.py not every client can do. Our peers have an option of these names.
RESUMPTION, EARLY_DATA, KEY_UPDATE = "resumption", "early-data", "key-update"
ALL_FEATURES = frozenset({RESUMPTION, EARLY_DATA, KEY_UPDATE})


@dataclass(frozen=True)
class Client:
    """Fetches the files of a case; `command(site, case, port, out)` is its command line."""

    name: str
    command: Callable
    # Fetches the files of a plan of harness/priorities.py: `by_priority(site, plan, port, out)`.
    by_priority: Callable | None = None
    signals: frozenset = frozenset()
    # Fetches the files of a case of harness/cases.py: `by_feature(site, case, (host, port), out)` gives the command
    # lines, which run one after the other.
    by_feature: Callable | None = None
    features: frozenset = frozenset()


@dataclass(frozen=True)
class Server:
    """Serves the site's files; `command(site, port)` is its command line."""

    name: str
    command: Callable
    # Without it, a bound port is the sign that the server is ready.
    says_listening: bool = True
    # On SIGTERM it must finish what it has begun and exit with 0.
    drains: bool = False
    # The option that names the folder for its qlogs, if it has one.
    log_option: str | None = None
    # Where it listens.
    host: str = "127.0.0.1"


def urls(case, port):
    return [f"https://localhost:{port}/{name}" for name in case.files]


def peer(*program):
    """A client of this folder: they all take the same options."""

    def command(site, case, port, out):
        options = ["--connect", f"127.0.0.1:{port}", "--ca", site.ca, "--out", out]
        return [*program, "fetch", *options, *urls(case, port)]

    return command


def peer_by_priority(*program):
    """A client of this folder that can say priorities: a URL's fragment is the request's `priority` header."""

    def command(site, plan, port, out):
        def url(name, priority):
            return f"https://localhost:{port}/{name}" + (f"#{priority}" if priority else "")

        options = ["--connect", f"127.0.0.1:{port}", "--ca", site.ca, "--out", out]
        for name, priority in plan.late.items():
            options += ["--then", url(name, priority)]
        for option, updates in (("--update", plan.updates), ("--then-update", plan.late_updates)):
            for name, priority in updates.items():
                # The streams of requests are 0, 4, 8, ...
                options += [option, f"{4 * list(plan.requests).index(name)}#{priority}"]
        return [*program, "fetch", *options, *(url(*request) for request in plan.requests.items())]

    return command


def peer_by_feature(*program):
    """A client of this folder that knows `--feature`."""

    def commands(site, case, server, out):
        feature = ["--feature", case.needs] if case.needs else []
        options = ["--connect", at(*server), "--ca", site.ca, "--out", out, *feature]
        return [[*program, "fetch", *options, *urls(case, server[1])]]

    return commands


def featured(client, *program):
    """The client, one of this folder, with all features."""
    return replace(client, by_feature=peer_by_feature(*program), features=ALL_FEATURES)


def priority_client(name, *program, signals):
    return Client(name, peer(*program), peer_by_priority(*program), frozenset(signals))


def peer_server(*program):
    """A server of this folder: they all take the same options."""

    def command(site, port):
        options = ["--root", site.root, "--cert", site.cert, "--key", site.key]
        return [*program, "serve", "--listen", f"127.0.0.1:{port}", *options]

    return command


def gtlsclient(_site, case, port, out):
    return [*GTLSCLIENT, "--download", out, "127.0.0.1", port, *urls(case, port)]


GTLSCLIENT = [
    *("gtlsclient", "--quiet", "--no-quic-dump", "--no-http-dump"),
    *("--exit-on-all-streams-close", "--sni=localhost"),
]


def gtlsclient_by_feature(_site, case, server, out):
    """gtlsclient makes one connection a run, and keeps the session in files. On a bad link, a handshake takes time."""
    state = out.parent / "session"
    keep = [f"--session-file={state}", f"--tp-file={state}.parameters"]
    options = {
        None: [],
        KEY_UPDATE: ["--key-update=200ms"],
        RESUMPTION: [*keep, "--disable-early-data"],
        EARLY_DATA: keep,
    }[case.needs]
    command = [*GTLSCLIENT, "--handshake-timeout=60s", "--timeout=60s", *options, "--download", out, *server]
    first, *others = urls(case, server[1])
    if case.needs in (RESUMPTION, EARLY_DATA):
        return [[*command, first], [*command, *others]]
    return [[*command, first, *others]]


def gtlsclient_by_priority(site, plan, port, out):
    """gtlsclient has no option for headers: a small library adds them where it hands its requests to nghttp3."""
    headers = [f"/{name} {priority}" for name, priority in plan.requests.items() if priority]
    library = INSTALLED / "gtlsclient-priority.so"
    variables = [f"LD_PRELOAD={library}", f"PRIORITY_HEADERS={';'.join(headers)}"]
    return ["env", *variables, *gtlsclient(site, plan, port, out)]


def gtlsserver(site, port):
    quiet = ["--quiet", "--no-quic-dump", "--no-http-dump"]
    return ["gtlsserver", "127.0.0.1", port, site.key, site.cert, *quiet, "--htdocs", site.root]


def tquic_client(_site, case, port, out):
    protocol = ["--alpn", "h3", "--max-concurrent-requests", len(case.files)]
    options = ["--connect-to", f"127.0.0.1:{port}", "--dump-dir", out, "--log-level", "ERROR"]
    return [INSTALLED / "tquic/bin/tquic_client", *options, *protocol, *urls(case, port)]


def tquic_server(site, port):
    tls = ["--cert", site.cert, "--key", site.key]
    options = ["--root", site.root, "--listen", f"127.0.0.1:{port}", "--log-level", "ERROR"]
    return [INSTALLED / "tquic/bin/tquic_server", *options, *tls]


def utmost_play(site, case, port, out):
    server = ["--server", f"127.0.0.1:{port}", "--insecure"]
    return [UTMOST, "play", sites.page_of(site, case), *server, "--bodies", out, "--json"]


def utmost_serve(site, port):
    tls = ["--cert", site.cert, "--key", site.key]
    return [UTMOST, "serve", "--root", site.root, "--listen", f"127.0.0.1:{port}", *tls]


def utmost_serve_obeying(site, port):
    return [*utmost_serve(site, port), "--scheme", "rfc9218", "--signals", "obey"]


def utmost_serve_logged(case, place, logs):
    """The program that is installed on servers, for a case of harness/cases.py."""

    def command(site, port):
        content = ["--root", site.root]
        if case.config:
            file = place / "serve.toml"
            file.write_text(case.config.format(root=site.root))
            content = ["--config", file]
        tls = ["--cert", site.cert, "--key", site.key]
        # The link ends with the client, and may take the client's farewell along: the server must not wait for it for long.
        options = ["--drain-within", 2, "--qlog", logs, *case.options]
        return [UTMOST_SERVE, *content, "--listen", at(case.host, port), *tls, *options]

    return command


def utmost_serve_by_priority(site, port, logs):
    """Paced at 1400 bytes each 2 ms, so that requests come while others wait."""
    return [*utmost_serve_obeying(site, port), "--pace", "1400/2", "--qlog", logs]


def link(network, server, *options):
    """The lab's links in front of a server at (host, port), as a relay that listens on the same host."""
    host, server_port = server

    def command(_site, port):
        ends = ["--listen", at(host, port), "--to", at(host, server_port)]
        return [UTMOST, "link", "--network", network, *ends, *options]

    return Server("link", command, host=host)


def python(script):
    return [INSTALLED / "venv/bin/python", INTEROP / "python" / script]


# Sends any frame: harness/abuse.py uses it for those that are wrong.
H3I = INSTALLED / "h3i-peer"
QUIC_GO = [INSTALLED / "quic-go"]
AIOQUIC = python("aioquic_peer.py")
H3_QUINN = [INSTALLED / "h3-quinn-peer"]

CLIENTS = [
    featured(priority_client("quic-go", *QUIC_GO, signals={HEADER, LATE}), *QUIC_GO),
    Client("ngtcp2", gtlsclient, gtlsclient_by_priority, frozenset({HEADER}), gtlsclient_by_feature, ALL_FEATURES),
    featured(priority_client("aioquic", *AIOQUIC, signals={HEADER, LATE, UPDATE}), *AIOQUIC),
    priority_client("curl_cffi", *python("curl_cffi_peer.py"), signals={HEADER, LATE}),
    priority_client("niquests", *python("niquests_peer.py"), signals={HEADER, LATE}),
    featured(Client("h3-quinn", peer(*H3_QUINN)), *H3_QUINN),
    Client("tquic", tquic_client),
    priority_client("h3i", H3I, signals={HEADER, LATE, UPDATE}),
]
SERVERS = [
    Server("quic-go", peer_server(*QUIC_GO)),
    Server("ngtcp2", gtlsserver, says_listening=False, log_option="--qlog-dir"),
    Server("aioquic", peer_server(*AIOQUIC)),
    Server("h3-quinn", peer_server(*H3_QUINN)),
    Server("tquic", tquic_server, says_listening=False, log_option="--qlog-dir"),
]
OUR_CLIENT = Client("utmost", utmost_play)
OUR_SERVER = Server("utmost", utmost_serve, drains=True)
OBEYING_SERVER = Server("utmost", utmost_serve_obeying, drains=True, log_option="--qlog")

# (client, server, case) that cannot pass, with the reason; ANY stands for all clients, or all servers.
ANY = "*"
H3I_DATA_LIMIT = "h3i 0.7.0 keeps no DATA frame of more than 2,000,000 bytes, and this server sends one per body"
KNOWN_FAILURES = {
    (ANY, "ngtcp2", "0 B"): "gtlsserver 0.12.1 answers 404 for an empty file",
    # quic-go sends a body in several DATA frames, all others in one.
    **{("h3i", server, "5 MB"): H3I_DATA_LIMIT for server in ("utmost", "ngtcp2", "aioquic", "h3-quinn", "tquic")},
}


def known_failure(client, server, case):
    """Why this case of this pair cannot pass, or None."""
    keys = [(client, server, case), (ANY, server, case), (client, ANY, case)]
    return next((KNOWN_FAILURES[key] for key in keys if key in KNOWN_FAILURES), None)


def versions():
    """Each stack and its version, from the pins of this folder or from what is installed."""
    python_pins = dict(re.findall(r"^(\S+)==(\S+)$", (INTEROP / "python/requirements.txt").read_text(), re.M))
    rust_pins = crate_versions(INTEROP / "h3-quinn/Cargo.lock")
    quic_go = re.search(r"quic-go/quic-go v(\S+)", (INTEROP / "quic-go/go.mod").read_text()).group(1)
    h3i_pins = crate_versions(INTEROP / "h3i/Cargo.lock")
    curl = "from curl_cffi import Curl; print(Curl().version().decode())"
    libcurl = output([*python("")[:1], "-c", curl]).split()[:1]
    return {
        "utmost": output([UTMOST, "--version"]).removeprefix("utmost ") or "not built",
        "quic-go": quic_go,
        "ngtcp2": " with ".join(f"{name} {debian_version(name)}" for name in ("libngtcp2-9", "libnghttp3-3")),
        "aioquic": python_pins["aioquic"],
        "curl_cffi": " with ".join([python_pins["curl_cffi"], *libcurl]),
        "niquests": f"{python_pins['niquests']} with qh3 {python_pins['qh3']}",
        "h3-quinn": f"h3 {rust_pins['h3']}, h3-quinn {rust_pins['h3-quinn']}, quinn {rust_pins['quinn']}",
        "h3i": f"{h3i_pins['h3i']} with quiche {h3i_pins['quiche']}",
        "tquic": (INTEROP / "tquic/version").read_text().strip(),
    }


def crate_versions(lock):
    return dict(re.findall(r'name = "(\S+)"\nversion = "(\S+)"', lock.read_text()))


def debian_version(package):
    return output(["dpkg-query", "-W", "-f", "${Version}", package]) or "of another package"


def output(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout.strip()
    except OSError:
        return ""
