"""A headless Chromium that loads a page, tells what it complained of, and takes pictures."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
#: Chromium reads its orders from descriptor 3 and answers on 4.
SHIM = """
import fcntl, os, sys
there, back = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(there, 3)
os.dup2(back, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
PHONE, DESKTOP = (390, 844), (1280, 900)


class Browser:
    """One page of a running Chromium, spoken to through its debugging pipe."""

    def __init__(self, to: int, source: int) -> None:
        self.to, self.source = to, source
        self.buffer = b""
        self.number = 0
        self.session = ""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == self.number:
                assert "error" not in heard, heard
                return heard["result"]
            self.events.append(heard)

    def open(self, page: Path, size: tuple[int, int], scheme: str = "light") -> None:
        """Load a page at a width, in a light or dark scheme; earlier complaints are forgotten."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=size[0] < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while not any(each.get("method") == "Page.loadEventFired" for each in self.events):
            self.events.append(self._hear())

    def complaints(self) -> list[str]:
        """What went to the console, was thrown or was logged since the page was opened."""
        bad = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(each["params"]) for each in self.events if each.get("method") in bad]

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened."""
        asked = [each for each in self.events if each.get("method") == "Network.requestWillBeSent"]
        return [each["params"]["request"]["url"] for each in asked]

    def value(self, expression: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def picture(self, whole: bool = False) -> bytes:
        """A PNG of what is seen, or of the whole page."""
        taken = self.ask(
            "Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole)
        )
        return base64.b64decode(taken["data"])

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "scale": 1, **{k: size[k] for k in ("width", "height")}}}

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            piece = os.read(self.source, 2**16)
            assert piece, "the browser has gone"
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Start Chromium with a fresh profile; the end of the block is its end."""
    assert CHROMIUM is not None
    there, to = os.pipe()
    source, back = os.pipe()
    command = [sys.executable, "-c", SHIM, str(there), str(back), CHROMIUM, *OPTIONS]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={profile}"],
        pass_fds=(there, back),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(there)
    os.close(back)
    try:
        yield Browser(to, source)
    finally:
        os.close(to)
        process.terminate()
        process.wait(timeout=20)
        os.close(source)
