"""Counts of requests, and the text in which Prometheus reads them."""

import time
from collections import Counter

from netwright.engine.endpoint.batching import Batcher

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the histogram of seconds per request."""
PATHS = ("/", "/health", "/metrics", "/openapi.json", "/predict")
OTHER = "other"


class Traffic:
    """Answers of an endpoint since it started, as counts."""

    def __init__(self) -> None:
        self.started = time.time()
        self.in_flight = 0
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[float] = Counter()
        self._sum_s = 0.0

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count an answer. Paths that there are not share one name, so that no client makes new ones."""
        self._answers[path if path in PATHS else OTHER, status] += 1
        if path == "/predict":
            self._sum_s += seconds
            self._seconds[next((bound for bound in BOUNDS_S if seconds <= bound), float("inf"))] += 1

    def text(self, batcher: Batcher) -> str:
        """Return the counts in the text format of Prometheus, version 0.0.4."""
        requests = [
            (f'netwright_requests_total{{path="{path}",status="{status}"}}', count)
            for (path, status), count in sorted(self._answers.items())
        ]
        buckets: list[tuple[str, float]] = []
        below = 0
        for bound in (*BOUNDS_S, float("inf")):
            below += self._seconds[bound]
            name = "+Inf" if bound == float("inf") else f"{bound:g}"
            buckets.append((f'netwright_request_seconds_bucket{{le="{name}"}}', below))
        buckets += [("netwright_request_seconds_sum", self._sum_s), ("netwright_request_seconds_count", below)]
        families = (
            ("netwright_requests_total", "counter", "Requests by path and status.", requests),
            ("netwright_request_seconds", "histogram", "Seconds per request for predictions.", buckets),
            ("netwright_requests_in_flight", "gauge", "Predictions that are asked for now.", self.in_flight),
            ("netwright_samples_total", "counter", "Samples that the network has computed.", batcher.samples),
            ("netwright_batches_total", "counter", "Batches that they were computed in.", batcher.batches),
            ("netwright_start_time_seconds", "gauge", "Start of the endpoint, in seconds since 1970.", self.started),
        )
        lines = []
        for name, kind, help, values in families:
            lines += [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
            rows = values if isinstance(values, list) else [(name, values)]
            lines += [f"{label} {value:.17g}" for label, value in rows]
        return "\n".join([*lines, ""])
