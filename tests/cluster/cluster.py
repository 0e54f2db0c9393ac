"""A cluster for tests in Python: up, kubectl, the fault proxy's rules, down, what is left behind.

    class Works(ClusterTest):
        nodes = "fake:2"
        flags = ("--proxy",)

        def test_it(self):
            self.cluster.apply(pod("one", outcome="fail"))

Where the cluster's tools cannot be had the tests are skipped with the reason; with CI=true that is
a failure.
"""

import glob
import hashlib
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = os.path.join(HERE, "../tools/build.sh")


def wait_until(condition, what, seconds=30):
    """The first true answer of `condition`, or a failure that says what did not come."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not so: {what}")
        time.sleep(0.05)


def leave_out(reason):
    if os.environ.get("CI") == "true":
        raise AssertionError(f"{reason}; with CI=true nothing may be left out")
    raise unittest.SkipTest(reason)


def kubectl_path():
    """Of a kubectl with all the other tools beside it; skips the test where they are not."""
    done = subprocess.run([TOOLS], stdout=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, CI="true"))  # Leaving one out is an error here.
    if done.returncode != 0:
        leave_out("the cluster's tools are not built; tests/tools/build.sh says why")
    return next(path for path in done.stdout.split() if "/kubectl-" in path)


def script(name, *arguments, env=None):
    """One of the scripts beside this file, finished."""
    return subprocess.run([os.path.join(HERE, name), *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, env=env)


class Cluster:
    """`up` has returned when this is made. Named after the process, so that runs do not meet."""

    def __init__(self, nodes, flags=(), suffix="x"):
        binary = kubectl_path()
        if "real" in nodes and os.geteuid() != 0:
            leave_out("real nodes need root")
        self.name = f"test-{os.getpid()}-{suffix}"
        done = script("up.sh", self.name, "--nodes", nodes, *flags)
        if done.returncode != 0:
            raise AssertionError(f"up.sh failed:\n{done.stderr[-4000:]}")
        self.kubeconfig = done.stdout.splitlines()[-1]
        self.directory = os.path.dirname(self.kubeconfig)
        # Its cache would otherwise be in the home directory, and outlive the cluster.
        self.kubectl_command = [binary, "--cache-dir", os.path.join(self.directory, "kubectl")]

    def down(self):
        done = script("down.sh", self.name)
        if done.returncode != 0:
            raise AssertionError(f"down.sh failed:\n{done.stderr}")

    def kubectl(self, *arguments, stdin=None, code=0, proxy=False):
        """What it printed; it must end with `code`, unless that is None."""
        path = self.kubeconfig + (".proxy" if proxy else "")
        done = subprocess.run([*self.kubectl_command, "--kubeconfig", path, *arguments],
                              input=stdin, capture_output=True, text=True, timeout=120, check=False)
        if code is not None and done.returncode != code:
            raise AssertionError(f"kubectl {' '.join(arguments)}: exit code {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stdout + done.stderr

    def apply(self, *objects):
        self.kubectl("create", "-f", "-", stdin="\n---\n".join(json.dumps(one) for one in objects))

    def get(self, *what):
        """The object or the list, or None if there is no such object."""
        text = self.kubectl("get", *what, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def kubeconfig_of(self, account, namespace="default", proxy=False):
        """The path of one that has a service account's rights and no others, for two hours."""
        token = self.kubectl("-n", namespace, "create", "token", account, "--duration=2h").strip()
        view = json.loads(self.kubectl("config", "view", "--raw", "-o", "json", proxy=proxy))
        context = next(one["context"] for one in view["contexts"]
                       if one["name"] == view["current-context"])
        view["users"] = [{"name": context["user"], "user": {"token": token}}]
        path = os.path.join(self.directory, f"kubeconfig.{account}" + (".proxy" if proxy else ""))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(view, file)
        return path

    def component(self, what, component):
        done = script("component.sh", self.name, what, component)
        if done.returncode != 0:
            raise AssertionError(f"component.sh {what} {component}: {done.stderr}")

    def etcd(self):
        """Where etcd listens, as its command line says."""
        command = os.path.join(self.directory, "components/etcd/command")
        with open(command, encoding="utf-8") as file:
            words = [word for word in file.read().split() if word != "\\"]
        return words[words.index("--listen-client-urls") + 1]

    # The fault proxy.

    def control(self, method, path, body=None):
        with open(os.path.join(self.directory, "proxy.url"), encoding="ascii") as file:
            url = file.read().strip() + path
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, method=method),
                                        timeout=20) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise AssertionError(f"the fault proxy: {error.read().decode()}") from None

    def rule(self, action, **fields):
        """Adds a rule; its answer can be given to `applied`."""
        return self.control("POST", "/rules", dict(fields, action=action))["id"]

    def applied(self, rule):
        return next(one["applied"] for one in self.control("GET", "/rules") if one["id"] == rule)

    def no_rules(self):
        self.control("DELETE", "/rules")

    def steer(self, action, path):
        """Does something to the replies that are open now; how many they were."""
        return self.control("POST", "/streams", {"action": action, "path": path})["streams"]


