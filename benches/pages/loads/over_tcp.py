"""What the sources measured over TCP: how it is measured here, what they have, and the page that says both."""

import json
import subprocess
import sys
import textwrap
from statistics import mean, median

from bench.servers import machine
from harness import report

from . import HERE, link, servers

# The expectations: the words of the sources, and the room that their other rows have.
# "Establishing a connection over HTTP takes 1 RTT; for HTTPS and HTTP/2, it takes 2 RTTs", "a GET operation completes in
# approximately 1 RTT" (Garrett 2018, "Some Basic Observations").
SETUP_RTTS = {"HTTP": 1, "HTTPS": 2, "HTTP/2": 2}
GET_RTTS, ROOM_RTTS = 1, 0.15
# Table 2 (Mi et al. 2016, section 2.2): 10 Mbit/s, "~80ms RTT".
TAILS_KB = {("1.1", "cancel"): 150, ("2", "cancel"): 2500, ("2", "close"): 150}
ROOM_SHARE = 0.1
# "We found all of them [...] vulnerable to sender-side HoL blocking" (Mi et al. 2016, section 2.1): at least twice as long as beside
# the same download, but over a connection of its own.
BLOCKED_TIMES = 2
# "The connections are kept fully-utilized with negligible additional CPU overhead" (Meenan 2018, "TCP send buffers").
FILLED_SHARE, MORE_CPU_SHARE = 0.95, 0.1

DOWNLOAD_BYTES, OBJECT_BYTES = 400_000_000, 10_000
CANCELS_S = [10, 11, 12, 13, 14, 15]
# What a FIFO of 2.35 MB holds, as in the rows `table2-*` of smig: 150 KB of 2.5 MB are the path's.
HELD_BYTES = 2_350_000
LOWATS_BYTES = [16 << 10, 2_000_000, 10_000_000]
ROUNDS = 5

NETWORKS = {
    "setup": "rate = 100_000_000\ndelay_ms = 50\nqueue = { bytes = 1_000_000 }\n",
    # The paper does not say its queue: 50 packets are the default of dummynet.
    "cancels": "rate = 10_000_000\ndelay_ms = 40\nqueue = { packets = 50 }\n",
    "servers": "rate = 10_000_000\ndelay_ms = 25\nqueue = { packets = 50 }\n",
    "cpu": "rate = 100_000_000\ndelay_ms = 10\nqueue = { bytes = 250_000 }\n",
}


def write(root):
    root.mkdir()
    (root / "index.html").write_text("<!doctype html><title>a page of less than a packet</title>")
    (root / "style.css").write_text("p { color: green }")
    (root / "object").write_bytes(bytes(OBJECT_BYTES))
    with (root / "download").open("wb") as file:
        file.truncate(DOWNLOAD_BYTES)


def behind(site, part, command, client):
    """What the client prints, which runs on the other end of the part's link; the server's TCP has the system's defaults and cubic."""
    network = site.folder / f"{part}.toml"
    network.write_text(NETWORKS[part])
    cubic = "ip route replace 10.0.0.2 dev utmost congctl cubic"
    line = ["utmost", "link", "--tun", "--network", network, "--server", f"{cubic} && {command}", "--", *client]
    done = subprocess.run([str(it) for it in line], capture_output=True, text=True, timeout=link.PATIENCE_S, check=False)
    if done.returncode:
        raise ValueError(done.stderr[-500:])
    return done.stdout


def said(site, part, command, *asked):
    return json.loads(behind(site, part, command, [sys.executable, HERE / "loads" / "client.py", *asked]))


def nginx(site):
    return servers.nginx(site, f"listen {servers.ADDRESS}:80; ssl_protocols TLSv1.3;")


def with_lowat(site, lowat_bytes):
    """The system counts its own overhead of a buffer, too."""
    begin_bytes = max(2 * lowat_bytes, 16 << 10)
    memory = f"echo 4096 {begin_bytes} {max(begin_bytes, 4 << 20)} > /proc/sys/net/ipv4/tcp_wmem"
    return f"{memory} && {servers.utmost(site)} --root {site.root} --tcp-lowat {lowat_bytes}"


