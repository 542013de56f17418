"""The figures of all rounds, and what is computed from them."""

from statistics import median


class Figures:
    """By work and server, a dictionary for each round; None where the server failed."""

    def __init__(self):
        self.rounds = {}
        # (work, server): the first failure.
        self.failures = {}

    def add(self, work, server, figures):
        self.rounds.setdefault((work, server), []).append(figures)

    def failed(self, work, server, reason):
        self.add(work, server, None)
        self.failures.setdefault((work, server), reason)

    def servers(self, work):
        return [server for it, server in self.rounds if it == work]

    def values(self, work, server, key):
        return [it[key] for it in self.rounds.get((work, server), []) if it]

    def median(self, work, server, key):
        values = self.values(work, server, key)
        return median(values) if values else None

    def ratio(self, one, other):
        """The median over the rounds in which both were measured; each is (work, server, key)."""
        pairs = zip(self.rounds.get(one[:2], []), self.rounds.get(other[:2], []))
        ratios = [a[one[2]] / b[other[2]] for a, b in pairs if a and b and b[other[2]]]
        return median(ratios) if ratios else None

    def best(self, work, key, among):
        """The server with the least median."""
        medians = {server: self.median(work, server, key) for server in among}
        known = {server: it for server, it in medians.items() if it is not None}
        return min(known, key=known.get) if known else None
