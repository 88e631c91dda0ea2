"""The lab's store over HTTPS, as a bucket would serve it: objects in whole or in part, and reports put back.

Run as a process of its own by `providers.lab.store`; imports nothing of the library, so that it is small.
"""

from __future__ import annotations

import argparse
import http.server
import os
import re
import ssl
import tempfile
from pathlib import Path

_READABLE = re.compile(r"current\.json|objects/[0-9a-f]{64}|(reports|secrets|names)/[A-Za-z0-9.-]{1,63}")
_WRITABLE = re.compile(r"reports/[A-Za-z0-9.-]{1,63}")
_RANGE = re.compile(r"bytes=(\d+)-")
_LARGEST = 1024 * 1024
"""Of a report."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection of one node."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    folder: Path

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        try:
            if not _READABLE.fullmatch(name) or ".." in name:
                raise FileNotFoundError
            with (self.folder / name).open("rb") as stream:
                self._send(stream.read())
        except OSError:
            self._answer(404)

    def do_PUT(self) -> None:
        name, length = self.path.lstrip("/"), int(self.headers.get("Content-Length", -1))
        if not _WRITABLE.fullmatch(name) or ".." in name or not 0 <= length <= _LARGEST:
            self.close_connection = True
            self._answer(403)
            return
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return
        target = self.folder / name
        target.parent.mkdir(exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=self.folder, prefix=".report-")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(body)
        Path(partial).replace(target)
        self._answer(204)

    def _send(self, content: bytes) -> None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        start = int(asked[1]) if asked else 0
        if start and start >= len(content):
            self._answer(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(memoryview(content)[start:])

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nodes report what matters themselves."""


class Server(http.server.ThreadingHTTPServer):
    """A thread a connection; the handshake is the thread's work, so that a slow node holds up no other."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path, address: str, port: int, certificate: Path, key: Path) -> None:
        handler = type("BoundHandler", (Handler,), {"folder": folder})
        super().__init__((address, port), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """A node that went away: it asks again."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--lab", "--folder", "--address", "--port", "--certificate", "--key"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    paths = [Path(text) for text in (options.folder, options.certificate, options.key)]
    with Server(paths[0], options.address, int(options.port), *paths[1:]) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
