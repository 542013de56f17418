"""One visitor's two visits to a page, in Chromium: the first, and one of another day with an empty cache.

The second browser has the profile of the first without its cache, so it knows by Alt-Svc that the host speaks HTTP/3: nothing
forces it onto QUIC, which would give it other limits for requests.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Nothing but the page crosses the link.
QUIET = [
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-sync", "--disable-default-apps", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-domain-reliability", "--disable-gpu",
    "--disable-field-trial-config", "--mute-audio", "--window-size=1366,768",
]  # fmt: skip
# Largest paints are reported a frame late; a page may still fetch after its load event.
SILENCE_S = 1.5
PATIENCE_S = 90
REPORT = """JSON.stringify({
    fcp: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    lcp: window.__largest, load: performance.getEntriesByType('navigation')[0].loadEventEnd,
    protocols: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(it => it.nextHopProtocol),
    ends: Object.fromEntries([...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter(it => it.responseStart).map(it => [it.name.slice(location.origin.length), it.responseEnd])),
})"""
LARGEST = """new PerformanceObserver(list => { window.__largest = list.getEntries().at(-1).startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })"""


class Chromium:
    """A browser that is told what to do through a pipe."""

    def __init__(self, profile, arguments):
        told, self.tell = os.pipe()
        self.heard, hear = os.pipe()
        # The browser reads from 3 and writes to 4.
        here = ["/bin/sh", "-c", f'exec "$@" 3<&{told} 4>&{hear}', "sh"]
        command = [*here, os.environ.get("CHROMIUM", "chromium"), *QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(
            [*command, *arguments, "about:blank"], pass_fds=(told, hear), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(told)
        os.close(hear)
        self.number, self.text, self.events = 0, b"", []

    def message(self):
        while b"\0" not in self.text:
            more = os.read(self.heard, 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.text += more
        message, _, self.text = self.text.partition(b"\0")
        return json.loads(message)

    def tell_only(self, method, session=None, **parameters):
        """Asks for something, and does not wait for the answer. Returns the answer's number."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.tell, json.dumps(message).encode() + b"\0")
        return self.number

    def ask(self, method, session=None, **parameters):
        number = self.tell_only(method, session, **parameters)
        while (answer := self.message()).get("id") != number:
            self.events.append(answer.get("method"))
        if "error" in answer:
            raise ValueError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def until(self, method):
        while method not in self.events:
            self.events.append(self.message().get("method"))

    def tab(self):
        """Opens a page without content; the session in which it can be told what to do."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable", session)
        return session

    def load(self, session, url):
        self.events.clear()
        self.ask("Page.navigate", session, url=url)
        self.until("Page.loadEventFired")

    def visit(self, url):
        session = self.tab()
        self.ask("Page.addScriptToEvaluateOnNewDocument", session, source=LARGEST)
        self.load(session, url)
        time.sleep(SILENCE_S)
        answer = self.ask("Runtime.evaluate", session, expression=REPORT)
        return json.loads(answer["result"]["value"])

    def close(self):
        # It writes what it has learnt of hosts, and ends before it answers.
        with contextlib.suppress(EOFError, OSError):
            self.ask("Browser.close")
        self.process.wait(PATIENCE_S)
        os.close(self.tell)
        os.close(self.heard)


def main():
    url, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="utmost-visit-") as profile:
        visits = []
        for _ in range(2):
            browser = Chromium(profile, arguments)
            try:
                visits.append(browser.visit(url))
            finally:
                browser.close()
            for cache in ["Cache", "Code Cache"]:
                shutil.rmtree(Path(profile) / "Default" / cache, ignore_errors=True)
    print(json.dumps(visits))


if __name__ == "__main__":
    main()
