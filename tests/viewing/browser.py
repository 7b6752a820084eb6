"""A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol), without further packages."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60.0  # seconds for an answer
LAUNCH = """
import os, sys
a, b = [os.dup(int(end)) for end in sys.argv[1:3]]
for end, place in ((a, 3), (b, 4)):  # where the browser expects its pipe
    os.dup2(end, place)
    os.set_inheritable(place, True)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found() -> str | None:
    """The browser's program; None where there is none, or no pipe to it."""
    if sys.platform == "win32":
        return None
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A window of Chromium.

    Attributes:
        errors: What its console has had of errors, and exceptions that nobody caught.
        requests: Addresses that were asked for.
    """

    def __init__(self, folder: Path, size: tuple[int, int] = (800, 560)) -> None:
        program = found()
        assert program is not None
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = [
            "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--enable-unsafe-swiftshader", "--no-first-run",
            "--use-angle=swiftshader", "--disable-gpu-sandbox", "--disable-extensions", f"--user-data-dir={folder}",
            "--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files",
            f"--window-size={size[0]},{size[1]}",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_read), str(to_write), program, *flags, "about:blank"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._rest, self._count, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        self._process.wait(PATIENCE)

    def call(self, method: str, **params: Any) -> Any:
        """The result of a command."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _message(self) -> Any:
        while b"\0" not in self._rest:
            more = os.read(self._read, 2**20)
            assert more, "the browser has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._heed(message.get("method"), message.get("params"))
        return message

    def _heed(self, method: str | None, params: Any) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"].get("exception", {}).get("description", params)))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str(params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, page: Path) -> float:
        """Open a page and wait until `window.armsim` is there; the seconds that took."""
        self.errors.clear()
        self.requests.clear()
        begun = time.perf_counter()
        self.call("Page.navigate", url=page.as_uri())
        while not self.run("window.armsim !== undefined"):
            assert not self.errors, self.errors
            assert time.perf_counter() - begun < PATIENCE, "the page is not ready"
            time.sleep(0.02)
        return time.perf_counter() - begun

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def resize(self, width: int, height: int, dark: bool = False) -> None:
        """Take a window's size, and the system's theme."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])

    def picture(self, path: Path | None = None) -> bytes:
        """What is seen, as PNG."""
        data = base64.b64decode(self.call("Page.captureScreenshot")["data"])
        if path is not None:
            path.write_bytes(data)
        return data
