"""The servers: for each a shell command that serves a site on the link's server end."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

HOST = "www.page.test"
ADDRESS = "10.0.0.1"
KINDS = "text/css application/javascript application/json image/svg+xml text/plain"
# How a host says that it speaks HTTP/3 too; ours and Caddy say it by themselves.
ALT_SVC = """add_header Alt-Svc 'h3=":443"; ma=86400' always;"""


@dataclass(frozen=True)
class Site:
    """A page's files, the policy that `utmost find` chose for it, and the certificate and keys of its host."""

    root: Path
    policy: Path
    folder: Path

    @property
    def certificate(self):
        return self.folder / "cert.pem", self.folder / "key.pem"


@dataclass(frozen=True)
class Server:
    """`command(site)` is for a shell. `versions`: of HTTP, on the first visit and on a later one."""

    name: str
    programs: tuple
    command: object
    versions: tuple


def utmost(site, program="utmost"):
    cert, key = site.certificate
    return f"exec {program} serve --listen {ADDRESS}:443 --cert {cert} --key {key}"


def utmost_by_policy(site):
    return f"{utmost(site)} --config {site.policy}"


def caddy(site):
    cert, key = site.certificate
    return configured(
        site,
        "Caddyfile",
        f"{{\n admin off\n auto_https off\n}}\nhttps://{HOST}:443 {{\n bind {ADDRESS}\n tls {cert} {key}\n"
        f" root * {site.root}\n encode zstd gzip\n file_server\n}}\n",
        f"HOME={site.folder} exec caddy run --adapter caddyfile --config",
    )


def nginx(site, more=""):
    cert, key = site.certificate
    places = " ".join(f"{it}_temp_path {site.folder};" for it in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return configured(
        site,
        "nginx.conf",
        f"daemon off; master_process off; pid {site.folder}/nginx.pid; events {{}}\n"
        f"http {{ include /etc/nginx/mime.types; access_log off; {places} gzip on; gzip_types {KINDS};\n"
        f"server {{ listen {ADDRESS}:443 ssl http2; root {site.root}; {more}\n"
        f"ssl_certificate {cert}; ssl_certificate_key {key}; }} }}\n",
        "exec nginx -e stderr -c",
    )


def gtlsserver(site):
    """It has no TCP: nginx answers the first visit, and says that there is HTTP/3."""
    cert, key = site.certificate
    tcp = nginx(site, ALT_SVC).removeprefix("exec ")
    return f"{tcp} & exec gtlsserver -q --no-quic-dump --no-http-dump -d {site.root} {ADDRESS} 443 {key} {cert}"


def h2o(site):
    cert, key = site.certificate
    return configured(
        site,
        "h2o.conf",
        f"listen:\n  host: {ADDRESS}\n  port: 443\n  ssl:\n    certificate-file: {cert}\n    key-file: {key}\n"
        f"compress: ON\nhosts:\n  {HOST}:\n    paths:\n      /:\n        file.dir: {site.root}\n",
        "exec h2o -c",
    )


def configured(site, name, text, command):
    file = site.folder / name
    file.write_text(text)
    return f"{command} {quote(str(file))}"


OURS, POLICY, BASELINE = "utmost", "utmost, policy", "Caddy"
H2, H3 = "h2", "h3"
SERVERS = [
    Server(OURS, ("utmost",), lambda site: f"{utmost(site)} --root {site.root}", (H2, H3)),
    Server(POLICY, ("utmost",), utmost_by_policy, (H2, H3)),
    Server(BASELINE, ("caddy",), caddy, (H2, H3)),
    Server("nginx", ("nginx",), nginx, (H2, H2)),
    Server("nginx, gtlsserver", ("nginx", "gtlsserver"), gtlsserver, (H2, H3)),
    Server("h2o", ("h2o",), h2o, (H2, H2)),
]


def missing(server):
    """The programs that are not there."""
    return [it for it in server.programs if not shutil.which(it)]
