"""Pods tracked, side by side with the Job controller of Kubernetes: one Job of 10,000 indexes each,
one after the other and then in the other order, so that a machine that grows faster or slower does
so for both. Each is on a fresh control plane of its own with the same simulated nodes and no client
limits. While the host works, the controller manager runs without its Job controller.

What is compared is the work for a pod: wall time, and the cpu of the API server, etcd and whoever
tracks. DETENT_BENCH_PODS changes the number of indexes, DETENT_BENCH_NODES that of the nodes.
"""

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from host import BINARY, Client, end_process, report, wait_for, workspace

CLUSTER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cluster")
PODS = int(os.environ.get("DETENT_BENCH_PODS", "10000"))
NODES = int(os.environ.get("DETENT_BENCH_NODES", "100"))
TICKS = os.sysconf("SC_CLK_TCK")
POD = {"restartPolicy": "Never", "nodeSelector": {"detent.dev/node": "fake"},
       "containers": [{"name": "main", "image": "localhost/busybox:1"}]}


class Cluster:
    """A control plane with simulated nodes, for one of the two."""

    def __init__(self, name, *flags):
        self.name = f"bench-{os.getpid()}-{name}"
        done = subprocess.run([os.path.join(CLUSTER, "up.sh"), self.name, "--nodes",
                               f"fake:{NODES}", "--no-limits", *flags], stdout=subprocess.PIPE,
                              text=True, check=True)
        self.kubeconfig = done.stdout.splitlines()[-1]
        tools = subprocess.run([os.path.join(CLUSTER, "../tools/build.sh"), "kubectl"],
                               stdout=subprocess.PIPE, text=True, check=True)
        self.binary = tools.stdout.split()[-1]

    def __enter__(self):
        listed = subprocess.run([os.path.join(CLUSTER, "component.sh"), self.name],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        self.pids = dict(line.split() for line in listed.splitlines())
        return self

    def __exit__(self, *_):
        subprocess.run([os.path.join(CLUSTER, "down.sh"), self.name], check=True)

    def kubectl(self, *arguments, stdin=None):
        return subprocess.run([self.binary, "--kubeconfig", self.kubeconfig, *arguments],
                              input=stdin, stdout=subprocess.PIPE, text=True, check=True).stdout

    def cpu(self, component):
        return cpu_of(self.pids[component])

    def requests(self):
        """(verb, resource, subresource) to the number of requests that the server has answered."""
        counts = {}
        for line in self.kubectl("get", "--raw", "/metrics").splitlines():
            if line.startswith("apiserver_request_total{"):
                labels, value = line[len("apiserver_request_total{"):].rsplit("} ", 1)
                label = dict(part.split("=", 1) for part in labels.replace('"', "").split(","))
                key = (label["verb"], label["resource"], label["subresource"])
                counts[key] = counts.get(key, 0) + float(value)
        return counts


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise SystemExit("bench: the process is gone")


class Run:
    """What it took from the Job's creation to its end."""

    def __init__(self, cluster, pid):
        self.cluster, self.pid = cluster, pid
        self.server = cluster.cpu("apiserver") + cluster.cpu("etcd")
        self.own = cpu_of(pid)
        self.begin = time.monotonic()

    def end(self):
        self.seconds = time.monotonic() - self.begin
        self.server = self.cluster.cpu("apiserver") + self.cluster.cpu("etcd") - self.server
        self.own = cpu_of(self.pid) - self.own
        self.memory = resident_mib(self.pid)
        return self


def job_controller():
    with Cluster("kcm") as cluster:
        run = Run(cluster, cluster.pids["controller-manager"])
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bench"},
             "spec": {"completions": PODS, "parallelism": PODS, "completionMode": "Indexed",
                      "template": {"spec": POD}}}))
        cluster.kubectl("wait", "job/bench", "--for=condition=Complete", "--timeout=1800s")
        return run.end()


