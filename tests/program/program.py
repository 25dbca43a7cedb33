"""The program under test, run as users run it."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("KAFSCOPE_BINARY", str(ROOT / "build" / "release" / "bin" / "kafscope"))
PATIENCE = 120  # seconds, for a loaded machine; waits end as soon as what they wait for is there


def run(*arguments, stdin=b"", env=None):
    return subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, timeout=PATIENCE,
                          env={**os.environ, **(env or {})}, check=False)


def rows(result):
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


class Service:
    """`kafscope demo` or `serve` until the end of the test."""

    def __init__(self, *arguments, env=None):
        self.process = subprocess.Popen([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env={**os.environ, **(env or {})})
        self.said = ""
        self.url = self.read(r"(http://\S+)")

    def read(self, pattern):
        """The first group of `pattern` in what it prints; waits for the line."""
        while True:
            found = re.search(pattern, self.said)
            if found:
                return found.group(1)
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"it ended with {self.process.wait(PATIENCE)}: {self.said}")
            self.said += line

    def get(self, path, headers=None):
        """Status, headers and body."""
        request = urllib.request.Request(self.url + path, headers=headers or {})
        opener = urllib.request.build_opener(NoRedirect)
        try:
            with opener.open(request, timeout=PATIENCE) as response:
                return response.status, response.headers, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode()

    def json(self, path):
        return json.loads(self.get(path)[2])

    def stop(self):
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.stdout.close()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self.process.stdout.close()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


@contextlib.contextmanager
def service(*arguments, env=None):
    running = Service(*arguments, env=env)
    try:
        yield running
    finally:
        running.kill()


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.05)
