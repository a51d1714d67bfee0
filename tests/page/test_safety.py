"""Who is let in, and that nobody who misbehaves keeps others out."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from serving import Stream, ask, served
from typer.testing import CliRunner

from paritylab.cli import app
from paritylab.page import safety, server as serving_module, session as sessions
from paritylab.page.folders import Folders
from paritylab.page.safety import MOST_BODY, is_loopback
from paritylab.sweep.store import Store

TINY = {"n": "6", "support": "0,1", "width": "4", "batch": "8", "seeds": "2", "steps": "40", "validation": "64"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    Store.create(folder / "inside" / "mine")
    Store.create(folder.parent / "outside")
    (folder / "inside" / "link").symlink_to(folder.parent / "outside")
    with served(folder) as made:
        yield made


def test_every_answer_forbids_what_comes_from_elsewhere(server):
    for path in ("/", "/static/page.js", "/api/choices", "/api/stores", "/nothing"):
        answer = ask(server, path)
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        assert (
            answer.headers["X-Content-Type-Options"] == "nosniff"
            and "Access-Control-Allow-Origin" not in answer.headers
        )
    assert b"http" not in ask(server, "/").body.replace(b"<!doctype html>", b"")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "localhost.evil.example:{port}", ""]
)
def test_dns_rebinding_is_refused(server, host):
    for path in ("/", "/api/stores"):
        answer = ask(server, path, Host=host.format(port=server.server_address[1]))
        assert (answer.status, "Open the address that it printed" in answer.sentence) == (421, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Origin": "http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_other_origins_are_refused(server, headers, status):
    headers = {name: value.format(port=server.server_address[1]) for name, value in headers.items()}
    assert ask(server, "/api/check", TINY, **headers).status == status
    assert ask(server, "/api/stores", **headers).status == status


def test_what_a_form_of_another_site_can_send_is_refused(server):
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""):
        assert ask(server, "/api/watch", body=json.dumps(TINY).encode(), Content_Type=kind).status == 415


TRAVERSALS = [
    "../outside",
    "inside/../../outside",
    "/etc",
    "inside/link",
    "inside/mine/..",
    "inside\\mine",
    "..%2foutside",
    "",
    3,
    None,
    [],
]


@pytest.mark.parametrize("name", TRAVERSALS, ids=repr)
def test_names_of_stores_lead_nowhere_else(server, name):
    answer = ask(server, "/api/results", {"store": name})
    assert answer.status == 422 and answer.sentence.startswith("There is no store ")
    assert ask(server, "/api/stores").json == {"stores": ["inside/mine"]}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/../../etc/passwd",
        "/static/",
        "/report/../../x",
        "/report//etc/passwd",
        "//x",
        "/api",
    ],
)
def test_paths_lead_nowhere_else(server, path):
    assert ask(server, path).status == 404


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b"\xff", {}, 400),
        (b" " * (MOST_BODY + 1), {}, 413),
        (b"{}", {"Content_Length": "99999999999"}, 413),
        (b"{}", {"Content_Length": "-1"}, 413),
        (b"{}", {"Content_Length": "x"}, 413),
    ],
)
def test_absurd_bodies_are_refused(server, body, headers, status):
    answer = ask(server, "/api/check", body=body, Content_Type="application/json", **headers)
    assert answer.status == status and answer.sentence


@pytest.mark.parametrize(
    ("changed", "field", "words"),
    [
        ({"n": "10000000000000"}, "n", "The page trains up to n=1,000"),
        ({"seeds": "1000000000"}, "seeds", "The page trains up to seeds=1,000"),
        ({"seeds": "600", "rate": "1,0.1"}, "seeds", "up to 1,000 runs at once, got 1,200"),
        ({"rate": ",".join(map(str, range(1, 9)))}, "rate", "at most 6 rates"),
        ({"width": "100000000"}, "width", "widths up to 4,096"),
        ({"batch": "9" * 150}, "batch", "The page trains up to batch=4,096"),
        ({"steps": "1" * 5000}, "steps", "at most 200 characters"),
        ({"support": "0," * 500}, "support", "at most 200 characters"),
        ({"float64": "1"}, "", "There is no setting 'float64'"),
        ({"seeds": {"a": 1}}, "", "A form is a JSON object of texts and numbers."),
    ],
)
def test_absurd_sizes_are_refused(server, changed, field, words):
    wrong = ask(server, "/api/watch", {**TINY, **changed}).json["wrong"]
    assert wrong["field"] == field and words in wrong["sentence"]
    assert not server._sessions


def test_what_would_take_too_much_memory_is_refused(server, monkeypatch):
    monkeypatch.setattr("paritylab.page.settings.MOST_MEMORY", 2**20)
    wrong = ask(server, "/api/watch", TINY).json["wrong"]
    assert "this process may use 0.0 GiB" in wrong["sentence"] and not server._sessions


def test_a_token_is_asked_for():
    with served(token="open-sesame") as server:
        assert ask(server, "/").status == ask(server, "/api/choices").status == 401
        assert ask(server, "/?token=open").status == 401
        answer = ask(server, "/?token=open-sesame")
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie, *flags = answer.headers["Set-Cookie"].split("; ")
        assert {"HttpOnly", "SameSite=Strict"} <= {*flags}
        assert ask(server, "/api/choices", Cookie=cookie).status == 200
        assert ask(server, "/api/choices", Cookie=cookie[:-1]).status == 401
        assert ask(server, "/api/choices", Cookie="\"';;;=").status == 401
        assert ask(server, "/?token=open-sesame", Host="evil.example").status == 421


def test_another_address_needs_a_flag(tmp_path):
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):
        said = CliRunner().invoke(app, ["serve", str(tmp_path), "--host", host])
        assert said.exit_code == 2 and "Say so with --expose" in said.stderr and said.stderr.count("\n") == 1
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost", "10.0.0.1")] == [True] * 4 + [
        False
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "--port is a whole number from 0 to 65535"),
        (["nowhere"], "There is no folder nowhere."),
        (["--host", "192.0.2.1", "--expose"], "cannot be listened on"),
    ],
)
def test_wrong_words_on_the_command_line(words, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["serve", *words])
    assert found.exit_code == 2 and said in found.stderr and found.stderr.count("\n") == 1


def test_two_hundred_connections_do_not_hang_it(server):
    """Half of them send nothing, half of them send a request that never ends."""
    port = server.server_address[1]
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    try:
        for each in idle[::2]:
            each.sendall(b"GET / HTTP/1.1\r\nHost: ")
        begun = time.monotonic()
        for _ in range(5):
            assert ask(server, "/api/choices", timeout=5).status == 200
        assert time.monotonic() - begun < 5
    finally:
        for each in idle:
            each.close()


def test_a_request_that_takes_its_time_is_cut_off(server, monkeypatch):
    monkeypatch.setattr(serving_module, "READ_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as slow:
        begun = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() < begun + 8:
                slow.sendall(b"G")
                time.sleep(0.05)
        assert time.monotonic() - begun < 4


def test_more_connections_than_there_is_room_for_are_sent_away(monkeypatch):
    monkeypatch.setattr(serving_module, "MOST_CONNECTIONS", 3)
    with served() as server:
        idle = [socket.create_connection(("127.0.0.1", server.server_address[1])) for _ in range(3)]
        time.sleep(0.3)
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=5) as fourth:
            assert fourth.recv(1) == b""
        for each in idle:
            each.close()
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                assert ask(server, "/api/choices").status == 200
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("no room was made again")


ENDLESS = {**TINY, "rate": "0.000001", "steps": "10000000"}


def gone(server, seconds=20) -> bool:
    """Whether nothing trains any more, within some seconds."""
    deadline = time.monotonic() + seconds
    while server._sessions and time.monotonic() < deadline:
        time.sleep(0.05)
    return not server._sessions


def test_closing_the_tab_ends_the_run():
    with served() as server:
        about = ask(server, "/api/watch", ENDLESS).json
        session = server.session(about["session"])
        stream = Stream(server, about["session"])
        next(iter(stream))
        assert ask(server, f"/api/watch/{about['session']}/events").status == 409
        stream.close()
        assert gone(server) and session.stopped.is_set()
        assert session._done.result(30).interrupted
        assert ask(server, f"/api/watch/{about['session']}/pause", {}).status == 404


def test_a_client_that_never_reads_is_given_up(monkeypatch):
    monkeypatch.setattr(serving_module, "WRITE_SECONDS", 0.5)
    monkeypatch.setattr(serving_module, "TELL_SECONDS", 0.0)
    monkeypatch.setattr(serving_module, "ALIVE_SECONDS", 0.0)
    with served() as server:
        server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # what it accepts has it, too
        name = ask(server, "/api/watch", ENDLESS).json["session"]
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.server_address[1]))
            port = server.server_address[1]
            deaf.sendall(f"GET /api/watch/{name}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            assert ask(server, "/api/choices", timeout=5).status == 200
            assert gone(server, 60)


def test_a_run_that_nobody_looks_at_is_ended(monkeypatch):
    monkeypatch.setattr(sessions, "UNWATCHED_SECONDS", 0.2)
    with served() as server:
        ask(server, "/api/watch", ENDLESS)
        assert gone(server)


def test_a_run_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SECONDS", 0.0)
    with served() as server:
        *_, last = Stream(server, ask(server, "/api/watch", ENDLESS).json["session"])
        assert last["phase"] == "stopped" and "Use `paritylab train` for more." in last["sentence"]


def test_no_more_than_some_tabs_train(monkeypatch):
    monkeypatch.setattr(serving_module, "MOST_SESSIONS", 1)
    with served() as server:
        name = ask(server, "/api/watch", ENDLESS).json["session"]
        assert (ask(server, "/api/watch", TINY).status, ask(server, "/api/watch/guessed/stop", {}).status) == (429, 404)
        assert ask(server, f"/api/watch/{name}/look", {"run": 5}).status == 422
        assert ask(server, f"/api/watch/{name}/look", {"run": "x"}).status == 422
        stream = Stream(server, name)
        assert ask(server, f"/api/watch/{name}/stop", {}).status == 200
        *_, last = stream
        assert last["phase"] == "stopped"


def test_folders_find_what_is_in_them_and_no_more(tmp_path):
    Store.create(tmp_path / "a" / "b" / "c" / "deep")
    Store.create(tmp_path / "a" / ".hidden")
    Store.create(tmp_path / "a" / "store")
    assert Folders([tmp_path / "a"]).stores() == {
        "b/c/deep": tmp_path / "a" / "b" / "c" / "deep",
        "store": tmp_path / "a" / "store",
    }
    assert {*Folders([tmp_path / "a" / "store"]).stores()} == {"store"}
    assert Folders([Path("/proc/nothing")]).stores() == {}
    assert safety.bracketed("::1") == "[::1]"


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.acceptance)])
def test_the_command_serves_until_it_is_ended(tmp_path, number, interruptible):
    """It ends at once, and what trains with it."""
    command = [sys.executable, "-m", "paritylab", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = urlsplit(process.stdout.readline().strip())
        with urlopen(f"http://{address.netloc}/api/stores", timeout=30) as answer:
            assert json.load(answer) == {"stores": []}
        sent = Request(
            f"http://{address.netloc}/api/watch", json.dumps(ENDLESS).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(sent, timeout=60) as answer:
            assert "session" in json.load(answer)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    assert "Traceback" not in said and "paritylab: ended; what was training was stopped" in said
    assert process.returncode == 0
