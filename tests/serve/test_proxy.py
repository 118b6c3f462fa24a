"""A proxy in front, as the page of the docs sets it up: nginx itself hands on pages, streams and sockets."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from program import free_port
from served import WAIT_S, PretendTestbed, Served, made_room, serving
from test_serve_shell import opened, sessions, told

from wirelab.serve.shells import Shells

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDE = Path(__file__).parents[2] / "docs/pages/how-to/serve.md"
ROOT = "/lab"
LOCATION = re.compile(r"^    location .*?^    }$", re.MULTILINE | re.DOTALL)
OWN_ADDRESS = re.compile(r"""(?:href|src|action)="(/[^"]*)""")

CONFIGURATION = """\
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    types {{ text/html html; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
{location}
    }}
}}
"""


def location(port: int) -> str:
    """What the guide says that a proxy needs, for a server at ``port``."""
    [block] = LOCATION.findall(GUIDE.read_text(encoding="utf-8"))
    assert ROOT in block
    return textwrap.indent(block.replace("127.0.0.1:8080", f"127.0.0.1:{port}"), "    ")


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Served]:
    """A classroom with one shell, seen through nginx."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("nginx is not installed, and installing it would start a server at port 80")
    testbed, port = PretendTestbed(), free_port()
    room = made_room(tmp_path / "class", testbed, root=ROOT, shells=Shells(sessions, [0], 1))
    with serving(room, testbed) as direct:
        configuration = tmp_path / "nginx.conf"
        own = int(direct.url.rpartition(":")[2])
        text = CONFIGURATION.format(folder=tmp_path, port=port, location=location(own))
        configuration.write_text(text, encoding="utf-8")
        log = ["-e", str(tmp_path / "error.log")]
        with subprocess.Popen([nginx, "-p", str(tmp_path), *log, "-c", str(configuration)]) as process:
            try:
                until_it_listens(process, port)
                yield Served(room, testbed, f"http://127.0.0.1:{port}{ROOT}")
            finally:
                process.terminate()


def until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait for the proxy."""
    deadline_s = time.monotonic() + WAIT_S
    while process.poll() is None and time.monotonic() < deadline_s:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise AssertionError(process.poll())


def test_every_address_of_a_page_is_below_the_path(proxied: Served) -> None:
    """And leads somewhere: pages, what they are drawn with, and where a form sends one."""
    ada = proxied.student()
    seen = {"/exercises", "/bench"}
    for page in sorted(seen):
        answer = ada.get(page)
        assert answer.status == 200, answer.text
        addresses = set(OWN_ADDRESS.findall(answer.text))
        assert addresses
        assert all(address.startswith(f"{ROOT}/") for address in addresses), addresses
        seen |= {address.removeprefix(ROOT) for address in addresses}
    for address in sorted(seen):
        # What only takes a form says so; nothing is lost on the way.
        assert ada.get(address).status in {200, 405}, address


def test_how_far_a_run_is_comes_while_it_runs(proxied: Served) -> None:
    """The proxy does not collect the stream until it ends."""
    proxied.testbed.go.clear()
    ada = proxied.student()
    page = ada.post("/bench/sfp-mismatch")
    assert page.status == 200, page.text
    assert f"{ROOT}/runs/" in page.url
    stream = page.url[page.url.index(ROOT) :].replace("/runs/", "/runs/events?run=")
    request = f"GET {stream} HTTP/1.1\r\nHost: class\r\n"
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in ada.jar)
    port = int(proxied.url.rpartition(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), WAIT_S) as line:
        line.sendall(f"{request}Cookie: {cookies}\r\n\r\n".encode())
        heard = b""
        while b"data: " not in heard:
            more = line.recv(4096)
            assert more, heard
            heard += more
    assert b"text/event-stream" in heard
    proxied.testbed.go.set()
    proxied.wait_for_runs()


def test_a_prompt_works_through_it(proxied: Served) -> None:
    """A WebSocket with the page's own origin."""
    line = opened(proxied, proxied.student())
    assert told(line) == [{"prompt": "0 ms"}]
    line.send('{"line": "help"}')
    assert told(line) == [{"text": "columns 99, help\n"}, {"prompt": "0 ms"}]
    line.close()
