"""An HTTP/3 client on curl_cffi (libcurl with ngtcp2)."""

import asyncio
import sys
from urllib.parse import urlsplit

from curl_cffi import AsyncSession, CurlHttpVersion, CurlOpt

import command_line


def main():
    asyncio.run(run(command_line.parse(__doc__)))


async def run(arguments):
    host, port = arguments.connect
    options = {
        CurlOpt.RESOLVE: [f"localhost:{port}:{host}"],
        # Wait for the first connection and multiplex on it, instead of opening one per URL.
        CurlOpt.PIPEWAIT: 1,
    }
    async with AsyncSession(
        http_version=CurlHttpVersion.V3ONLY, verify=arguments.ca, curl_options=options, max_clients=100, timeout=30
    ) as session:
        fetches = [asyncio.ensure_future(fetch_one(session, url, arguments.out)) for url in arguments.urls]
        await asyncio.wait(fetches, return_when=asyncio.FIRST_COMPLETED)
        late = [fetch_one(session, url, arguments.out) for url in arguments.then]
        await asyncio.gather(*fetches, *late)


async def fetch_one(session, url, out):
    response = await session.get(url, headers=command_line.headers_of(url), accept_encoding=None)
    if response.status_code != 200 or response.http_version != CurlHttpVersion.V3:
        sys.exit(f"{url}: status {response.status_code}, HTTP version {response.http_version}")
    (out / command_line.file_of(url)).write_bytes(response.content)


if __name__ == "__main__":
    main()