class Watch:
    """kubectl's watch, from now on, as a list of (type, object) that grows."""

    def __init__(self, cluster, *what, proxy=False):
        path = cluster.kubeconfig + (".proxy" if proxy else "")
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*cluster.kubectl_command, "--kubeconfig", path, "get", *what, "--watch", "-o", "json",
             "--output-watch-events"], stdin=subprocess.DEVNULL, stdout=self.out,
            stderr=subprocess.STDOUT)

    def events(self):
        self.out.seek(0)
        text, found = self.out.read(), []
        decoder = json.JSONDecoder()
        while text := text.lstrip():
            try:
                event, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break  # The rest is still being written.
            found.append((event["type"], event["object"]))
            text = text[end:]
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        self.out.close()


def pod(name, node="fake", command=None, labels=None, **annotations):
    """A pod for one kind of node; annotations as in fake/pods.yaml: after="1s", exit_code="3"."""
    container = {"name": "main", "image": "localhost/busybox:1"}
    if command:
        container["command"] = command
    prefix = "fake.detent.dev/"
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {},
                         "annotations": {prefix + key.replace("_", "-"): value
                                         for key, value in annotations.items()}},
            "spec": {"restartPolicy": "Never", "nodeSelector": {"detent.dev/node": node},
                     "containers": [container]}}


def left_behind(directory):
    """What is still there of a cluster that lived in `directory`: lines of text."""
    found = [f"directory {directory}"] if os.path.exists(directory) else []
    mark = f"DETENT_CLUSTER_MARK={directory}".encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as environ:
                if mark in environ.read().split(b"\0"):
                    found.append(f"process {entry}")
        except OSError:
            pass
    with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
        found += [f"mount {line.split()[1]}" for line in mounts if directory + "/" in line]
    short = "dtc" + hashlib.sha256(directory.encode() + b"\n").hexdigest()[:8]
    for pattern in ("/sys/class/net/", "/sys/fs/cgroup/", "/sys/fs/cgroup/*/"):
        found += glob.glob(pattern + short)
    return found


def machine_settings():
    """What a kubelet would change for the whole machine, and where it would leave files."""
    state = {}
    for setting in ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic",
                    "kernel/panic_on_oops", "net/ipv4/ip_forward"):
        with open(f"/proc/sys/{setting}", encoding="ascii") as file:
            state[setting] = file.read().strip()
    for path in ("/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/run/netns"):
        state[path] = os.path.exists(path)
    return state


class ClusterTest(unittest.TestCase):
    """One cluster for all tests of the class, and nothing left of it afterwards."""

    nodes = "fake:2"
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(cls.nodes, cls.flags, suffix=cls.__name__.lower())
        # A tearDownClass would not run if what a class sets up on its cluster fails.
        cls.addClassCleanup(cls.end_cluster)

    @classmethod
    def end_cluster(cls):
        cls.cluster.down()
        left = left_behind(cls.cluster.directory)
        if left:
            raise AssertionError(f"left behind: {left}")

    def watch(self, *what, **options):
        watch = Watch(self.cluster, *what, **options)
        self.addCleanup(watch.close)
        return watch

