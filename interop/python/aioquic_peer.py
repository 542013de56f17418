"""An HTTP/3 client and server on aioquic, as small as interoperation needs them."""

import asyncio
import signal
import ssl
from urllib.parse import urlsplit

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3_ALPN, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, HeadersReceived, PushPromiseReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, StreamReset

import command_line

# More than the largest file: a window that is never the limit.
WINDOW_BYTES = 8 * 1024 * 1024
# PRIORITY_UPDATE for a request stream (RFC 9218, section 7.2).
PRIORITY_UPDATE = 0xF0700


def main():
    arguments = command_line.parse(__doc__, serves=True, updates=True, pushes=True, features=True)
    asyncio.run(run_server(arguments) if arguments.subcommand == "serve" else run_client(arguments))


async def run_client(arguments):
    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=H3_ALPN,
        server_name="localhost",
        cafile=arguments.ca,
        max_data=WINDOW_BYTES,
        max_stream_data=WINDOW_BYTES,
    )
    if arguments.feature not in (command_line.RESUMPTION, command_line.EARLY_DATA):
        await visit(arguments, configuration, arguments.urls)
        return
    first, *others = arguments.urls
    await visit(arguments, configuration, [first])
    if configuration.session_ticket is None:
        raise ConnectionError("the server sent no session ticket")
    await visit(arguments, configuration, others, early=arguments.feature == command_line.EARLY_DATA)


async def visit(arguments, configuration, urls, early=False):
    """One connection. It leaves the server's session ticket in the configuration, for the next one."""
    host, port = arguments.connect

    def keep(ticket):
        configuration.session_ticket = ticket

    options = {"session_ticket_handler": keep, "wait_connected": not early}
    async with connect(host, port, configuration=configuration, create_protocol=Client, **options) as client:
        for update in arguments.update:
            client.update_priority(*update.split("#"))
        gets = [asyncio.ensure_future(save(client, url, arguments.out)) for url in urls]
        await asyncio.wait(gets, return_when=asyncio.FIRST_COMPLETED)
        if arguments.feature == command_line.KEY_UPDATE:
            client._quic.request_key_update()
            client.transmit()
        for update in arguments.then_update:
            client.update_priority(*update.split("#"))
            client.transmit()
        late = [save(client, url, arguments.out) for url in arguments.then]
        await asyncio.gather(*gets, *late)
        if arguments.pushed:
            await client.save_pushed(arguments.pushed)


async def save(client, url, out):
    (out / command_line.file_of(url)).write_bytes(await client.get(url))


class Client(QuicConnectionProtocol):
    """Sends all requests over one connection and gathers the bodies."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.http = H3Connection(self._quic)
        self.bodies = {}
        self.ends = {}
        # By push ID: the promised path, and the body and its end.
        self.promised = {}
        self.pushed = {}

    async def get(self, url):
        parts = urlsplit(url)
        stream = self._quic.get_next_available_stream_id()
        self.bodies[stream] = bytearray()
        self.ends[stream] = asyncio.get_running_loop().create_future()
        headers = {":method": "GET", ":scheme": "https", ":authority": parts.netloc, ":path": parts.path}
        headers |= command_line.headers_of(url)
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.http.send_headers(stream, pairs, end_stream=True)
        self.transmit()
        await self.ends[stream]
        return bytes(self.bodies[stream])

    def update_priority(self, stream, value):
        """aioquic has no call for this frame, so it is written on the control stream that aioquic has opened."""
        payload = encode_uint_var(int(stream)) + value.encode()
        control = self.http._local_control_stream_id
        self._quic.send_stream_data(control, encode_frame(PRIORITY_UPDATE, payload))

    def quic_event_received(self, event):
        if isinstance(event, (ConnectionTerminated, StreamReset)):
            self.fail(ConnectionError(f"the server ended it: {event}"))
        for http_event in self.http.handle_event(event):
            self.http_event_received(http_event)

    async def save_pushed(self, out):
        """Promises come before the end of the response that makes them: all are known by now."""
        for push in sorted(self.promised):
            body, end = self.push_of(push)
            await end
            (out / command_line.file_of(self.promised[push])).write_bytes(body)
            print(f"push {push} {self.promised[push]}")

    def push_of(self, push):
        if push not in self.pushed:
            self.pushed[push] = bytearray(), asyncio.get_running_loop().create_future()
        return self.pushed[push]

    def push_event_received(self, event):
        body, end = self.push_of(event.push_id)
        if isinstance(event, HeadersReceived) and dict(event.headers).get(b":status") != b"200":
            end.set_exception(ConnectionError(f"not a 200: {event.headers}"))
        if isinstance(event, DataReceived):
            body += event.data
        if event.stream_ended and not end.done():
            end.set_result(None)

    def http_event_received(self, event):
        if isinstance(event, PushPromiseReceived):
            self.promised[event.push_id] = dict(event.headers)[b":path"].decode()
            return
        if getattr(event, "push_id", None) is not None:
            self.push_event_received(event)
            return
        if isinstance(event, HeadersReceived) and dict(event.headers).get(b":status") != b"200":
            self.fail(ConnectionError(f"not a 200: {event.headers}"))
        if isinstance(event, DataReceived):
            self.bodies[event.stream_id] += event.data
        if getattr(event, "stream_ended", False) and not self.ends[event.stream_id].done():
            self.ends[event.stream_id].set_result(None)

    def fail(self, error):
        for end in [*self.ends.values(), *(end for _, end in self.pushed.values())]:
            if not end.done():
                end.set_exception(error)


async def run_server(arguments):
    configuration = QuicConfiguration(
        is_client=False, alpn_protocols=H3_ALPN, max_data=WINDOW_BYTES, max_stream_data=WINDOW_BYTES
    )
    configuration.load_cert_chain(arguments.cert, arguments.key)
    host, port = arguments.listen

    def protocol(*args, **kwargs):
        return Server(*args, root=arguments.root, push=arguments.push, **kwargs)

    server = await serve(host, port, configuration=configuration, create_protocol=protocol)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    print(f"listening on {host}:{port}", flush=True)
    await stopped.wait()
    server.close()


class Server(QuicConnectionProtocol):
    """Answers each request with a file of the root, and pushes files with an index.html."""

    def __init__(self, *args, root, push, **kwargs):
        super().__init__(*args, **kwargs)
        self.root = root
        self.push = push
        self.http = None

    def quic_event_received(self, event):
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http is None:
            return
        for http_event in self.http.handle_event(event):
            if isinstance(http_event, HeadersReceived):
                self.answer_request(http_event.stream_id, dict(http_event.headers))
        self.transmit()

    def answer_request(self, stream, headers):
        path = headers[b":path"].decode()
        if self.push:
            print(f"asked {path}", flush=True)
        # A promise goes before the bytes that refer to it.
        pushes = [(path, self.promise(stream, headers, path)) for path in self.push if is_document(headers)]
        self.answer(stream, path)
        for pushed, push_stream in pushes:
            self.answer(push_stream, pushed)

    def promise(self, stream, headers, path):
        names = (b":method", b":scheme", b":authority")
        return self.http.send_push_promise(stream, [*((it, headers[it]) for it in names), (b":path", path.encode())])

    def answer(self, stream, path):
        file = self.root / command_line.file_of(path)
        status, body = ("200", file.read_bytes()) if file.is_file() else ("404", b"")
        headers = [(b":status", status.encode()), (b"content-length", str(len(body)).encode())]
        self.http.send_headers(stream, headers)
        self.http.send_data(stream, body, end_stream=True)


def is_document(headers):
    return headers[b":path"].decode().endswith("/index.html")


if __name__ == "__main__":
    main()