def setup(site, keep):
    """Round trips of 100 ms: of each connection, and of a request over it."""
    ways = {"HTTP": ["http://"], "HTTPS": ["--http1.1", "https://"], "HTTP/2": ["--http2", "https://"]}
    rows = []
    for name, (*options, scheme) in ways.items():
        for path in ("/index.html", "/style.css"):
            for _ in range(ROUNDS):
                times = "%{time_connect} %{time_appconnect} %{time_starttransfer}"
                curl = ["curl", "-sko", "/dev/null", "-w", times, *options, f"{scheme}{servers.ADDRESS}{path}"]
                connect_s, secure_s, first_s = map(float, behind(site, "setup", nginx(site), curl).split())
                ready_s = max(connect_s, secure_s)
                row = {"over": name, "path": path, "setup_rtts": ready_s / 0.1, "get_rtts": (first_s - ready_s) / 0.1}
                rows.append(keep(row))
    return rows


def cancels(site, keep):
    rows = []
    held = ("utmost, 2.35 MB held", with_lowat(site, 2 * HELD_BYTES))
    for name, command in [("nginx", nginx(site)), held]:
        for version, end in TAILS_KB:
            for after_s in CANCELS_S:
                row = {"server": name, "http": version, "end": end, "after_s": after_s}
                rows.append(keep(row | said(site, "cancels", command, "tail", version, end, str(after_s))))
    return rows


def blocking(site, keep):
    """Servers over HTTP/2 with the system's buffer, ours with its own limit and without."""
    known = {it.name: it for it in servers.SERVERS}
    present = [known[it] for it in ("nginx", "h2o", servers.BASELINE) if not servers.missing(known[it])]
    commands = {it.name: it.command(site) for it in present}
    commands["utmost, lowat 10 MB"] = with_lowat(site, LOWATS_BYTES[-1])
    commands["utmost"] = with_lowat(site, LOWATS_BYTES[0])
    return [keep({"server": name} | said(site, "servers", command, "beside", "15")) for name, command in commands.items()]


def cpu(site, keep):
    rows = []
    for turn in range(ROUNDS):
        for lowat_bytes in LOWATS_BYTES[turn % 3 :] + LOWATS_BYTES[: turn % 3]:
            row = {"lowat_bytes": lowat_bytes, "round": turn}
            rows.append(keep(row | said(site, "cpu", with_lowat(site, lowat_bytes), "fill", "utmost", "8")))
    return rows


PARTS = {"setup": setup, "cancels": cancels, "servers": blocking, "cpu": cpu}

HEAD = """# What the sources measured over TCP

`benches/pages/sources --write` measures what three sources have of TCP over the system's TCP, behind
[`utmost link --tun`](../../docs/engines.md#tcp-behind-a-network), and writes this page. Each expectation is the source's, and was written before its first
measurement. {machine}; other programs may have used it at the same time.
"""


def document(rows):
    words = {"setup": setup_words, "cancels": cancel_words, "servers": blocking_words, "cpu": cpu_words}
    return "\n".join([HEAD.format(machine=machine()), *(words[part](it) for part, it in rows.items())])


def section(heading, about, table):
    about = textwrap.fill(about, 140, break_long_words=False, break_on_hyphens=False)
    return f"## {heading}\n\n{about}\n\n{report.markdown([[str(it) for it in row] for row in table])}\n"


def holds(value, expected, room):
    return "yes" if abs(value - expected) <= room else "no"


