"""A headless Chromium, driven through its own pipe: what a page shows, asks for and complains of."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
VARIABLE, AXE = "SKEVAL_BROWSER", "SKEVAL_AXE"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")


def browser_path() -> str | None:
    """Return the browser that the environment names, or that is installed."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


def axe_core() -> str:
    """Return the script of axe-core: of the file that the environment names, or of a package."""
    if named := os.environ.get(AXE):
        return Path(named).read_text(encoding="utf-8")
    package = importlib.util.find_spec("axe_playwright_python")  # it is not imported
    assert package, f"no axe-core; pip install --no-deps -r .ci/browser.txt, or name one in {AXE}"
    return (Path(package.origin or "").parent / "axe.min.js").read_text(encoding="utf-8")


class Browser:
    """One page in a browser; `messages` are its console, `requests` what it asked for."""

    def __init__(self, path: str) -> None:
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._folder = tempfile.mkdtemp()
        read_in, self._out = os.pipe()
        self._in, write_out = os.pipe()
        self._process = subprocess.Popen(
            # the protocol wants these two as descriptors 3 and 4
            ["bash", "-c", f'exec "$@" 3<&{read_in} 4>&{write_out}', "-", path, *self._flags()],
            pass_fds=(read_in, write_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_in)
        os.close(write_out)
        self._rest, self._number, self._session = b"", 0, ""
        target = self.call("Target.getTargets")["targetInfos"][0]["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _flags(self) -> list[str]:
        return [*FLAGS, f"--user-data-dir={self._folder}", "about:blank"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return what it answers."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        event: dict[str, Any] = json.loads(text)
        said = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif event.get("method") in {
            *("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        }:
            self.messages.append(json.dumps(said))
        return event

    def open(self, path: Path, width: int, height: int = 900) -> None:
        """Open a file in a window of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.call("Page.navigate", url=path.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def value(self, script: str) -> Any:
        """Return what a script evaluates to."""
        settings = {"returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", expression=script, **settings)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def prefer(self, scheme: str, *, scripts: bool = True) -> None:
        """Show pages as a reader who prefers a light or a dark scheme has them, or no scripts."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press a key, as a person without a mouse would."""
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write what is shown as a PNG file."""
        shown = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shown["data"]))
