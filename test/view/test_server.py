"""The page is served to this machine alone."""

from __future__ import annotations

import socket
import sys

import pytest

from inertid_ros.cli.main import main
from inertid_ros.view.server import HOST, ViewError, serve


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def test_without_viser_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", "my_bag"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "pip install 'inertid_ros[view]'" in said[0]


def test_a_port_that_is_in_use_is_named(port: int) -> None:
    pytest.importorskip("viser")
    with socket.socket() as other:
        other.bind((HOST, port))
        other.listen()
        with pytest.raises(ViewError, match=f"port {port} .*--port"), serve(port, "test"):
            pass
    with pytest.raises(ViewError, match="does not exist"), serve(70_000, "test"):
        pass


def test_nobody_else_can_connect_and_nothing_is_shared(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    viser = pytest.importorskip("viser")
    connect = pytest.importorskip("websockets.sync.client").connect
    refusal = pytest.importorskip("websockets.exceptions").InvalidStatus
    protocols = [f"viser-v{viser.__version__}"]
    with serve(port, "test") as server:
        listening = [
            line.split()[1]
            for line in open("/proc/net/tcp", encoding="ascii").read().splitlines()[1:]  # noqa: PTH123, SIM115
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
        ]
        assert listening == [f"0100007F:{port:04X}"]
        assert server.request_share_url() is None
        address = f"ws://{HOST}:{port}"
        for origin in (None, f"http://localhost:{port}", "http://127.0.0.1:9000"):
            connect(address, subprotocols=protocols, origin=origin).close()
        for origin in ("http://example.org", "http://localhost.example.org", "null"):
            with pytest.raises(refusal):
                connect(address, subprotocols=protocols, origin=origin)
    assert capsys.readouterr().out == ""
