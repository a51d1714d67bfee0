"""The server behind the page: the standard library's, one thread a connection, each with its bounds."""

import contextlib
import json
import socket
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..demands import echo
from ..experiments.accounts import accounts_in, check_inside
from ..experiments.status import columns, status
from ..registry import TRAIN_DEFAULTS
from ..report.page import html
from ..report.sentences import summary
from .folders import Folders
from .presets import PRESETS
from .results import Stores, aggregates
from .safety import (
    COOKIE,
    HEADERS,
    MOST_BODY,
    MOST_CONNECTIONS,
    MOST_SESSIONS,
    READ_SECONDS,
    WRITE_SECONDS,
    Gate,
    Hurried,
    Refused,
)
from .session import Session
from .settings import CHOICES, ELSEWHERE, WrongField, asked
from .snippets import command, python
from .watchable import USUAL

STATIC = Path(__file__).parent / "static"
SCRIPTS = ("page.js", "ask.js", "watch.js", "results.js", "claims.js", "board.js", "charts.js", "elements.js")
FILES = {
    "index.html": "text/html",
    "page.css": "text/css",
    **dict.fromkeys(SCRIPTS, "text/javascript"),
}
FILE_KINDS = {".pdf": "application/pdf", ".csv": "text/csv"}
TELL_SECONDS, ALIVE_SECONDS = 0.4, 2.0
"""Between two documents of a session that goes on, and of one that stands still."""
AT_ONCE = 2
"""Requests that compute something at the same time; others wait."""


