"""A page that is served: to this machine, at one address, until Ctrl-C."""

from __future__ import annotations

import _thread
import http.client
import signal
import threading
import urllib.request

import pytest

import armsim
from armsim.errors import UsageError
from armsim.viewing.server import PageServer

PAGE = "<!DOCTYPE html><title>ä</title>".encode()


@pytest.fixture
def server():
    with PageServer(PAGE, 0) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def heeding_ctrl_c():
    """Whatever the shell that started the tests does with Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def answer(server, method="GET", path="/", host=None):
    connection = http.client.HTTPConnection(*server.server_address, timeout=20)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    found = connection.getresponse()
    body = found.read()
    connection.close()
    return found, body


def test_the_page_is_at_its_address_as_html_in_utf_8(server):
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"
    found, body = answer(server)
    assert (found.status, body) == (200, PAGE)
    assert found.headers["Content-Type"] == "text/html; charset=utf-8"
    assert int(found.headers["Content-Length"]) == len(PAGE)
    assert found.headers["Cache-Control"] == "no-store"
    assert found.headers["Server"].strip() == "armsim"
    found, body = answer(server, "HEAD")
    assert (found.status, body, int(found.headers["Content-Length"])) == (200, b"", len(PAGE))


@pytest.mark.parametrize("path", ["/README.md", "/../../etc/passwd", "/index.html"])
def test_nothing_else_is_served(server, path):
    found, body = answer(server, path=path)
    assert found.status == 404
    assert PAGE not in body


def test_another_sites_name_that_points_here_gets_nothing(server):
    found, body = answer(server, host="example.org")
    assert found.status == 421
    assert PAGE not in body
    assert answer(server, host=f"localhost:{server.server_address[1]}")[0].status == 200


def test_a_port_that_is_in_use_or_none_is_refused(server):
    with pytest.raises(UsageError, match="found:    one that is in use"):
        PageServer(PAGE, server.server_address[1])
    with pytest.raises(UsageError, match="found:    70000"):
        PageServer(PAGE, 70000)


def test_a_view_is_served_until_ctrl_c_and_writes_no_file(tmp_path, monkeypatch, heeding_ctrl_c):
    monkeypatch.chdir(tmp_path)
    found = []

    def fetched(address):
        with urllib.request.urlopen(address, timeout=20) as page:
            found.append(page.read())
        _thread.interrupt_main()

    armsim.view("rr", port=0, ready=lambda address: threading.Thread(target=fetched, args=[address]).start())
    assert found[0].startswith(b"<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == []
