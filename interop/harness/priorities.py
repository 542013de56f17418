"""Does our server send in the order of RFC 9218 what other clients ask for with priorities?

Each plan is one connection to `utmost serve --scheme rfc9218 --signals obey`, paced so that an order can show. The
client says priorities in its own way; the server's qlog says what came and in what order the answers went.
"""

from dataclasses import dataclass, field, replace

from . import order, pairs, stacks
from .processes import Failure, run_client, running
from .stacks import HEADER, LATE, UPDATE


@dataclass(frozen=True)
class Plan:
    """What is asked for, in this order, and in which order it must be complete.

    In `expected`, those joined by `+` share, and either may be complete first.

    `requests` maps each file to its `priority` header (None: without); `late` is asked for when the first body is
    complete; `updates` are the PRIORITY_UPDATE frames that go before all requests, `late_updates` those that go when the
    first body is complete. A client must be able to do what is in `needs`.
    """

    name: str
    requests: dict
    expected: str
    late: dict = field(default_factory=dict)
    updates: dict = field(default_factory=dict)
    late_updates: dict = field(default_factory=dict)
    needs: frozenset = frozenset()

    @property
    def files(self):
        return (*self.requests, *self.late)

    @property
    def headers(self):
        return {**self.requests, **self.late}

    @property
    def signals(self):
        """What the server must have understood in the end, by file."""
        values = {**self.headers, **self.updates, **self.late_updates}
        return {name: order.parse(value) for name, value in values.items() if value}

    @property
    def asked(self):
        """The requests in words: `` `low u=6`, `high u=0` ``."""
        requests = [as_code(*it) for it in self.requests.items()]
        requests += [f"{as_code(*it)} when one is complete" for it in self.late.items()]
        requests += [f"PRIORITY_UPDATE {as_code(*it)} before all" for it in self.updates.items()]
        requests += [f"PRIORITY_UPDATE {as_code(*it)} when one is complete" for it in self.late_updates.items()]
        return ", ".join(requests)


def as_code(name, priority):
    return f"`{name} {priority}`" if priority else f"`{name}`"


PLANS = [
    Plan("unsignalled", {"first": None, "second": None, "third": None}, "first,second,third"),
    Plan(
        "urgencies",
        {"low1": "u=6", "low2": "u=6", "normal": None, "high": "u=0"},
        "high,normal,low1,low2",
        needs=frozenset({HEADER}),
    ),
    Plan(
        "incremental",
        {"after": "u=5", "left": "u=2,i", "right": "u=2,i", "before": "u=1"},
        "before,left+right,after",
        needs=frozenset({HEADER}),
    ),
    Plan(
        "late urgent",
        {"middle": "u=4", "low": "u=5", "lowest": "u=7,i"},
        "middle,high,low,lowest",
        late={"high": "u=0"},
        needs=frozenset({HEADER, LATE}),
    ),
    Plan(
        "PRIORITY_UPDATE first",
        {"low1": "u=6", "high": "u=7", "low2": "u=5"},
        "high,low2,low1",
        updates={"high": "u=0"},
        needs=frozenset({HEADER, UPDATE}),
    ),
    Plan(
        "PRIORITY_UPDATE late",
        {"middle": "u=4", "low1": "u=5", "low2": "u=6"},
        "middle,low2,low1",
        late_updates={"low2": "u=0"},
        needs=frozenset({HEADER, UPDATE}),
    ),
]


def run(client, site, work):
    """The results of one client: a plan that it cannot do is left out."""
    folder = work / f"{client.name}-priorities"
    folder.mkdir()
    return [run_plan(client, plan, site, folder) for plan in PLANS if plan.needs <= client.signals]


def run_plan(client, plan, site, folder, serve=stacks.utmost_serve_by_priority):
    """One server with one log, one client, one connection. The result tells the order seen, when one was."""
    place = folder / plan.name.replace(" ", "-")
    bodies, logs = place / "bodies", place / "qlog"
    bodies.mkdir(parents=True)
    logs.mkdir()
    server = stacks.Server("utmost", lambda site, port: serve(site, port, logs))
    events = []

    def check():
        fetch(client, server, plan, site, place)
        events.extend(order.read(only_log(logs).read_text()))
        for name in plan.files:
            pairs.compare(bodies / name, site.root / name)
        check_order(events, plan)

    result = pairs.judge(client, server, plan.name, check)
    return replace(result, order=order.shown(events))


def fetch(client, server, plan, site, place):
    with running(server, site, place / "server.log") as it:
        command = client.by_priority if plan.needs else client.command
        run_client(command(site, plan, it.port, place / "bodies"), place / "stdout", place / "stderr")


def only_log(logs):
    """The server writes a log for each connection."""
    found = list(logs.iterdir())
    if len(found) != 1:
        raise Failure(f"the client made {len(found)} connections, not one")
    return found[0]


def check_order(events, plan):
    """What came must be what the plan asks for, and what went must be in the order that follows."""
    asked = {it.name: it.priority for it in events if isinstance(it, order.Asked)}
    if asked != plan.headers:
        raise Failure(f"the server was asked {asked}, not {plan.headers}")
    streams = {it.stream: it.name for it in events if isinstance(it, order.Asked)}
    signals = [it for it in events if isinstance(it, order.Signalled)]
    understood = {streams.get(it.stream): (it.urgency, it.incremental) for it in signals}
    if understood != plan.signals:
        raise Failure(f"the server understood {understood}, not {plan.signals}")
    if words := order.fault(events):
        raise Failure(words)
    if not is_as_expected(finished := order.finished(events), plan.expected):
        raise Failure(f"complete in the order {finished}, not {plan.expected}")


def is_as_expected(finished, expected):
    """`before,right,left,after` is as `before,left+right,after` says."""
    names = finished.split(",")
    for group in (it.split("+") for it in expected.split(",")):
        if sorted(names[: len(group)]) != sorted(group):
            return False
        names = names[len(group) :]
    return not names
