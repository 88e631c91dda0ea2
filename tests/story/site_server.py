"""A company's own server, as far as its cluster sees it: package mirror and HTTP proxy on one port."""

from __future__ import annotations

import shutil
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from clusterwright.providers.lab.apt import sources_for

# The same at every run: the address stands in what is installed, and so decides which image is a cluster's.
# No port that the kernel gives to connections: one of them could have it.
PORT = 28128
_ASKED = ("If-Modified-Since", "If-Range", "Range", "User-Agent")
_TOLD = ("Content-Length", "Content-Range", "Content-Type", "Last-Modified")


@dataclass
class SiteServer:
    """`direct` are paths that were asked of the mirror, `proxied` URLs that were asked of the proxy."""

    address: str
    direct: list[str] = field(default_factory=list)
    proxied: list[str] = field(default_factory=list)


@contextmanager
def site_server() -> Iterator[SiteServer]:
    made = SiteServer(_own_address())
    upstream = next(source.uri for source in sources_for("trixie") if source.suite == "trixie")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path.startswith("http://"):
                made.proxied.append(self.path)
                self.forward(self.path)
            else:
                made.direct.append(self.path)
                self.forward(upstream + self.path.removeprefix("/debian"))

        def forward(self, url: str) -> None:
            headers = {name: self.headers[name] for name in _ASKED if self.headers[name]}
            try:
                answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30)
            except urllib.error.HTTPError as error:
                answer = error
            except OSError:
                self.send_error(502)
                return
            with answer:
                self.send_response(answer.status)
                for name in _TOLD:
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
                self.end_headers()
                shutil.copyfileobj(answer, self.wfile)

        def log_message(self, format: str, *arguments: object) -> None:
            """pytest's output is no place for it."""

    server = ThreadingHTTPServer((made.address, PORT), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _own_address() -> str:
    """The one that this machine shows to others, nodes of a lab among them; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
