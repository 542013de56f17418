"""An HTTP/3 client on niquests (urllib3-future with qh3)."""

import sys

from niquests import Session

import command_line


def main():
    arguments = command_line.parse(__doc__)
    # Lazy responses: all requests are sent on one connection before the first body is read.
    with Session(multiplexed=True, disable_http1=True, disable_http2=True, disable_ipv6=True) as session:
        session.headers["accept-encoding"] = "identity"
        responses = ask(session, arguments.urls, arguments.ca)
        if arguments.then:
            session.gather(max_fetch=1)
            responses += ask(session, arguments.then, arguments.ca)
        session.gather()
        for url, response in responses:
            if response.status_code != 200 or response.http_version != 30:
                sys.exit(f"{url}: status {response.status_code}, HTTP version {response.http_version}")
            (arguments.out / command_line.file_of(url)).write_bytes(response.content)


def ask(session, urls, ca):
    return [(url, session.get(url, headers=command_line.headers_of(url), verify=ca, timeout=30)) for url in urls]


if __name__ == "__main__":
    main()
