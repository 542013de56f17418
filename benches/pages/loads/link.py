"""A browser and a server on both ends of a link."""

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import HERE, REPOSITORY, servers

# A visit of 3 MB on 3g takes 30 s; a browser that hangs is one failure.
PATIENCE_S = 240


def prepare():
    """Our programs come first, and a request to end is an exception, so that the link is stopped on the way out."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    release = Path(os.environ.get("UTMOST_RELEASE", REPOSITORY / "target" / "release"))
    os.environ["PATH"] = f"{release.resolve()}:{os.environ['PATH']}"


def certificate(folder):
    """Makes the host's certificate, and gives what a browser takes it by."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem"]
    named = ["-subj", "/CN=page", "-addext", f"subjectAltName=DNS:{servers.HOST}", "-days", "14", "-out", "cert.pem"]
    openssl(folder, "req", "-x509", *key, *named)
    public = openssl(folder, "x509", "-in", "cert.pem", "-pubkey", "-noout")
    der = openssl(folder, "pkey", "-pubin", "-outform", "der", text=public)
    return base64.b64encode(openssl(folder, "dgst", "-sha256", "-binary", text=der)).decode()


def openssl(folder, *arguments, text=b""):
    done = subprocess.run(["openssl", *arguments], cwd=folder, input=text, capture_output=True, check=True)
    return done.stdout


def visited(command, path, network, seed, pin, *, by="visit", browser=()):
    """What `loads/visit.py`, or another in its place, says of a visit to the server that this command starts.

    `network`: a name or a file; `pin`: of the certificate; `browser`: more arguments of Chromium.
    """
    arguments = [
        f"--ignore-certificate-errors-spki-list={pin}",
        f"--host-resolver-rules=MAP {servers.HOST} {servers.ADDRESS}, MAP * ~NOTFOUND",
        *browser,
    ]
    visit = [sys.executable, HERE / "loads" / f"{by}.py", f"https://{servers.HOST}{path}", *arguments]
    link = ["utmost", "link", "--tun", "--network", network, "--seed", str(seed), "--server", command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*link, "--", *visit], text=True, **pipes) as behind:
        try:
            said, problem = behind.communicate(timeout=PATIENCE_S)
        finally:
            # Asked, and not killed, it ends the server and the browser as well.
            behind.terminate()
    if behind.returncode:
        raise ValueError(problem.strip())
    return json.loads(said)
