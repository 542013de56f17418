"""In what order did a server send its responses? Read from its qlog, and judged by RFC 9218, section 10.

What counts is what was on the wire: the requests that came, and the first transmission of each byte of each response. Of
what the server says of its own scheduler, only the signals are read: the log shows no PRIORITY_UPDATE frame otherwise.
"""

import json
import re
from dataclasses import dataclass

# A request that comes while a packet is being made cannot go before that packet.
PACKETS_OF_GRACE = 1
# RFC 9218 says that incremental responses share, not how finely: this many packets in a row are still sharing.
MOST_PACKETS_IN_A_ROW = 4


@dataclass(frozen=True)
class Asked:
    """A request came, with this `priority` header (None: without)."""

    stream: int
    name: str
    priority: str | None


@dataclass(frozen=True)
class Signalled:
    """The server has understood this of a `priority` header or of a PRIORITY_UPDATE frame."""

    stream: int
    urgency: int
    incremental: bool


@dataclass(frozen=True)
class Sent:
    """A packet took this many bytes of a response that no packet had before."""

    stream: int
    count: int


@dataclass
class Response:
    """A response, complete when `left` is 0. `packets_since`: sent, of any response, since it was placed where it is."""

    name: str
    stream: int
    urgency: int
    incremental: bool
    left: int
    packets_since: int = 0

    def __str__(self):
        return f"{self.name} (u={self.urgency}{', i' if self.incremental else ''})"


def read(text):
    """The events of a qlog file (JSON text sequence), in its order."""
    events, highest = [], {}
    for record in filter(str.strip, text.split("\x1e")):
        record = json.loads(record)
        if record.get("name") == "http3:frame_parsed":
            events += requests(record["data"])
        elif record.get("name") == "utmost:scheduler" and record["data"]["op"] == "signalled":
            signal = record["data"]["signal"]
            events.append(Signalled(record["data"]["stream"], signal["urgency"], signal["incremental"]))
        elif record.get("name") == "quic:packet_sent":
            frames = record["data"].get("frames", [])
            events += filter(None, (first_transmission(it, highest) for it in frames))
    return events


def requests(data):
    if data["frame"]["frame_type"] != "headers":
        return []
    headers = {it["name"]: it["value"] for it in data["frame"]["headers"]}
    return [Asked(data["stream_id"], headers[":path"].lstrip("/"), headers.get("priority"))]


def first_transmission(frame, highest):
    """The frame's bytes beyond the highest offset that was sent so far; None for those of no response."""
    if frame["frame_type"] != "stream" or frame["stream_id"] % 4 != 0:
        return None
    stream, end = frame["stream_id"], frame["offset"] + frame["raw"]["payload_length"]
    count = end - highest.get(stream, 0)
    if count <= 0:
        return None
    highest[stream] = end
    return Sent(stream, count)


def parse(priority):
    """Urgency and incremental of a priority field value, as far as this harness writes them."""
    urgency = re.search(r"\bu=([0-7])", priority or "")
    return int(urgency.group(1)) if urgency else 3, bool(re.search(r"\bi\b", priority or ""))


def fault(events):
    """The first packet that RFC 9218, section 10, would not have sent then, in words; None when there is none."""
    waiting, last, in_a_row, sent = {}, None, 0, 0
    for event in events:
        if isinstance(event, Asked):
            left = sum(it.count for it in events if isinstance(it, Sent) and it.stream == event.stream)
            waiting[event.stream] = Response(event.name, event.stream, *parse(event.priority), left)
        elif event.stream not in waiting:
            return f"stream {event.stream} has an event before it was asked for"
        elif isinstance(event, Signalled):
            place(waiting[event.stream], event)
        else:
            in_a_row = in_a_row + 1 if event.stream == last else 1
            if words := misplaced(waiting, event.stream, in_a_row):
                return f"after {sent} packets {words}"
            charge(waiting, event)
            last, sent = event.stream, sent + 1
    return None


def place(response, signal):
    """A PRIORITY_UPDATE overrides the header (section 7). A signal that says nothing new changes nothing."""
    placed = (signal.urgency, signal.incremental)
    if placed != (response.urgency, response.incremental):
        response.urgency, response.incremental = placed
        response.packets_since = 0


def misplaced(waiting, stream, in_a_row):
    """Why one of those that wait should have gone instead, or None."""
    this = waiting[stream]
    for other in waiting.values():
        if other is this or other.left == 0 or other.packets_since < PACKETS_OF_GRACE:
            continue
        if other.urgency < this.urgency:
            return f"{this} went before {other}"
        if other.urgency > this.urgency or other.incremental != this.incremental:
            continue
        if not this.incremental and other.stream < this.stream:
            return f"{this} went before {other}, which has the lower stream ID"
        if this.incremental and in_a_row > MOST_PACKETS_IN_A_ROW:
            return f"{this} had {in_a_row} packets in a row and did not share with {other}"
    return None


def charge(waiting, event):
    for it in waiting.values():
        it.packets_since += 1
    waiting[event.stream].left -= event.count


def names(events):
    """The name of the response in each packet."""
    asked = {it.stream: it.name for it in events if isinstance(it, Asked)}
    return [asked.get(it.stream, "?") for it in events if isinstance(it, Sent)]


def finished(events):
    """The names in the order in which their last bytes went: `high,low`."""
    last_first = dict.fromkeys(reversed(names(events)))
    return ",".join(reversed(last_first))


def shown(events, longest=4):
    """The packets in one line: `low*2 high*72 (a b)*71`. Up to `longest` names are found as a repeating group."""
    rest, parts = names(events), []
    while rest:
        # The group that covers most of what is left; of equals the shortest.
        group, count = max(map(repeated, [rest] * longest, range(1, longest + 1)), key=lambda it: len(it[0]) * it[1])
        parts.append(part(group, count))
        rest = rest[len(group) * count :]
    return " ".join(parts)


def repeated(rest, length):
    """The first `length` names, and how often they come in a row; once, only the first name counts."""
    group, count = rest[:length], 1
    while rest[count * length : (count + 1) * length] == group:
        count += 1
    return (group, count) if count > 1 else (rest[:1], 1)


def part(group, count):
    name = group[0] if len(group) == 1 else f"({' '.join(group)})"
    return f"{name}*{count}" if count > 1 else name
