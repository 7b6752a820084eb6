"""A page served to this machine alone: one page at one address, and nothing else."""

from __future__ import annotations

import errno
import os
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

from armsim.errors import UsageError, spelled

LOOPBACK = "127.0.0.1"
LARGEST = 65535
HTTP = 80  # the port that addresses leave out
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageServer(ThreadingTCPServer):
    """Serves a page on the loopback interface; `serve_forever` does, `shutdown` ends it.

    Args:
        page: The page, HTML in UTF-8.
        port: The port; a free one for 0.

    Attributes:
        page: The page.
        address: Where it is, a URL.

    Raises:
        UsageError: The port is none, is in use, or must not be taken.
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere this would share a port that is in use

    def __init__(self, page: bytes, port: int) -> None:
        where = spelled(f"--port {port}", "port")
        if not 0 <= port <= LARGEST:
            raise UsageError.of(where, f"a number from 0, for any free port, to {LARGEST}", str(port), "write 8000")
        self.page = page
        try:
            super().__init__((LOOPBACK, port), PageHandler)
        except OSError as error:
            found = "one that is in use" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
            raise UsageError.of(where, "a free port", found, "take another, or 0 for one that is free") from None
        at = self.server_address[1]
        self.hosts = {
            f"{name}{end}" for name in (LOOPBACK, "localhost") for end in (f":{at}", *([""] if at == HTTP else []))
        }
        self.address = f"http://{LOOPBACK}:{at}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Raise what is no mere end of a connection."""
        error = sys.exception()
        if error is not None and not isinstance(error, (ConnectionError, TimeoutError)):
            raise error


class PageHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD of `/` with the page, whoever asks by this machine's own name; refuses all else."""

    server: PageServer
    server_version, sys_version = "armsim", ""
    timeout = 30  # s without a word, after which a connection is closed

    def do_GET(self) -> None:
        """Send headers and page."""
        if self._sent_headers():
            self.wfile.write(self.server.page)

    def do_HEAD(self) -> None:
        """Send headers."""
        self._sent_headers()

    def _sent_headers(self) -> bool:
        """Send what precedes the page, and say whether it may follow."""
        if self.headers.get("Host") not in self.server.hosts:  # another site's name, made to point here
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return False
        if self.path.partition("?")[0] != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return False
        self.send_response(HTTPStatus.OK)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        return True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""