@contextlib.contextmanager
def host_on(cluster, directory, at_once=PODS):
    plugin = os.path.abspath(os.path.dirname(BINARY) + "/../lib/detent/plugins/pod.so")
    config = os.path.join(directory, "detent.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"data: {directory}/data\nlisten: {{address: '127.0.0.1:0'}}\n"
                   f"kubernetes: {{kubeconfig: {cluster.kubeconfig}}}\n"
                   f"plugins: [{{path: {plugin}, kind: pod, limits: {{tasks: {at_once}}}}}]\n")
    with open(os.path.join(directory, "host.log"), "ab") as log:
        process = subprocess.Popen([BINARY, "serve", "--config", config], stdout=subprocess.PIPE,
                                   stderr=log, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("detent serves "):
            raise SystemExit(f"bench: the host did not start: {directory}/host.log")
        yield process, Client(line.split()[2])
    finally:
        end_process(process)
        process.stdout.close()


def detent_job(name="bench", indexes=PODS):
    return {"apiVersion": "execution.detent.dev/v1alpha1", "kind": "Job",
            "metadata": {"name": name},
            "spec": {"template": {"parallelism": {"withCount": indexes},
                                  "taskTemplate": {"pod": {"spec": POD}}}}}


def tracked(cluster):
    return cluster.kubectl("get", "pods", "-l", "detent.dev/tracked-by", "-o", "name").split()


def detent(indexes=PODS, at_once=PODS, on_look=lambda run, status: None):
    """The finished run and its writes; every index counted exactly once. `on_look` is called with
    the Job's status at each look on the way."""
    with Cluster("detent", "--no-job-controller") as cluster, workspace() as directory, \
            host_on(cluster, directory, at_once) as (process, client):
        before = cluster.requests()
        run = Run(cluster, process.pid)
        client.create("jobs", detent_job("bench", indexes))
        path = "/apis/execution.detent.dev/v1alpha1/namespaces/default/jobs/bench"

        def ended():
            status = client.get(path).get("status", {})
            on_look(run, status)
            return status.get("finishTime")
        wait_for(ended, 7200, "the Job has not ended", 0.2)
        # The last finalizers come off behind the Job's end; that work counts as well.
        wait_for(lambda: not tracked(cluster), 300, "pods are still tracked", 0.2)
        run.end()
        status = client.get(path)["status"]
        if status.get("succeededIndexes") != f"0-{indexes - 1}" or \
                status["createdTasks"] != indexes:
            raise SystemExit(f"bench: not every index was counted once: {json.dumps(status)[:500]}")
        after = cluster.requests()
        writes = {key: after[key] - before.get(key, 0) for key in after
                  if key[0] in ("POST", "PATCH", "PUT", "DELETE") and key[1] == "pods" and
                  key[2] == ""}
        return run, writes


class Sum:
    """Of the runs of one of the two."""

    def __init__(self, name):
        self.name, self.runs = name, []

    def add(self, run):
        self.runs.append(run)
        print(f"{self.name}: {run.seconds:.1f} s, server {run.server:.1f} s, own {run.own:.1f} s, "
              f"{run.memory:.0f} MiB", file=sys.stderr, flush=True)

    def of(self, what):
        return sum(getattr(run, what) for run in self.runs)

    def millis(self, *what):
        """For a pod."""
        return 1000 * sum(self.of(one) for one in what) / (PODS * len(self.runs))

    def mean(self, what):
        return self.of(what) / len(self.runs)

    def rate(self):
        return PODS * len(self.runs) / self.of("seconds")


def main():
    theirs, ours, writes = Sum("Job controller"), Sum("detent"), collections.Counter()
    for side in (theirs, ours, ours, theirs):
        if side is theirs:
            theirs.add(job_controller())
            continue
        run, wrote = detent()
        ours.add(run)
        writes.update({key[0]: int(count) for key, count in wrote.items()})
    report("pod_tracking rate", ours.rate() / theirs.rate(), "x", (">=", 1.05),
           f"{PODS} pods: {ours.rate():.0f} a second; Job controller {theirs.rate():.0f}")
    report("pod_tracking cpu", ours.millis("server", "own") / theirs.millis("server", "own"), "x",
           ("<", 0.95), f"API server, etcd and tracker: {ours.millis('server', 'own'):.2f} "
           f"of {theirs.millis('server', 'own'):.2f} ms a pod")
    report("pod_tracking host cpu", ours.millis("own") / theirs.millis("own"), "x",
           ("<", 0.35), f"{ours.millis('own'):.3f} of {theirs.millis('own'):.3f} ms a pod")
    report("pod_tracking host memory", ours.mean("memory") / theirs.mean("memory"), "x",
           ("<", 0.25), f"{ours.mean('memory'):.0f} of {theirs.mean('memory'):.0f} MiB, at their "
           "highest")
    report("pod_tracking writes", writes.total() / (len(ours.runs) * PODS), "a pod", ("<", 2.02),
           f"{dict(writes)}")


if __name__ == "__main__":
    main()
