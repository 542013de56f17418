"""One visit to a page in Chromium, with a film of what it shows.

Prints when something was first painted, when the window first looked as it does in the end, and how long its fonts took, in ms; with a folder
in $UTMOST_FILM also writes the frames there, named by their times.
"""

import base64
import json
import os
import sys
import tempfile
from pathlib import Path

from visit import Chromium

REPORT = """new Promise(resolve => setTimeout(() => resolve(JSON.stringify({
    began: performance.timeOrigin,
    fcp: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    load: performance.getEntriesByType('navigation')[0].loadEventEnd,
    font: Math.max(...performance.getEntriesByType('resource').filter(it => it.name.endsWith('.woff2'))
        .map(it => it.responseEnd - it.startTime)),
    protocols: [...new Set(performance.getEntriesByType('resource').map(it => it.nextHopProtocol))],
})), 1500))"""


class Camera(Chromium):
    """A browser that is filmed."""

    frames = ()

    def message(self):
        message = super().message()
        if message.get("method") == "Page.screencastFrame":
            frame = message["params"]
            self.frames.append((frame["metadata"]["timestamp"] * 1000, frame["data"]))
            self.tell_only("Page.screencastFrameAck", message["sessionId"], sessionId=frame["sessionId"])
        return message

    def film(self, url):
        """The measures of one visit, and its frames with their times."""
        self.frames = []
        session = self.tab()
        self.ask("Network.enable", session)
        # Bytes are as many as the files have.
        self.ask("Network.setExtraHTTPHeaders", session, headers={"Accept-Encoding": "identity"})
        self.ask("Page.startScreencast", session, format="jpeg", quality=60, maxWidth=456, maxHeight=256)
        self.load(session, url)
        answer = self.ask("Runtime.evaluate", session, expression=REPORT, awaitPromise=True)
        seen = json.loads(answer["result"]["value"])
        began = seen.pop("began")
        frames = [(time - began, data) for time, data in self.frames if time > began]
        # Chromium may throw a picture away and draw it again, so the last change says nothing.
        complete = next((time for time, data in frames if data == frames[-1][1]), None)
        return seen | {"complete": complete}, frames


def main():
    url, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="utmost-film-") as profile:
        browser = Camera(profile, arguments)
        try:
            measures, frames = browser.film(url)
        finally:
            browser.close()
    if folder := os.environ.get("UTMOST_FILM"):
        for time, data in frames:
            (Path(folder) / f"{time:06.0f}.jpg").write_bytes(base64.b64decode(data))
    print(json.dumps(measures))


if __name__ == "__main__":
    main()
