"""Hosts that live in a cluster (`detent serve --home kubernetes`), for tests: processes that can be
killed and stopped, with the rights of the installed service account and no others."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

from cluster import HERE, ClusterTest, leave_out, wait_until  # noqa: E402
from harness import RecordingServer  # noqa: E402

BIN = os.path.abspath(os.environ.get("DETENT_BIN", os.path.join(HERE, "../../build/bin/detent")))
PLUGINS = os.environ.get("DETENT_PLUGINS", os.path.join(HERE, "../../build/lib/detent/plugins"))
API = "execution.detent.dev/v1alpha1"
GROUP = "execution.detent.dev"
FINALIZER = "detent.dev/task-tracking"
LEASE = 3  # Seconds; the least that leaves room for its parts.

# With times as short as they can be, or those of the host's defaults.
ELECTION = f"{{leaseDurationSeconds: {LEASE}, renewDeadlineSeconds: 2, retryPeriodSeconds: 1}}"
DEFAULT_ELECTION = "{}"

CONFIG = """
kubernetes:
  relistSeconds: {relist}
  leaderElection: {election}
  webhook: {{address: '{webhook}'}}
plugins:
  - {{path: {plugins}/pod.so, kind: pod, config: {pod}}}
  - {{path: {plugins}/http.so, kind: http}}
"""


class HomeHost:
    """One host. It is gone, with all that it keeps, after `close`."""

    def __init__(self, name, kubeconfig, election=ELECTION, relist=1800, webhook="off", pod="{}",
                 **environment):
        self.name = name
        self.directory = tempfile.TemporaryDirectory(prefix="detent-home-")
        config = os.path.join(self.directory.name, "detent.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(election=election, relist=relist, webhook=webhook, pod=pod,
                                     plugins=os.path.abspath(PLUGINS)))
        self.log = open(os.path.join(self.directory.name, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [BIN, "serve", "--home", "kubernetes", "--config", config, "--kubeconfig", kubeconfig,
             "--data", os.path.join(self.directory.name, "data"), "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, **environment, POD_NAME=name))

    def logged(self):
        self.log.flush()
        return os.pread(self.log.fileno(), 1 << 26, 0).decode()

    def url(self):
        return wait_until(lambda: re.search(r"detent serves (\S+)", self.logged()),
                          f"{self.name} serves").group(1)

    def webhook_port(self):
        return int(wait_until(lambda: re.search(r'msg="the webhook serves" url=\S+:(\d+)',
                                                self.logged()), "its webhook serves").group(1))

    def ask(self, path):
        """(HTTP status, text)."""
        done = subprocess.run(["curl", "-s", "-m", "10", "-w", "\n%{http_code}", self.url() + path],
                              capture_output=True, text=True, check=False)
        text, _, code = done.stdout.rpartition("\n")
        return int(code), text

    def works(self):
        """It leads, and has read what is stored."""
        code, _ = self.ask(f"/apis/{API}/jobs")
        return code == 200

    def send(self, number):
        self.process.send_signal(number)
        return time.monotonic()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.log.close()
        self.directory.cleanup()


class HomeTest(ClusterTest):
    """A cluster in which Detent is installed, and hosts that are the test's to start."""

    nodes = "fake:2"
    flags = ("--proxy",)
    ours = ()  # Selects the pods that Detent may have made, where the test makes others.

    @classmethod
    def setUpClass(cls):
        if not os.access(BIN, os.X_OK):
            leave_out(f"{BIN} is not built; DETENT_BIN names another")
        super().setUpClass()
        cls.install()

    @classmethod
    def install(cls, *arguments):
        done = subprocess.run([BIN, "install", "--kubeconfig", cls.cluster.kubeconfig, *arguments],
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.host_kubeconfig = cls.kubeconfig_of_host()

    @classmethod
    def kubeconfig_of_host(cls, proxy=False):
        """With exactly the rights that `detent install` gives: the service account's token."""
        return cls.cluster.kubeconfig_of("detent", "detent", proxy)

    def setUp(self):
        self.hosts = []
        self.addCleanup(self.end)

    def end(self):
        self.cluster.no_rules()
        if not any(host.process.poll() is None for host in self.hosts):
            self.host("cleaner")
        kubectl = self.cluster.kubectl
        kubectl("delete", f"jobconfigs.{GROUP}", "--all", "-A", "--wait=false")
        kubectl("delete", f"jobs.{GROUP}", "--all", "-A", "--wait=false")
        wait_until(lambda: not self.items(f"jobs.{GROUP}") and not self.items(f"tasks.{GROUP}"),
                   "all jobs are gone", 60)
        wait_until(lambda: not self.tracked(), "no pod is tracked any more", 30)
        for host in self.hosts:
            self.assertNotRegex(host.logged(), "Sanitizer|runtime error")
            host.close()
        kubectl("delete", "lease", "-n", "detent", "--all")
        kubectl("delete", "pods", *(self.ours or ("--all",)), "--grace-period=0", "--force",
                "--wait=false")

    def host(self, name, kubeconfig=None, **options):
        host = HomeHost(name, kubeconfig or self.host_kubeconfig, **options)
        self.hosts.append(host)
        return host

    def leader(self, seconds=30):
        """The one host that works, once there is one."""
        return wait_until(lambda: next((host for host in self.hosts if host.process.poll() is None
                                        and host.works()), None), "a host leads", seconds)

    def recording_server(self):
        server = RecordingServer()
        self.addCleanup(server.stop)
        return server

    def items(self, what, *arguments):
        return (self.cluster.get(what, "-A", *arguments) or {"items": []})["items"]

    def tracked(self):
        return [pod["metadata"]["name"] for pod in self.items("pods", *self.ours)
                if FINALIZER in pod["metadata"].get("finalizers", [])]

    def job(self, name):
        return self.cluster.get(f"job.{GROUP}", name)

    def wait_phase(self, name, phase, seconds=40):
        return self.wait_status(name, lambda status: status.get("phase") == phase,
                                f"its phase is {phase}", seconds)

    def wait_status(self, name, condition, what="its status is so", seconds=40):
        """The Job, once its status is as the condition says."""
        def reached():
            job = self.job(name)
            return job if job and condition(job.get("status", {})) else None

        try:
            return wait_until(reached, f"{name}: {what}", seconds)
        except AssertionError as error:
            logs = "\n".join(host.name + ":\n" + host.logged()[-3000:] for host in self.hosts)
            raise AssertionError(f"{error}; it is {self.job(name)}\n{logs}") from None


def manifest(kind, name, spec, **metadata):
    return {"apiVersion": API, "kind": kind, "metadata": dict(metadata, name=name), "spec": spec}


def pod_template(count=1, after=None, **template):
    """Of a Job: pods for the fake nodes."""
    annotations = {} if after is None else {"fake.detent.dev/after": after}
    pod = {"metadata": {"annotations": annotations},
           "spec": {"restartPolicy": "Never", "nodeSelector": {"detent.dev/node": "fake"},
                    "containers": [{"name": "main", "image": "localhost/busybox:1"}]}}
    return dict(template, parallelism={"withCount": count}, taskTemplate={"pod": pod})


def http_template(url, count=1, **template):
    request = {"method": "GET", "url": url}
    return dict(template, parallelism={"withCount": count},
                taskTemplate={"http": {"request": request}})
