"""What every end-to-end test stands on: a host on a data directory of its own, the command line
against it, an HTTP server that records what it gets, and a wait for conditions.

A HostTest ends everything that it started, and then looks for processes that were left behind:
each carries the test's mark in its environment, its command line or its working directory.
"""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BIN = os.path.abspath(os.environ.get("DETENT_BIN", "build/bin/detent"))
PLUGINS = os.path.abspath(os.environ.get("DETENT_PLUGINS", "build/lib/detent/plugins"))
GROUP = "/apis/execution.detent.dev/v1alpha1"
API_VERSION = "execution.detent.dev/v1alpha1"
MARK = "DETENT_E2E_MARK"


def wait_until(condition, what, seconds=20):
    """The first true answer of `condition`, or a failure that says what did not come."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not so: {what}")
        time.sleep(0.03)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes_with(mark):
    """Process ids, other than this process's, that carry the mark."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid() or not is_alive(entry):
            continue
        text = b""
        for file in ("environ", "cmdline"):
            try:
                with open(f"/proc/{entry}/{file}", "rb") as data:
                    text += data.read()
            except OSError:
                pass
        try:
            text += os.readlink(f"/proc/{entry}/cwd").encode()
        except OSError:
            pass
        if mark.encode() in text:
            found.append(int(entry))
    return found


