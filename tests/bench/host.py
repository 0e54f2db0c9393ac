"""What the figures run: a host on a data directory of its own, the backend server, and clients.

Everything started here ends, and every directory made here goes, when the `with` that it stands in
is left, by whatever way.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

API = "/apis/execution.detent.dev/v1alpha1/namespaces/default"
PROGRAMS = os.environ.get("DETENT_BENCH_PROGRAMS", "build/bench")
BINARY = os.environ.get("DETENT_BENCH_HOST", "build/bin/detent")

# A figure that is ended by a signal tidies up as any other.
signal.signal(signal.SIGTERM, lambda *_: exit(143))


def program(name):
    return os.path.join(PROGRAMS, name)


def wait_for(condition, seconds, what, step=0.02):
    """The condition's first value that is true; fails with `what` after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise SystemExit(f"bench: waited {seconds} s in vain: {what}")
        time.sleep(step)


def end_process(process, how=signal.SIGTERM):
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def workspace():
    path = tempfile.mkdtemp(prefix="detent-bench-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Client:
    """One kept-alive connection."""

    def __init__(self, url):
        self.address = url.split("://")[1].rstrip("/")
        self.connection = http.client.HTTPConnection(self.address, timeout=120)

    def ask(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise SystemExit(f"bench: {method} {path}: {response.status} {answer.decode()[:500]}")
        return answer

    def get(self, path):
        return json.loads(self.ask("GET", path))

    def create(self, plural, body):
        return json.loads(self.ask("POST", f"{API}/{plural}", body))

    def metric(self, name):
        """The sum over all labels."""
        lines = self.ask("GET", "/metrics").decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines
                   if line.startswith((name + " ", name + "{")))


class Host:
    """`detent serve` with both plugins, in a directory that outlives it."""

    def __init__(self, directory, http_config=None, settings=""):
        self.directory = directory
        plugins = os.path.abspath(os.path.dirname(BINARY) + "/../lib/detent/plugins")
        self.config = os.path.join(directory, "detent.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"data: {directory}/data\ndurability: full\n"
                       "listen: {address: '127.0.0.1:0'}\n"
                       "plugins:\n"
                       f"- {{path: {plugins}/exec.so, kind: exec, limits: {{tasks: 100000}}}}\n"
                       f"- path: {plugins}/http.so\n  kind: http\n  limits: {{tasks: 100000}}\n"
                       f"  config: {json.dumps(http_config or {})}\n" + settings)
        self.process = None
        self.url = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Seconds from the start of the process until /readyz is ok."""
        begin = time.monotonic()
        with open(os.path.join(self.directory, "host.log"), "ab") as log:
            self.process = subprocess.Popen([BINARY, "serve", "--config", self.config],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("detent serves "):
            with open(os.path.join(self.directory, "host.log"), encoding="utf-8") as log:
                raise SystemExit("bench: the host did not start:\n" + log.read()[-2000:])
        self.url = line.split()[2]
        wait_for(self.ready, 120, "the host is not ready", 0.005)
        return time.monotonic() - begin

    def ready(self):
        client = http.client.HTTPConnection(self.url.split("://")[1], timeout=30)
        try:
            client.request("GET", "/readyz")
            return client.getresponse().status == 200
        except OSError:
            return False
        finally:
            client.close()

    def stop(self, how=signal.SIGTERM):
        if self.process is not None:
            end_process(self.process, how)
            self.process.stdout.close()
            self.process = None

    def client(self):
        return Client(self.url)

    def resident_bytes(self, field="VmRSS:"):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            for line in file:
                if line.startswith(field):
                    return int(line.split()[1]) * 1024
        raise SystemExit("bench: the host is gone")

    def cpu_seconds(self):
        """Of all threads that live now, to the nanosecond."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            path = f"/proc/{self.process.pid}/task/{thread}/schedstat"
            with open(path, encoding="utf-8") as file:
                total += int(file.read().split()[0])
        return total / 1e9


class Backend:
    """The epoll server; it ends with its standard input."""

    def __enter__(self):
        self.process = subprocess.Popen([program("epoll_server")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        self.control = Client(self.url)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def stats(self):
        return self.control.get("/_stats")

    def reset(self):
        self.control.ask("GET", "/_reset")


def bare_loop(*arguments):
    done = subprocess.run([program("bare_loop"), *map(str, arguments)], check=True,
                          stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    if answer["failed"]:
        raise SystemExit(f"bench: {answer['failed']} of {answer['requests']} requests failed")
    return answer


def http_job(name, url, count=0, **more):
    template = {"taskTemplate": {"http": {"request": {"method": "GET", "url": url}, **more}}}
    if count:
        template["parallelism"] = {"withCount": count}
    return {"apiVersion": "execution.detent.dev/v1alpha1", "kind": "Job",
            "metadata": {"name": name}, "spec": {"template": template}}


class KeptConnection:
    """A socket that sends what was made before and waits for the whole answer: for timing."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request):
        self.socket.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.take()
        head, body = data.split(b"\r\n\r\n", 1)
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if not head.startswith(b"HTTP/1.1 2") or b"content-length" not in fields:
            raise SystemExit("bench: unexpected answer: " + data.decode()[:500])
        while len(body) < int(fields[b"content-length"]):
            body += self.take()

    def take(self):
        got = self.socket.recv(65536)
        if not got:
            raise SystemExit("bench: the host closed the connection")
        return got

    def close(self):
        self.socket.close()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def report(name, measured, unit, goal=None, note=""):
    """One line of the table. `goal` is ("<" or ">=", limit), or None for what is shown beside."""
    row = {"figure": name, "measured": round(measured, 4), "unit": unit, "note": note}
    if goal is not None:
        sign, limit = goal
        row["goal"] = f"{sign} {limit}"
        row["reached"] = measured < limit if sign == "<" else measured >= limit
    print(json.dumps(row), flush=True)
