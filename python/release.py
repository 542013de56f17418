#!/usr/bin/env python3
"""Makes what users install, of programs that are built: an archive, Debian packages, a wheel, and their checksums.

    python/release.py BUILT OUT      BUILT has the programs; `make release` builds them

The same commit and programs give the same bytes: times are the commit's, owners and modes are fixed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from artifact import ROOT, CannotMake, build_wheel, commit_time_s, pack, sha256, version

PROGRAMS = ("utmost", "utmost-serve", "utmost-workshop")
GLIBC = (2, 28)
"""The oldest C library that the programs may need: of 2018. Every distribution of the last five years has it."""
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's names of machines."""

SERVICE = {
    "examples/utmost.service": "lib/systemd/system/utmost.service",
    "packaging/serve.toml": "etc/utmost/serve.toml",
    "packaging/default": "etc/default/utmost",
    "packaging/logrotate": "etc/logrotate.d/utmost",
    "packaging/index.html": "usr/share/utmost/site/index.html",
}
"""What the service has beside its program, and where a package puts it."""


def main(built: Path, out: Path) -> None:
    """Make everything in the folder `out`."""
    release, machine, made_s = version(ROOT), platform.machine(), commit_time_s(ROOT)
    os.environ["SOURCE_DATE_EPOCH"] = str(made_s)
    if shutil.which("dpkg-deb") is None:
        raise CannotMake("there is no dpkg-deb, which makes the Debian packages; install the package dpkg")
    for program in PROGRAMS:
        check_glibc(built / program)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        share = Path(scratch) / "share"
        subprocess.run([built / "utmost", "manual", share], check=True)
        archive = tree(Path(scratch) / f"utmost-{release}-linux-{machine}", built, share)
        pack(archive, out / f"{archive.name}.tar.gz", made_s)
        for name in ("utmost-serve", "utmost"):
            deb(name, Path(scratch) / f"{name}_{release}_{ARCHITECTURES[machine]}", archive, out)
        wheel(Path(scratch) / "wheel", built, f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}", out)
    sums = [f"{sha256(it.read_bytes())}  {it.name}\n" for it in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(sums))
    print(f"made in {out}:\n{''.join(sums)}", end="")


def check_glibc(program: Path) -> None:
    """Raise `CannotMake` if a program needs a newer C library than `GLIBC`."""
    needed = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", program.read_bytes())}
    if max(needed, default=GLIBC) > GLIBC:
        raise CannotMake(f"{program}: needs glibc {max(needed)}, newer than {GLIBC}; `make release` builds for that one")


def tree(folder: Path, built: Path, share: Path) -> Path:
    """Lay out the archive, as /usr/local has it; return its folder."""
    shutil.copytree(share, folder / "share")
    for program in PROGRAMS:
        put(built / program, folder / "bin" / program, 0o755)
    for source, place in SERVICE.items():
        put(ROOT / source, folder / place.removeprefix("usr/"), 0o644)
    for name in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        put(ROOT / name, folder / name, 0o644)
    return folder


def deb(name: str, folder: Path, archive: Path, out: Path) -> None:
    """Make the Debian package `name` from the archive: `utmost-serve` with the service, or the other programs."""
    serves = name == "utmost-serve"
    for program in PROGRAMS:
        if (program == "utmost-serve") == serves:
            put(archive / "bin" / program, folder / "usr/bin" / program, 0o755)
    for path in (it for it in (archive / "share").rglob("*") if it.is_file() and it.parent.name != "site"):
        if (path.stem.lstrip("_") == "utmost-serve") == serves:
            place = folder / "usr" / path.relative_to(archive)
            put(path, place, 0o644)
            if place.suffix == ".1":
                place.with_suffix(".1.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
                place.unlink()
    put(ROOT / "LICENSE-MIT", folder / f"usr/share/doc/{name}/copyright", 0o644)
    control = (ROOT / "packaging" / f"{name}.control").read_text()
    _, release, architecture = folder.name.split("_")
    # `groupadd` of the script after the installation is in passwd.
    needed = f"libc6 (>= {GLIBC[0]}.{GLIBC[1]})" + (", passwd" if serves else "")
    control += f"Version: {release}\nArchitecture: {architecture}\nDepends: {needed}\n"
    if serves:
        for source, place in SERVICE.items():
            put(ROOT / source, folder / place, 0o644)
        unit = folder / SERVICE["examples/utmost.service"]
        unit.write_text(unit.read_text().replace("/usr/local/bin/", "/usr/bin/"))
        own = [f"/{place}\n" for place in SERVICE.values() if place.startswith("etc/")]
        for script in ("postinst", "prerm", "postrm"):
            put(ROOT / "packaging" / script, folder / "DEBIAN" / script, 0o755)
        (folder / "DEBIAN/conffiles").write_text("".join(own))
    (folder / "DEBIAN").mkdir(exist_ok=True)
    (folder / "DEBIAN/control").write_text(control)
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, out / f"{folder.name}.deb"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def wheel(folder: Path, built: Path, platform_tag: str, out: Path) -> None:
    """Make a wheel of the Python package and the programs, which `pip` puts beside its Python."""
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    pure = build_wheel(folder, folder / "scratch", int(os.environ["SOURCE_DATE_EPOCH"]))
    with zipfile.ZipFile(pure) as packed:
        members = {it.filename: (packed.read(it), 0o644) for it in packed.infolist()}
    (record,) = (name for name in members if name.endswith(".dist-info/RECORD"))
    info = record.removesuffix("/RECORD")
    tags, _ = members[f"{info}/WHEEL"]
    tags = tags.replace(b"Tag: py3-none-any", f"Tag: py3-none-{platform_tag}".encode())
    members[f"{info}/WHEEL"] = (tags.replace(b"Root-Is-Purelib: true", b"Root-Is-Purelib: false"), 0o644)
    for program in PROGRAMS:
        name = f"{info.removesuffix('.dist-info')}.data/scripts/{program}"
        members[name] = ((built / program).read_bytes(), 0o755)
    del members[record]
    lines = [f"{name},sha256={digest(content)},{len(content)}\n" for name, (content, _) in members.items()]
    members[record] = (("".join(lines) + f"{record},,\n").encode(), 0o644)
    path = out / pure.name.replace("-any.whl", f"-{platform_tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, (content, mode) in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)


def digest(content: bytes) -> str:
    """Return the sum of a file as a wheel's RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def put(source: Path, place: Path, mode: int) -> None:
    """Copy a file to a place, whose folders are made."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
    place.chmod(mode)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except CannotMake as error:
        sys.exit(f"release: {error}")
