"""A headless Chromium, driven as a person would: by its DevTools protocol over two pipes.

No package is needed for this: messages are JSON, ended by a zero byte, on the descriptors 3 and 4 of
the browser. One page; keys and clicks are real input events, so that what cannot be clicked or
focused fails here too.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
        "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Home": (36, ""), "End": (35, ""), " ": (32, " "),
        "Backspace": (8, "")}


def find_browser():
    """The path of a Chromium; None: there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, width=1360, height=900):
        self.profile = tempfile.mkdtemp(prefix="brume-page-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', find_browser(), "--headless=new",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--ignore-certificate-errors", "--force-color-profile=srgb", f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.faults, self.requests, self.answers, self.change = [], [], {}, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.size(width, height)

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # --- the protocol ---

    def read(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            self.buffer += os.read(self.read_end, 1 << 20)
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        """Collect what a person would see in the console, and where requests went."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.faults.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            if entry.get("source") != "network":
                self.faults.append(entry["text"])
        elif method == "Fetch.requestPaused":
            self.serve_altered(params)
        elif method == "Network.requestWillBeSent":
            self.requests.append((params["request"]["method"], params["request"]["url"]))

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        number = self.number
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while number not in self.answers:
            answer = self.read(60)
            if answer is None:
                raise TimeoutError(method)
            if "id" in answer:
                self.answers[answer["id"]] = answer
            else:
                self.note(answer)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def alter(self, name, old, new):
        """From now on the file of this name is another one: `new` stands for `old`, which must be in it. None: as it is."""
        self.change = (old, new) if name else None
        self.send("Network.setCacheDisabled", cacheDisabled=bool(name))
        if name:
            self.send("Fetch.enable", patterns=[{"urlPattern": "*/" + name, "requestStage": "Response"}])
        else:
            self.send("Fetch.disable")

    def serve_altered(self, params):
        body = self.send("Fetch.getResponseBody", requestId=params["requestId"])
        text = base64.b64decode(body["body"]).decode() if body["base64Encoded"] else body["body"]
        if self.change[0] not in text:
            self.faults.append(f"nothing to alter: {self.change[0]}")
        changed = text.replace(*self.change)
        headers = [one for one in params["responseHeaders"] if one["name"].lower() != "content-length"]
        self.send("Fetch.fulfillRequest", requestId=params["requestId"], responseCode=200, responseHeaders=headers,
                  body=base64.b64encode(changed.encode()).decode())

    # --- looking ---

    def run(self, script):
        """The value of an expression in the page; promises are awaited."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", script))
        return result["result"].get("value")

    def wait(self, script, seconds=30, why=None):
        """Until the expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                value = self.run(f"(async () => !!(await ({script})))()")
            except RuntimeError:
                value = None
            if value:
                return value
            time.sleep(0.05)
        said = self.run("(document.querySelector('[role=alert]') || document.getElementById('status')).innerText")
        raise AssertionError(f"did not happen: {why or script}; the page says: {said}")

    def text(self):
        return self.run("document.body.innerText") or ""

    def wait_text(self, text, seconds=30):
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", seconds, why=f"'{text}' is shown")

    def size(self, width, height, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def prefer(self, scheme, motion="reduce"):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                          {"name": "prefers-reduced-motion", "value": motion}])

    def screenshot(self, path, kind="png"):
        shot = self.send("Page.captureScreenshot", format=kind, **({"quality": 82} if kind == "webp" else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    # --- doing ---

    def open(self, url):
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def place_of(self, find):
        """The middle of the element that the expression finds, scrolled into view; it must be what is there."""
        place = self.run(f"""(() => {{ const one = {find}; if (!one) return null;
            one.scrollIntoView({{block: "center", behavior: "instant"}}); const box = one.getBoundingClientRect();
            const x = box.x + box.width / 2, y = box.y + box.height / 2; const there = document.elementFromPoint(x, y);
            return {{x, y, covered: !(there && (one.contains(there) || there.contains(one)))}}; }})()""")
        if not place:
            raise AssertionError(f"nothing to click: {find}")
        if place["covered"]:
            raise AssertionError(f"covered by something else: {find}")
        return place["x"], place["y"]

    def click(self, find):
        self.wait(f"!!({find})", why=f"{find} is there")
        x, y = self.place_of(find)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_named(self, role, name):
        """Click the visible button or link that begins with this text or has this label."""
        kinds = {"button": "button", "link": "a", "summary": "summary"}
        self.click(f"""[...document.querySelectorAll({json.dumps(kinds[role])})].find((one) => one.offsetParent &&
            ((one.getAttribute("aria-label") || "") === {json.dumps(name)} || one.innerText.trim().startsWith({json.dumps(name)})))""")

    def field(self, label):
        """An expression that finds the control with this label."""
        text = json.dumps(label)
        return (f"""([...document.querySelectorAll("label")].filter((one) => one.offsetParent && one.innerText.trim() === {text})
            .map((one) => document.getElementById(one.htmlFor)).find(Boolean) ||
            [...document.querySelectorAll("[aria-label]")].find((one) => one.offsetParent && one.getAttribute("aria-label") === {text}))""")

    def fill(self, label, text):
        """Put a text into a control, as one that selects all and types."""
        self.click(self.field(label))
        if self.run(f"{self.field(label)}.isContentEditable"):
            self.key("a", 2)
        else:
            self.run(f"{self.field(label)}.select()")
        self.type(text)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def key(self, key, modifiers=0):
        """One key; modifiers: 1 Alt, 2 Ctrl, 8 Shift."""
        code, text = KEYS.get(key, (ord(key[0].upper()) if key.isalnum() else 0, key))  # "(" is no arrow, whose code is 40
        common = {"key": key, "code": key if len(key) > 1 else f"Key{key.upper()}", "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text and not modifiers & 2 else "rawKeyDown",
                  **({"text": text} if text and not modifiers & 2 else {}), **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)
