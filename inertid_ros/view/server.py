"""The web server of the page: for this machine alone, without a tunnel to anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from io import StringIO
from typing import Any

from inertid_ros.core.errors import InertidError

HOST = "127.0.0.1"
"""Nobody else can reach it; from elsewhere: ssh -L 8080:localhost:8080 ROBOT."""
PORT = 8080

_OWN_PAGES = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
"""Where a page may come from that talks to the server: any other one that is open in the same browser may not."""


class ViewError(InertidError):
    """The page cannot be served."""


def locate(port: int) -> str:
    """The address of the page."""
    return f"http://{HOST}:{port}"


@contextmanager
def serve(port: int, title: str) -> Iterator[Any]:
    """Serve a page by viser until the block ends; gives viser's server.

    Raises:
        ViewError: if viser is not installed, or the port is not free.
    """
    try:
        import viser
        import websockets.asyncio.server as websockets
    except ImportError as error:
        raise ViewError(f"viser is not installed ({error}): pip install 'inertid_ros[view]' or viser") from None

    class LocalServer(viser.ViserServer):  # type: ignore[misc]  # not looked into
        """Never shared: viser would ask a public server for a tunnel whenever a client says so."""

        def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002 - of the base class
            """Refuse."""
            return None

    if not 1 <= port <= 65535:
        raise ViewError(f"port {port} does not exist: choose one from 1024 to 65535 with --port")
    accept = websockets.serve
    websockets.serve = partial(accept, origins=[_OWN_PAGES, None])  # viser itself accepts every page's connection
    try:
        with redirect_stdout(StringIO()):  # the address is told by whoever serves
            server = LocalServer(HOST, port, title, verbose=False)
    finally:
        websockets.serve = accept
    try:
        if server.get_port() != port:  # viser takes the next one
            raise ViewError(f"port {port} cannot be used, another view may be open there: choose another with --port")
        server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        yield server
    finally:
        with redirect_stdout(StringIO()):
            server.stop()
