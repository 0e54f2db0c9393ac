"""A cluster with fake and real nodes comes up, works beside others, and goes without a trace."""

import os
import signal
import subprocess
import tempfile
import unittest

import cluster
from cluster import HERE, Cluster, ClusterTest, left_behind, pod, script, wait_until

CLUSTERS = os.path.realpath(os.environ.get("DETENT_CLUSTER_DIR", "/tmp/detent-clusters"))


class Smoke(ClusterTest):
    nodes = "fake:2,real:1"

    @classmethod
    def setUpClass(cls):
        # Looked at last, when the cluster is gone.
        cls.addClassCleanup(cls.compare_machine, cluster.machine_settings())
        super().setUpClass()

    @staticmethod
    def compare_machine(before):
        if cluster.machine_settings() != before:
            raise AssertionError(f"was {before}, is {cluster.machine_settings()}")

    def test_a_job_runs_on_fake_and_real_nodes_and_its_logs_can_be_read(self):
        spread = {"maxSkew": 1, "topologyKey": "detent.dev/node",
                  "whenUnsatisfiable": "DoNotSchedule",
                  "labelSelector": {"matchLabels": {"test": "both"}}}
        one = pod("x", labels={"test": "both"}, after="1s",
                  command=["sh", "-c", "echo this is $JOB_COMPLETION_INDEX; sleep 0.2"])
        one["spec"].pop("nodeSelector")
        one["spec"]["topologySpreadConstraints"] = [spread]
        one["metadata"].pop("name")
        template = {"metadata": one["metadata"], "spec": one["spec"]}
        self.cluster.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "both"},
                            "spec": {"completions": 4, "parallelism": 4, "template": template,
                                     "completionMode": "Indexed"}})
        self.cluster.kubectl("wait", "job/both", "--for=condition=Complete", "--timeout=60s")
        pods = self.cluster.get("pods", "-l", "test=both")["items"]
        real = [one for one in pods if one["spec"]["nodeName"] == "real-1"]
        self.assertTrue(0 < len(real) < len(pods) == 4, f"{len(real)} of {len(pods)} are real")
        for one in real:
            index = one["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
            log = self.cluster.kubectl("logs", one["metadata"]["name"])
            self.assertEqual(log, f"this is {index}\n")

    def test_a_real_container_has_its_exit_code_and_termination_message(self):
        self.cluster.apply(pod("fails", node="real", command=[
            "sh", "-c", "echo so it is > /dev/termination-log; exit 3"]))
        self.cluster.kubectl("wait", "pod/fails", "--for=jsonpath={.status.phase}=Failed",
                             "--timeout=60s")
        status = self.cluster.get("pod", "fails")["status"]["containerStatuses"][0]
        ended = status["state"]["terminated"]
        self.assertEqual((ended["exitCode"], ended["message"]), (3, "so it is\n"))

    def test_a_real_container_survives_its_kubelet(self):
        self.cluster.apply(pod("goes-on", node="real", command=["sleep", "1000"]))
        self.cluster.kubectl("wait", "pod/goes-on", "--for=condition=Ready", "--timeout=60s")
        self.cluster.component("restart", "kubelet-1")
        wait_until(lambda: "sleep 1000" in self.cluster.kubectl("exec", "goes-on", "--", "ps",
                                                                code=None),
                   "the new kubelet has found the container")

    def test_a_second_cluster_beside_it_is_another_one(self):
        other = Cluster("fake:1", suffix="other")
        self.addCleanup(other.down)
        other.apply(pod("there"))
        other.kubectl("wait", "pod/there", "--for=jsonpath={.status.phase}=Succeeded",
                      "--timeout=60s")
        self.assertIsNone(self.cluster.get("pod", "there"))
        other.down()
        self.assertEqual(left_behind(other.directory), [])
        self.assertEqual(len(self.cluster.get("nodes")["items"]), 3)


class HalfWay(unittest.TestCase):
    """Starts that do not come to their end."""

    @classmethod
    def setUpClass(cls):
        cluster.kubectl_path()

    def setUp(self):
        self.name = f"test-{os.getpid()}-half"
        self.directory = os.path.join(CLUSTERS, self.name)
        self.addCleanup(script, "down.sh", self.name)

    def test_a_start_that_was_killed_leaves_nothing_once_it_is_removed(self):
        with subprocess.Popen([os.path.join(HERE, "up.sh"), self.name, "--nodes", "fake:1,real:1"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as up:
            wait_until(lambda: os.path.exists(self.directory + "/components/containerd-1/pid"),
                       "it has come as far as containerd", 60)
            up.send_signal(signal.SIGKILL)
        self.assertEqual(script("down.sh", self.name).returncode, 0)
        self.assertEqual(left_behind(self.directory), [])

    def test_a_start_that_is_interrupted_removes_what_it_has_started(self):
        with subprocess.Popen([os.path.join(HERE, "up.sh"), self.name], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as up:
            wait_until(lambda: os.path.exists(self.directory + "/components/apiserver/pid"),
                       "it has come as far as the API server", 60)
            up.send_signal(signal.SIGTERM)
            self.assertEqual(up.wait(30), 130)
        self.assertEqual(left_behind(self.directory), [])

    def test_a_start_that_fails_says_why_and_removes_what_it_has_started(self):
        cache = self.enterContext(tempfile.TemporaryDirectory())
        tools = subprocess.run([cluster.TOOLS], stdout=subprocess.PIPE, text=True, check=True)
        for path in tools.stdout.split():
            os.symlink(path, os.path.join(cache, os.path.basename(path)))
            if "kube-scheduler" in path:
                broken = os.path.join(cache, os.path.basename(path))
        os.unlink(broken)
        with open(broken, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho there is sand in the gears\nexit 1\n")
        os.chmod(broken, 0o755)
        done = script("up.sh", self.name, env=dict(os.environ, DETENT_TOOLS_CACHE=cache))
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is sand in the gears", done.stderr)
        self.assertIn("scheduler ended while it started", done.stderr)
        self.assertEqual(left_behind(self.directory), [])

    def test_what_does_not_exist_can_be_removed(self):
        self.assertEqual(script("down.sh", self.name).returncode, 0)
