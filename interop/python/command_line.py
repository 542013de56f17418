"""The command line that the Python peers share with the other peers of this folder."""

import argparse
from pathlib import Path
from urllib.parse import urlsplit


def parse(description, serves=False):
    parser = argparse.ArgumentParser(description=description)
    subcommands = parser.add_subparsers(dest="subcommand", required=True)
    fetch = subcommands.add_parser("fetch", help="fetch all URLs at once, each body into a file")
    fetch.add_argument("--connect", required=True, metavar="ADDR:PORT", type=address)
    fetch.add_argument("--ca", required=True, metavar="FILE")
    fetch.add_argument("--out", required=True, metavar="DIR", type=Path)
    fetch.add_argument("urls", nargs="+", metavar="URL")
    if serves:
        serve = subcommands.add_parser("serve", help="serve the files of one directory")
        serve.add_argument("--listen", required=True, metavar="ADDR:PORT", type=address)
        serve.add_argument("--root", required=True, metavar="DIR", type=Path)
        serve.add_argument("--cert", required=True, metavar="FILE")
        serve.add_argument("--key", required=True, metavar="FILE")
    return parser.parse_args()


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def file_of(url):
    """A body's file is named by its URL's last segment."""
    return Path(urlsplit(url).path).name