def setup_words(rows):
    table = [["over", "round trips of a connection", "the article", "holds", "of a request for the HTML, for the CSS", "the article", "holds"]]
    for name, expected in SETUP_RTTS.items():
        mine = [it for it in rows if it["over"] == name]
        ready = median(it["setup_rtts"] for it in mine)
        gets = [median(it["get_rtts"] for it in mine if it["path"] == path) for path in ("/index.html", "/style.css")]
        worst = max(gets, key=lambda it: abs(it - GET_RTTS))
        table.append(
            [name, f"{ready:.2f}", expected, holds(ready, expected, ROOM_RTTS), f"{gets[0]:.2f}, {gets[1]:.2f}", GET_RTTS, holds(worst, GET_RTTS, ROOM_RTTS)]
        )
    about = f"Garrett 2018: curl and nginx with TLS 1.3, round trips of 100 ms, medians of {ROUNDS}. It holds within {ROOM_RTTS} round trips."
    return section("Round trips of a connection", about, table)


def cancel_words(rows):
    ends = {("1.1", "cancel"): "HTTP/1.1, cancel", ("2", "cancel"): "HTTP/2, cancel", ("2", "close"): "HTTP/2, connection closed"}
    table = [["server", "end", "KB that still come: mean (least to most)", "Table 2", "holds"]]
    for server in dict.fromkeys(it["server"] for it in rows):
        for end, name in ends.items():
            tails = [it["tail_bytes"] / 1e3 for it in rows if (it["server"], it["http"], it["end"]) == (server, *end)]
            expected = TAILS_KB[end]
            spread = f"{mean(tails):.0f} ({min(tails):.0f} to {max(tails):.0f})"
            table.append([server, name, spread, expected, holds(mean(tails), expected, ROOM_SHARE * expected)])
    about = (
        "Mi et al. 2016, Table 2: 10 Mbit/s, a round trip of 80 ms, cubic, a download that ends after 10 to 15 s. The paper does not say its queue: "
        "50 packets are the default of dummynet. nginx has the system's default buffer. Ours holds 2.35 MB (`--tcp-lowat`), which are made to fit "
        "the 2.5 MB. It holds within 10 %."
    )
    return section("Bytes after a download ends", about, table)


def blocking_words(rows):
    table = [["server", "on an empty connection, ms", "beside a download, ms", "beside it, on a connection of its own, ms", "times as long", "blocked"]]
    for row in rows:
        alone, shared, own = (mean(row[it]) for it in ("alone_ms", "shared_ms", "own_ms"))
        times = shared / own
        table.append([row["server"], f"{alone:.0f}", f"{shared:.0f}", f"{own:.0f}", f"{times:.1f}", "yes" if times >= BLOCKED_TIMES else "no"])
    about = (
        "Mi et al. 2016, section 2.1: objects of 10 KB over HTTP/2 and a download, 10 Mbit/s, a round trip of 50 ms, a queue of 50 packets, cubic. nginx, h2o "
        f"and Caddy have the system's default buffer. A server blocks if an object takes at least {BLOCKED_TIMES} times as long as on a connection of its own, "
        "beside the same download. Means of 15."
    )
    return section("Small objects behind a large one", about, table)


def cpu_words(rows):
    of = {it: [row for row in rows if row["lowat_bytes"] == it] for it in LOWATS_BYTES}
    costs = {it: median(row["cpu_ns"] / row["bytes"] for row in mine) for it, mine in of.items()}
    table = [["lowat", "CPU time, ms a MB", "beside 10 MB", "link filled"]]
    for lowat, mine in of.items():
        filled = median(row["bytes"] * 8 / row["seconds"] for row in mine) / 100e6
        more = costs[lowat] / costs[LOWATS_BYTES[-1]] - 1
        table.append([f"{lowat // 1000} kB", f"{costs[lowat]:.2f}", f"{100 * more:+.1f} %", f"{100 * filled:.1f} %"])
    about = (
        f"Meenan 2018: a download from our server over HTTP/2, 100 Mbit/s, a round trip of 20 ms, cubic. Medians of {ROUNDS}. It holds if 16 KiB cost at most "
        f"{100 * MORE_CPU_SHARE:.0f} % more CPU time than 10 MB and fill at least {100 * FILLED_SHARE:.0f} % of the link."
    )
    return section("CPU time with 16 KiB unsent", about, table)
