"""A server in a thread, and how tests ask it."""

import http.client
import json
import threading
from contextlib import contextmanager
from typing import NamedTuple

from paritylab.page.server import Server


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def sentence(self):
        return self.json["sentence"]


@contextmanager
def served(*folders, token=""):
    server = Server("127.0.0.1", 0, folders, token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.end_all()
        server.shutdown()
        server.server_close()
        thread.join()


def ask(server, path, sent=None, *, method=None, timeout=60, body=None, **headers):
    """An answer; header names with _ for -."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=timeout)
    if sent is not None:
        body, headers = json.dumps(sent).encode(), {"Content-Type": "application/json", **headers}
    connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
    answer = connection.getresponse()
    found = Answer(answer.status, dict(answer.getheaders()), answer.read())
    connection.close()
    return found


class Stream:
    """The documents of a session, one after the other."""

    def __init__(self, server, session, timeout=120):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=timeout)
        self.connection.request("GET", f"/api/watch/{session}/events")
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def __iter__(self):
        for line in self.answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def close(self):
        self.answer.close()
        self.connection.close()
