"""Addresses on this machine, and what is said of them."""

from __future__ import annotations

import hashlib
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirelab.lab.recipe import BuildContext


class Heard(Reporter):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.said.append(text)


def heard_by(context: BuildContext, **environ: str) -> tuple[BuildContext, list[str]]:
    """That machine with other variables, and what is said there."""
    reporter = Heard()
    return replace(context, environ=environ, reporter=reporter), reporter.said


@contextmanager
def served(
    answers: Mapping[str, tuple[int, bytes, int]], told: list[tuple[str, str | None]] | None = None
) -> Iterator[str]:
    """A server on this machine: by path the status, the content, and the length that it claims.

    ``told`` hears of each path that is asked for, with who asks.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if told is not None:
                told.append((self.path, self.headers.get("Authorization")))
            status, content, claimed_bytes = answers.get(self.path, (404, b"", 0))
            self.send_response(status)
            self.send_header("Content-Length", str(claimed_bytes))
            if status == 302:
                self.send_header("Location", content.decode())
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - of the base class
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def sha256(content: bytes) -> str:
    """Its SHA-256, as a release says it."""
    return hashlib.sha256(content).hexdigest()
