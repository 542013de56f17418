"""The command line that the Python peers share with the other peers of this folder."""

import argparse
from pathlib import Path
from urllib.parse import urlsplit


# What a client can be told to do besides fetching (harness/cases.py says what each case needs).
RESUMPTION, EARLY_DATA, KEY_UPDATE = "resumption", "early-data", "key-update"


def parse(description, serves=False, updates=False, pushes=False, features=False):
    parser = argparse.ArgumentParser(description=description)
    subcommands = parser.add_subparsers(dest="subcommand", required=True)
    fetch = subcommands.add_parser("fetch", help="fetch all URLs at once, each body into a file")
    fetch.add_argument("--connect", required=True, metavar="ADDR:PORT", type=address)
    fetch.add_argument("--ca", required=True, metavar="FILE")
    fetch.add_argument("--out", required=True, metavar="DIR", type=Path)
    fetch.add_argument("--then", action="append", default=[], metavar="URL", help="asked for after the first body")
    if updates:
        for option, when in (("--update", "before all requests"), ("--then-update", "after the first body")):
            about = f"send PRIORITY_UPDATE for this stream {when}"
            fetch.add_argument(option, action="append", default=[], metavar="STREAM#VALUE", help=about)
    if features:
        about = "fetch the others on a second connection; or update the keys after the first body"
        fetch.add_argument("--feature", choices=(RESUMPTION, EARLY_DATA, KEY_UPDATE), help=about)
    if pushes:
        fetch.add_argument("--pushed", metavar="DIR", type=Path, help="write what is pushed here, and say its IDs")
    fetch.add_argument("urls", nargs="+", metavar="URL", help="a fragment is the request's priority header")
    if serves:
        serve = subcommands.add_parser("serve", help="serve the files of one directory")
        serve.add_argument("--listen", required=True, metavar="ADDR:PORT", type=address)
        serve.add_argument("--root", required=True, metavar="DIR", type=Path)
        serve.add_argument("--cert", required=True, metavar="FILE")
        serve.add_argument("--key", required=True, metavar="FILE")
        if pushes:
            about = "push this path with each index.html; say what is asked for"
            serve.add_argument("--push", action="append", default=[], metavar="PATH", help=about)
    return parser.parse_args()


def address(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def file_of(url):
    """A body's file is named by its URL's last segment."""
    return Path(urlsplit(url).path).name


def headers_of(url):
    """A URL's fragment is never sent as such: here it is the request's `priority` header (`https://host/a#u=0`)."""
    priority = urlsplit(url).fragment
    return {"priority": priority} if priority else {}
