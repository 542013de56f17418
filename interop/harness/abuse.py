"""Does our server refuse malformed priority frames with the error codes of the RFCs?

h3i sends one on each connection; the client itself knows its cases and the code that each deserves
(h3i/src/abuse.rs), and prints the code that the server closed with.
"""

from dataclasses import replace

from . import pairs, stacks
from .processes import Failure, run_client, running


def run(site, work):
    """One server for all cases."""
    folder = work / "h3i-abuse"
    folder.mkdir()
    with running(stacks.OUR_SERVER, site, folder / "server.log") as it:
        return [run_case(*case, it.port, folder) for case in cases(folder)]


def cases(folder):
    """The code that each case deserves, and its name."""
    listed = ask(["--list"], folder / "list")
    return [line.split(" ", 1) for line in listed.splitlines()]


def run_case(code, name, port, folder):
    place = folder / name.replace(" ", "-")
    answers = []

    def check():
        answers.append(ask(["--connect", f"127.0.0.1:{port}", "--case", name], place).strip())
        if answers[0].split(" ")[0] != code:
            raise Failure(f"closed with {answers[0]}, not {code}")

    result = pairs.judge(stacks.Client("h3i", None), stacks.OUR_SERVER, name, check)
    return replace(result, order=answers[0] if answers else "")


def ask(options, place):
    place.mkdir()
    run_client([stacks.H3I, "abuse", *options], place / "stdout", place / "stderr")
    return (place / "stdout").read_text()


def table(results):
    """A row for each case: what came, and the server's answer."""
    return [["PRIORITY_UPDATE", "outcome", "answer"], *([it.case, it.outcome, it.order] for it in results)]
