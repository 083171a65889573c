"""A page that lives, in a real browser: what it says, what is wrong, what it looks like."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from support.browser import BROWSERS

PATIENCE = 60.0
"""Seconds after which something that has not happened will not happen, on the slowest machine."""


class Browser:
    """Chromium with one page, spoken to by the DevTools protocol."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 800) -> None:
        program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
        if program is None:
            pytest.skip("no Chromium on this machine")
        client = pytest.importorskip("websockets.sync.client")
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage",
            "--disable-background-networking", "--no-first-run", f"--user-data-dir={profile}",
            "--remote-debugging-port=0", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen([program, *options], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.errors: list[str] = []
        self._count = 0
        port = profile / "DevToolsActivePort"
        deadline = time.monotonic() + PATIENCE
        while not (port.exists() and port.read_text().count("\n")):
            assert time.monotonic() < deadline, "the browser does not start"
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json") as pages:
            (page,) = [one for one in json.load(pages) if one["type"] == "page"]
        self._socket = client.connect(page["webSocketDebuggerUrl"], max_size=None)
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def call(self, method: str, **parameters: Any) -> Any:
        """Do something, and note what goes wrong in the page meanwhile."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            entry = message.get("params", {}).get("entry", {})
            if message.get("method") == "Runtime.exceptionThrown" or entry.get("level") == "error":
                self.errors.append(json.dumps(message["params"]))
            if message.get("id") == self._count:
                return message["result"]

    def open(self, address: str) -> None:
        """Open a page."""
        self.call("Page.navigate", url=address)

    def ask(self, expression: str) -> Any:
        """Value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Value of an expression, once it has one that counts."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.ask(expression)):
            assert time.monotonic() < deadline, f"waited in vain: {expression}"
            time.sleep(0.1)
        return value

    def click(self, label: str) -> None:
        """Click what has a label, a button or a tab, once it is in reach and no longer moves."""
        place = (
            "(() => {const found = [...document.querySelectorAll('button, [role=tab]')]"
            f".find(one => one.innerText.trim() === {label!r}); const box = found?.getBoundingClientRect();"
            "const point = box && [box.x + box.width / 2, box.y + box.height / 2];"
            "return point && found.contains(document.elementFromPoint(...point)) && point})()"
        )
        before, now = None, self.wait(place)
        while before != now:
            time.sleep(0.5)
            before, now = now, self.wait(place)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=now[0], y=now[1], button="left", clickCount=1)

    def photograph(self, path: Path) -> None:
        """Write what the page looks like."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