class RecordingServer:
    """Answers 200 with JSON, and keeps each request. While `hold` is set, answers wait."""

    def __init__(self):
        self.requests = []
        self.broken_off = []  # Paths whose client closed the connection before the answer.
        self.status = 200
        self.hold = threading.Event()
        self.stopping = False
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length).decode()
                recorder.requests.append((self.command, self.path, body))
                while recorder.hold.is_set() and not recorder.stopping:
                    if self.client_left():
                        recorder.broken_off.append(self.path)
                        self.close_connection = True
                        return
                    time.sleep(0.02)
                payload = json.dumps({"path": self.path}).encode()
                self.send_response(recorder.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_POST = do_PUT = answer

            def client_left(self):
                try:
                    flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
                    return self.connection.recv(1, flags) == b""
                except BlockingIOError:
                    return False
                except OSError:
                    return True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopping = True
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class HostTest(unittest.TestCase):
    """A test with a directory, and a host that it starts and ends as it likes."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="detent-e2e-")
        self.mark = os.path.basename(self.dir)
        self.data = os.path.join(self.dir, "data")
        self.host = None
        self.url = None
        self.servers = []
        self.starts = 0
        self.environment = dict(os.environ, **{MARK: self.mark})
        self.environment.pop("DETENT_SERVER", None)

    def tearDown(self):
        for server in self.servers:
            server.stop()
        try:
            self.end_jobs()
        finally:
            self.stop_host()
        try:
            wait_until(lambda: not processes_with(self.mark), "no process is left behind", 10)
        except AssertionError as error:
            left = processes_with(self.mark)
            told = [open(f"/proc/{pid}/cmdline", "rb").read() for pid in left if is_alive(pid)]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"{error}: {told}") from None
        finally:
            if self.failed_so_far():
                print(self.host_log()[-3000:])
            shutil.rmtree(self.dir, ignore_errors=True)

    def failed_so_far(self):
        outcome = getattr(self, "_outcome", None)  # No public way to ask this.
        result = getattr(outcome, "result", None)
        told = (getattr(outcome, "errors", []) + getattr(result, "errors", []) +
                getattr(result, "failures", []))
        return any(test is self and error for test, error in told)

    def end_jobs(self):
        """Tasks outlive the host, so what still runs is killed through it."""
        if self.host is None or self.host.poll() is not None:
            return
        try:
            for kind in ("jobconfigs", "jobs"):
                for item in self.items(kind):
                    self.request("DELETE", f"{kind}/{item['metadata']['name']}")
            wait_until(lambda: not self.items("tasks"), "all tasks are gone", 40)
        except (OSError, AssertionError):
            pass  # What is left is found below, as processes.

    # The host.

    def default_plugins(self):
        return [flag for name in ("exec", "http")
                for flag in ("--plugin", os.path.join(PLUGINS, name + ".so"))]

    def start_host(self, *flags, data=None):
        """Starts it and waits until it serves; self.url is its address then."""
        data = data or self.data
        arguments = [BIN, "serve", "--data", data, "--listen", "127.0.0.1:0", *flags]
        if not {"--plugin", "--config"} & set(flags):
            arguments += self.default_plugins()
        self.starts += 1
        out = os.path.join(self.dir, f"host.{self.starts}.out")
        with open(out, "wb") as stdout, open(os.path.join(self.dir, "host.log"), "ab") as stderr:
            self.host = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=stdout,
                                         stderr=stderr, env=self.environment)
        found = wait_until(lambda: self.host.poll() is not None or
                           re.search(r"detent serves (http\S+)", self.read(out)),
                           "the host serves")
        self.assertIsNone(self.host.poll(), "the host ended: " + self.host_log()[-1500:])
        self.url = found.group(1).rstrip("/")
        self.environment["DETENT_SERVER"] = self.url

    def stop_host(self, how=signal.SIGTERM):
        if self.host is None:
            return None
        if self.host.poll() is None:
            self.host.send_signal(how)
        try:
            return self.host.wait(20)
        except subprocess.TimeoutExpired:
            self.host.kill()
            self.host.wait()
            raise AssertionError("the host did not end within 20 s") from None
        finally:
            self.host = None

    def kill_host(self):
        self.stop_host(signal.SIGKILL)

    def host_log(self):
        path = os.path.join(self.dir, "host.log")
        return self.read(path) if os.path.exists(path) else ""

    # The command line.

    def run_cli(self, *arguments, stdin=None, timeout=60):
        """The finished process: returncode, stdout, stderr (text)."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        done = subprocess.run([BIN, *arguments], input=stdin if stdin is not None else b"",
                              capture_output=True, env=self.environment, timeout=timeout,
                              check=False)
        done.stdout = done.stdout.decode("utf-8", "replace")
        done.stderr = done.stderr.decode("utf-8", "replace")
        return done

    def cli(self, *arguments, stdin=None, code=0, timeout=60):
        """Runs it, requires the exit code, and answers all that it printed."""
        done = self.run_cli(*arguments, stdin=stdin, timeout=timeout)
        self.assertEqual(done.returncode, code,
                         f"detent {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def apply(self, manifest):
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        return self.cli("apply", "-f", "-", stdin=text)

    # Objects.

    def request(self, method, path, body=None, content="application/json"):
        """The answer's status and its JSON; `path` is below the default namespace."""
        if not path.startswith("/"):
            path = f"{GROUP}/namespaces/default/{path}"
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(self.url + path, data=data, method=method,
                                         headers={"Content-Type": content})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def object(self, path):
        status, document = self.request("GET", path)
        return document if status == 200 else None

    def items(self, kind):
        return self.request("GET", kind)[1].get("items", [])

    def tasks_of(self, job):
        return [task for task in self.items("tasks") if task["spec"].get("jobName") == job]

    def task(self, job, index=0, attempt=1):
        for task in self.tasks_of(job):
            spec = task["spec"]
            if spec.get("index", 0) == index and spec.get("attempt", 1) == attempt:
                return task
        return None

    def job_phase(self, name):
        job = self.object("jobs/" + name)
        return job["status"].get("phase") if job and "status" in job else None

    def wait_phase(self, name, phase, seconds=20):
        ended = {"Succeeded", "Failed", "Killed", "AdmissionError"}

        def reached():
            seen = self.job_phase(name)
            if seen != phase and seen in ended:
                raise AssertionError(f"job {name} is {seen}, not {phase}:\n" +
                                     self.cli("why", "job/" + name))
            return seen == phase

        wait_until(reached, f"job {name} is {phase}", seconds)
        return self.object("jobs/" + name)

    def wait_task(self, job, state, index=0, attempt=1):
        def reached():
            task = self.task(job, index, attempt)
            return task if task and task.get("status", {}).get("state") == state else None

        return wait_until(reached, f"task {index}/{attempt} of {job} is {state}")

    # Manifests.

    def exec_job(self, name, script, exec_fields=None, **template):
        fields = {"script": script, "env": [{"name": MARK, "value": self.mark}]}
        fields.update(exec_fields or {})
        return self.job(name, {"exec": fields}, **template)

    def http_job(self, name, method, url, idempotent=None, **template):
        fields = {"request": {"method": method, "url": url}}
        if idempotent is not None:
            fields["idempotent"] = idempotent
        return self.job(name, {"http": fields}, **template)

    @staticmethod
    def job(name, task_template, ttl=None, **template):
        spec = {"template": dict(template, taskTemplate=task_template)}
        if ttl is not None:
            spec["ttlSecondsAfterFinished"] = ttl
        return {"apiVersion": API_VERSION, "kind": "Job",
                "metadata": {"name": name, "namespace": "default"}, "spec": spec}

    def config(self, name, cron, script, policy="Forbid", **template):
        job = self.exec_job(name, script, **template)
        return {"apiVersion": API_VERSION, "kind": "JobConfig",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"concurrency": {"policy": policy},
                         "schedule": {"cron": {"expression": cron}},
                         "template": {"spec": job["spec"]["template"]}}}

    # Files.

    def server(self):
        self.servers.append(RecordingServer())
        return self.servers[-1]

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, "wb" if isinstance(text, bytes) else "w") as file:
            file.write(text)
        return path

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def lines(self, name):
        path = self.path(name)
        return self.read(path).splitlines() if os.path.exists(path) else []
