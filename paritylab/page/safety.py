"""Who may ask, and how much: hosts, origins, tokens, and bounds on bytes and seconds of every request."""

import hmac
import io
import socket
import time
from email.message import Message
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

MOST_BODY = 2**16
"""Bytes of what is sent with a request."""
READ_SECONDS, WRITE_SECONDS = 10.0, 20.0
"""In which a request must be there as a whole, and an answer taken."""
MOST_CONNECTIONS = 512
MOST_SESSIONS = 4
"""Tabs that train at the same time; they share the cores."""
COOKIE = "paritylab-token"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer: nothing is loaded from elsewhere, nothing is shown inside of other pages."""


class Refused(Exception):
    """A request that is not answered: the status, and a sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Gate(NamedTuple):
    """Lets requests in that come from the page itself, or from its owner's browser."""

    host: str
    port: int
    token: str = ""
    """What must be known where the address is not loopback; empty where nothing must."""

    @property
    def names(self) -> set[str]:
        """The hosts by which this server may be called: another name that leads here is somebody's trick."""
        known = {"localhost", "127.0.0.1", "[::1]"} if is_loopback(self.host) else {bracketed(self.host)}
        return {f"{name}:{self.port}" for name in known} | ({*known} if self.port == 80 else set())

    def check(self, headers: "Message[str, str]", *, page: bool) -> None:
        """Refuses other hosts, other origins and whoever does not know the token.

        `page` is the front page, which a link elsewhere may open; what it asks for must come from itself.
        """
        host = (headers.get("Host") or "").lower()
        wildcard = self.host in ("0.0.0.0", "::")
        if host not in self.names and not (wildcard and _is_address(host, self.port)):
            raise Refused(421, f"This server is not called {host[:100]!r}. Open the address that it printed.")
        origin = headers.get("Origin")
        if origin is not None and (urlsplit(origin).scheme, urlsplit(origin).netloc.lower()) != ("http", host):
            raise Refused(403, f"A page of {origin[:100]!r} asks for this. Only the page of this server may.")
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not page:
            raise Refused(403, "A page of another site asks for this. Only the page of this server may.")
        if self.token and not self.knows(_cookie(headers)):
            raise Refused(401, "This server asks for a token. Open the address with the token that it printed.")

    def knows(self, token: str) -> bool:
        """Whether this is the token, in a time that tells nothing of it."""
        return hmac.compare_digest(token.encode(), self.token.encode())


def bracketed(host: str) -> str:
    """A host as it stands in an address.

    >>> bracketed("::1"), bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host


def _is_address(host: str, port: int) -> bool:
    """Whether a host is a number, which no name server can turn against us, with the right port."""
    name, _, at = host.rpartition(":")
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return at == str(port)


def _cookie(headers: "Message[str, str]") -> str:
    try:
        found = SimpleCookie(headers.get("Cookie") or "").get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


class Hurried(io.RawIOBase):
    """What comes in by a connection, all of it within some seconds, however it is cut into pieces."""

    def __init__(self, connection: socket.socket, seconds: float):
        self._connection, self._until = connection, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)