class Server(ThreadingHTTPServer):
    """Serves the page, and what it asks for."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, host: str, port: int, folders: Iterable[Path], token: str = ""):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self.computing = threading.BoundedSemaphore(AT_ONCE)
        self.folders, self.stores = Folders(folders), Stores()
        self._sessions: dict[str, Session] = {}
        self._rested: OrderedDict[str, Session] = OrderedDict()
        """Sessions that came to their end, whose runs may be looked at still: the last ones."""
        self._streamed: set[str] = set()
        self._lock = threading.Lock()
        super().__init__((host, port), Handler)
        self.gate = Gate(host, self.server_address[1], token)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):  # whoever comes now is sent away at once
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no further thread
            self._room.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error."""
        if not isinstance(sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def service_actions(self) -> None:
        """Twice a second: sessions that nobody reads are ended."""
        for session in [each for each in self._sessions.values() if each.forsaken]:
            self.end(session)

    def begin(self, form: Any) -> Session:
        """A session of these settings, which trains from now on."""
        made = asked(form)
        with self._lock:
            if len(self._sessions) >= MOST_SESSIONS:
                raise Refused(429, f"{MOST_SESSIONS} tabs train already. Close or stop one of them.")
            session = Session(made.plan, made.settings)
            self._sessions[session.name] = session
        session.start()
        return session

    def session(self, name: str) -> Session:
        """A session by its name, which only its tab knows."""
        found = self._sessions.get(name) or self._rested.get(name)
        if found is None:
            raise Refused(404, "This training has ended. Start it again.")
        return found

    def read_by(self, session: Session) -> None:
        """One reader is all that a session has."""
        with self._lock:
            if session.name in self._streamed:
                raise Refused(409, "This training is shown in another tab. Start one of your own.")
            self._streamed.add(session.name)

    def end(self, session: Session) -> None:
        """Stops and forgets a session."""
        with self._lock:
            self._sessions.pop(session.name, None)
            self._streamed.discard(session.name)
        session.stop()

    def rest(self, session: Session) -> None:
        """Keeps a session that came to its end for a while."""
        with self._lock:
            self._rested[session.name] = session
            while len(self._rested) > MOST_SESSIONS:
                self._rested.popitem(last=False)

    def end_all(self) -> None:
        """Stops what trains."""
        for session in [*self._sessions.values()]:
            self.end(session)


class Handler(BaseHTTPRequestHandler):
    """One request, and its answer."""

    server: Server
    server_version, sys_version = "paritylab", ""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = BufferedReader(Hurried(self.connection, READ_SECONDS))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a page asks several times a second."""

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, act: Callable[[str], None]) -> None:
        path = unquote(urlsplit(self.path).path)
        try:
            if not self._admitted(path):
                self.server.gate.check(self.headers, page=path == "/" and self.command == "GET")
                self.connection.settimeout(WRITE_SECONDS)
                act(path)
        except Refused as refused:
            self._send_json({"sentence": str(refused)}, refused.status)
        except WrongField as wrong:
            # A question that was answered: browsers would note another status as an error of the page.
            self._send_json({"wrong": {"field": wrong.field, "sentence": str(wrong)}})
        except ValueError as error:
            self._send_json({"sentence": str(error)}, 422)

    def _admitted(self, path: str) -> bool:
        """Whether the token came with the address: it is put into a cookie, and the address forgets it."""
        given = parse_qs(urlsplit(self.path).query).get("token", [""])[0]
        gate = self.server.gate
        if not (path == "/" and gate.token and gate.knows(given)):
            return False
        gate._replace(token="").check(self.headers, page=True)
        self.send_response(303)
        self.send_header("Set-Cookie", f"{COOKIE}={gate.token}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Location", "/")
        self.end_headers()
        return True

    def _get(self, path: str) -> None:
        match path.strip("/").split("/"):
            case [""]:
                self._send_file("index.html")
            case ["static", name] if name in FILES:
                self._send_file(name)
            case ["api", "choices"]:
                presets = {name: preset._asdict() for name, preset in PRESETS.items()}
                defaults = {name: value for name, value in TRAIN_DEFAULTS.items() if name not in ELSEWHERE}
                known = {"defaults": defaults, "choices": CHOICES, "presets": presets, "curves": [*USUAL]}
                self._send_json(known)
            case ["api", "watch", name, "events"]:
                self._stream(self.server.session(name))
            case ["api", "stores"]:
                self._send_json({"stores": [*self.server.folders.stores()]})
            case ["api", "claims"]:
                self._send_json(self._claims())
            case ["report", *parts]:
                self._send_report("/".join(parts))
            case _:
                raise Refused(404, f"There is nothing at {echo(path)}.")

    def _send_report(self, name: str) -> None:
        """A report, or one of the files that its accounts name: figures as PDF, and data."""
        if (folder := self.server.folders.reports().get(name)) is not None:
            with self.server.computing:
                text = html(accounts_in(folder)[0], folder)
            self._send(text.encode(), "text/html", framed=True)
            return
        for known, folder in self.server.folders.reports().items():
            if name.startswith(f"{known}/") and (file := named_file(folder, name.removeprefix(f"{known}/"))):
                self._send(file.read_bytes(), FILE_KINDS.get(file.suffix, "application/octet-stream"))
                return
        raise Refused(404, f"There is no report, and no file of one, called {echo(name)}.")

    def _post(self, path: str) -> None:
        sent = self._body()
        match path.strip("/").split("/"):
            case ["api", "check"]:
                with self.server.computing:
                    made = asked(sent)
                self._send_json(_snippets(made.settings))
            case ["api", "watch"]:
                with self.server.computing:
                    session = self.server.begin(sent)
                self._send_json({**session.about(), **_snippets(session.settings)})
            case ["api", "watch", name, "pause"]:
                self.server.session(name).going.clear()
                self._send_json({})
            case ["api", "watch", name, "resume"]:
                self.server.session(name).going.set()
                self._send_json({})
            case ["api", "watch", name, "stop"]:
                self.server.session(name).stopped.set()
                self._send_json({})
            case ["api", "watch", name, "look"]:
                session = self.server.session(name)
                session.look_at(sent.get("run", 0), sent.get("neuron", 0))
                with self.server.computing:
                    self._send_json({"news": session.document(0)[0]} if session.over else {})
            case ["api", "results"]:
                folder = self.server.folders.store(sent.get("store"))
                with self.server.computing:
                    self._send_json(aggregates(self.server.stores.look(folder), sent))
            case _:
                raise Refused(404, f"There is nothing at {echo(path)}.")

    def _body(self) -> dict[str, Any]:
        """What was sent: a JSON object of a bounded size, of a type that no form of another site can send."""
        if self.headers.get("Content-Type", "").split(";")[0].strip() != "application/json":
            raise Refused(415, "What is sent here is JSON, with that as its Content-Type.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BODY:
            raise Refused(413, f"A request has a Content-Length of at most {MOST_BODY} bytes, got {echo(length)}.")
        try:
            sent = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "What was sent is no JSON.") from None
        if not isinstance(sent, dict):
            raise Refused(400, "What is sent here is a JSON object.")
        return sent

    def _claims(self) -> dict[str, Any]:
        """The reports that are served, and what is recorded of every experiment."""
        reports = []
        for name, folder in self.server.folders.reports().items():
            claims = [claim for about in accounts_in(folder)[0] for claim in about["claims"]]
            reports.append({"name": name, "summary": summary(claims)})
        return {"reports": reports, "recorded": [columns(each) for each in status()]}

    def _stream(self, session: Session) -> None:
        """Documents of a session as server-sent events, to its end or until the tab is closed, which ends it."""
        self.server.read_by(session)
        try:
            self.send_response(200)
            self._headers("text/event-stream", None)
            since, told, before = 0, 0.0, None
            while True:
                document, since = session.document(since)
                still = {**document, "seconds": 0}
                if still != before or time.monotonic() > told + ALIVE_SECONDS:
                    self.wfile.write(f"data: {json.dumps(document, allow_nan=False)}\n\n".encode())
                    told, before = time.monotonic(), still
                if document["phase"] in ("ended", "stopped", "failed"):
                    self.server.rest(session)
                    return
                time.sleep(TELL_SECONDS)
        except OSError:  # the tab was closed, or takes nothing in
            pass
        finally:
            self.server.end(session)

    def _send_json(self, content: Any, status: int = 200) -> None:
        self._send(json.dumps(content, allow_nan=False).encode(), "application/json", status)

    def _send_file(self, name: str) -> None:
        self._send((STATIC / name).read_bytes(), FILES[name])

    def _send(self, content: bytes, kind: str, status: int = 200, *, framed: bool = False) -> None:
        with contextlib.suppress(OSError):  # whoever asked has gone away
            self.connection.settimeout(WRITE_SECONDS)
            self.send_response(status)
            self._headers(f"{kind}; charset=utf-8", len(content), framed=framed)
            self.wfile.write(content)

    def _headers(self, kind: str, length: int | None, *, framed: bool = False) -> None:
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in HEADERS.items():
            # A report carries its script inside, and is shown in a frame of the page.
            own = framed and name == "Content-Security-Policy"
            self.send_header(
                name, value.replace(" base-uri", " script-src 'unsafe-inline'; base-uri") if own else value
            )
        self.end_headers()


def named_file(folder: Path, name: str) -> Path | None:
    """A figure as PDF, or data, of the accounts in a folder, if it is there and in the folder; nothing else is."""
    for about in accounts_in(folder)[0]:
        place = folder / about["scale"] / about["experiment"]
        for file in (*about["data"], *(str(Path(figure).with_suffix(".pdf")) for figure in about["figures"])):
            if name == f"{about['scale']}/{about['experiment']}/{file}" and (place / file).is_file():
                check_inside(place / file, folder)
                return place / file
    return None


def _snippets(settings: dict[str, Any]) -> dict[str, str]:
    return {"python": python(settings), "command": command(settings)}
