"""The servers: how each is started, and which version it is.

To add one, add a row to PEERS and its installation to benches/peers/setup.
"""

import os
import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from harness import processes, stacks

from . import HERE, REPOSITORY

RELEASE = Path(os.environ.get("UTMOST_RELEASE", REPOSITORY / "target" / "release")).resolve()
INSTALLED = stacks.INSTALLED
HTTP3, HTTP2 = "HTTP/3", "HTTP/2"
OURS, BULK = "utmost", "utmost, bulk"
FLOOR, FLOOR_IN_TURNS = "floor", "floor, in turns"
GTLS, TOKIO_QUICHE, NGINX = "gtlsserver", "tokio-quiche", "nginx"
CLIENTS = {HTTP3: INSTALLED / "load", HTTP2: "h2load"}
# What is asked of every server for the works with many streams or connections.
MANY_STREAMS, MANY_CONNECTIONS, IDLE_S = 10_000, 20_000, 60


@dataclass(frozen=True)
class Server:
    """Serves the site's files. `command(site, port)` is its command line, `many(site, port)` the one with which it
    takes MANY_STREAMS requests at a time on a connection."""

    name: str
    command: Callable
    many: Callable
    version: Callable
    # Without it, a bound port is the sign that the server is ready.
    says_listening: bool = True
    # Only these works, if any are named.
    works: tuple = ()
    versions: tuple = (HTTP3,)


@dataclass(frozen=True)
class Absent:
    """A server that a reader expects here, and why it is not."""

    name: str
    reason: str


def ours(name, *more, works=()):
    def command(site, port):
        return [RELEASE / "utmost-serve", "--root", site.root, *common(site, port)]

    def many(site, port):
        return [RELEASE / "utmost-serve", "--config", many_config(site), *common(site, port)]

    def common(site, port):
        return ["--listen", f"127.0.0.1:{port}", "--cert", site.cert, "--key", site.key, *more]

    return Server(name, command, many, our_version, works=works, versions=(HTTP3, HTTP2))


def many_config(site):
    """Our limits are raised in a configuration, whose other defaults are those of --root."""
    limits = {
        "connections": MANY_CONNECTIONS,
        "connections_per_network": MANY_CONNECTIONS,
        "streams": MANY_STREAMS,
        "idle_s": IDLE_S,
    }
    lines = [f'[site]\nroot = "{site.root}"\n[limits]', *(f"{key} = {value}" for key, value in limits.items())]
    config = site.root.parent / "many.toml"
    config.write_text("\n".join(lines) + "\n")
    return config


def peer(name, program, version):
    """A server of interop/ or of this folder: they all take the same options."""
    command = stacks.peer_server(INSTALLED / program)
    return Server(name, command, lambda site, port: [*command(site, port), "--streams", MANY_STREAMS], version)


def nginx(site, port):
    """One process, as one shard of ours. Over HTTP/2, our server closes no connection after so many requests."""
    folder = site.root.parent
    places = [f"{it}_temp_path {folder}/{it};" for it in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    lines = [
        f"daemon off; master_process off; pid {folder}/nginx.pid; events {{}} http {{ access_log off; {' '.join(places)}",
        f"keepalive_requests 1000000000; server {{ listen 127.0.0.1:{port} ssl http2; root {site.root};",
        f"ssl_certificate {site.cert}; ssl_certificate_key {site.key}; }} }}",
    ]
    config = folder / "nginx.conf"
    config.write_text("\n".join(lines) + "\n")
    return ["nginx", "-e", "stderr", "-c", config]


def gtlsserver_many(site, port):
    return [*stacks.gtlsserver(site, port), f"--max-streams-bidi={MANY_STREAMS}", f"--timeout={IDLE_S}s"]


def caddy(site, port):
    config = site.root.parent / f"Caddyfile-{port}"
    config.write_text(
        "{\n\tadmin off\n\tauto_https off\n\tdefault_sni localhost\n}\n"
        f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {site.cert} {site.key}\n"
        f"\troot * {site.root}\n\tfile_server\n}}\n"
    )
    return ["caddy", "run", "--adapter", "caddyfile", "--config", config]


def floor(name, order):
    """The least over our transport: benches/examples/floor.rs."""

    def command(site, port):
        named = {"root": site.root, "listen": f"127.0.0.1:{port}", "cert": site.cert, "key": site.key, "order": order}
        return [RELEASE / "examples" / "floor", *(f"--{key}={value}" for key, value in named.items())]

    return Server(name, command, command, of_our_transport, works=("W1", "W2L", "W4"))


def of_our_transport():
    return f"quiche {stacks.crate_versions(REPOSITORY / 'Cargo.lock')['quiche']}"


def custom(text):
    """NAME=COMMAND, in which {port}, {root}, {cert} and {key} stand for what the server needs."""
    name, _, template = text.partition("=")

    def command(site, port):
        return shlex.split(template.format(port=port, root=site.root, cert=site.cert, key=site.key))

    return Server(name, command, command, lambda: template, says_listening=False, versions=(HTTP3, HTTP2))


def our_version():
    asked = [RELEASE / "utmost-serve", "--version"]
    return stacks.output(asked).removeprefix("utmost-serve ") or "unknown"


def tokio_quiche_version():
    pins = stacks.crate_versions(HERE / "tokio-quiche/Cargo.lock")
    return f"{pins['tokio-quiche']} with quiche {pins['quiche']}"


def of_stack(name):
    return lambda: stacks.versions()[name]


PEERS = [
    Server(GTLS, stacks.gtlsserver, gtlsserver_many, of_stack("ngtcp2"), says_listening=False),
    peer("h3+quinn", "h3-quinn-peer", of_stack("h3-quinn")),
    peer(TOKIO_QUICHE, "tokio-quiche-peer", tokio_quiche_version),
    peer("quic-go", "quic-go", of_stack("quic-go")),
    Server("Caddy", caddy, caddy, lambda: stacks.output(["caddy", "version"]).split()[0], says_listening=False),
    floor(FLOOR, "one after another"),
    floor(FLOOR_IN_TURNS, "turns"),
    Server(NGINX, nginx, nginx, lambda: stacks.debian_version("nginx"), says_listening=False, versions=(HTTP2,)),
]
ALL = [ours(OURS), ours(BULK, "--send-buffer", "16Mi", works=("W1", "W2L")), *PEERS]


def missing(server, site):
    """Why the server cannot be measured here, if so."""
    program = str(server.command(site, 0)[0])
    if shutil.which(program, path=processes.ENVIRONMENT["PATH"]):
        return None
    return f"{Path(program).name} is not there: run `benches/peers/setup`, and build the release"


def packaged(name, why):
    """A server whose package has no HTTP/3."""
    policy = stacks.output(["apt-cache", "policy", name])
    candidate = next((it.split()[-1] for it in policy.splitlines() if "Candidate:" in it), None)
    if candidate is None:
        return Absent(name, "this system has no such package")
    return Absent(name, f"the system's package is {candidate}; {why}")


def absent():
    return [packaged("h2o", "only its development branch has HTTP/3"), packaged("nginx", "HTTP/3 came with 1.25")]


def machine():
    """The processor and the kernel, in one line."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((it.split(":")[1].strip() for it in lines if it.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} x {model}, Linux {platform.release()}"


def go_version():
    return subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout.strip()
