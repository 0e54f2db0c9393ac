"""Bad days of the API server: away, slow, full, forgetful. The host waits, says why, and goes on;
every attempt is counted once. Each in both homes: a host in the cluster, a host beside it."""

import json
import os
import time
import unittest
import urllib.request

import test_pod_jobs
from cluster import wait_until
from harness import PLUGINS
from home import DEFAULT_ELECTION, GROUP, HomeTest, manifest, pod_template

OUTCOME = "fake.detent.dev/outcome"
# A pod's event of that name, with its end in it.
END_OF = '"name":"%s".*"phase":"Succeeded"'


def fill_etcd(cluster, action):
    """ACTIVATE: it takes no more writes, as if its disk were full. DEACTIVATE: it does again."""
    body = json.dumps({"action": action, "memberID": 0, "alarm": "NOSPACE"}).encode()
    url = cluster.etcd() + "/v3/maintenance/alarm"
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=20) as answer:
        answer.read()


class ApiServerDays:
    """What both homes' tests need: an API server and an etcd that are well again afterwards."""

    def bring_down(self):
        self.cluster.component("kill", "apiserver")
        self.is_down = True
        self.addCleanup(self.bring_back)

    def bring_back(self):
        if self.is_down:
            self.cluster.component("start", "apiserver")
            self.is_down = False

    def fill(self):
        fill_etcd(self.cluster, "ACTIVATE")
        self.addCleanup(self.empty)

    def empty(self):
        fill_etcd(self.cluster, "DEACTIVATE")

    def pod_uids(self):
        pods = self.cluster.get("pods")["items"]
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


class InTheCluster(ApiServerDays, HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.proxied = cls.kubeconfig_of_host(proxy=True)

    def not_ready(self, host, *words, seconds=30):
        """Until /readyz fails with all these words; /livez is fine all the while."""
        def told():
            code, text = host.ask("/readyz")
            self.assertEqual(host.ask("/livez")[0], 200)
            return text if code != 200 and all(word in text for word in words) else None

        try:
            return wait_until(told, f"/readyz says {words}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {host.ask('/readyz')}\n"
                                 f"{host.logged()[-2000:]}") from None

    def test_a_host_that_starts_without_an_api_server_waits_and_says_why(self):
        self.bring_down()
        host = self.host("early")
        self.not_ready(host, "onnect to 127.0.0.1")
        self.bring_back()
        self.leader()
        self.assertEqual(host.ask("/readyz")[0], 200)
        self.cluster.apply(manifest("Job", "after", {"template": pod_template(2)}))
        self.wait_phase("after", "Succeeded")

    def test_a_leader_without_an_api_server_ends_and_the_next_one_goes_on(self):
        first = self.host("first")
        self.leader()
        self.cluster.apply(manifest("Job", "through", {"template": pod_template(10, "6s")}))
        wait_until(lambda: len(self.items("pods")) == 10, "its pods are there")
        pods = self.pod_uids()
        self.bring_down()
        self.assertEqual(first.process.wait(20), 1)
        second = self.host("second")
        self.not_ready(second, "onnect to 127.0.0.1")
        self.bring_back()
        job = self.wait_phase("through", "Succeeded", 60)
        self.assertEqual((job["status"]["succeededIndexes"], job["status"]["createdTasks"]),
                         ("0-9", 10))
        self.assertEqual(self.pod_uids(), pods)
        wait_until(lambda: not self.tracked(), "all are let go of")

    def test_a_slow_api_server_costs_time_and_nothing_else(self):
        host = self.host("slow", self.proxied, election=DEFAULT_ELECTION)
        self.leader()
        self.cluster.rule("delay", delay="2s")
        self.cluster.apply(manifest("Job", "slow", {"template": pod_template(5)}))
        job = self.wait_phase("slow", "Succeeded", 60)
        self.assertEqual(job["status"]["createdTasks"], 5)
        self.assertEqual(host.logged().count("this host leads"), 1)
        self.assertIsNone(host.process.poll())

    def test_an_event_that_is_lost_on_its_way_is_noticed_by_the_next_list(self):
        self.cluster.rule("swallow", path="/pods.*watch=true", line=END_OF % "lost-0-1")
        self.host("one", self.proxied, relist=1)
        self.leader()
        self.cluster.apply(manifest("Job", "lost", {"template": pod_template(2, "1s")}))
        job = self.wait_status("lost", lambda status: status.get("succeededIndexes") == "1")
        self.assertEqual(job["status"]["activeIndexes"], "0")
        self.assertEqual(self.cluster.get("pod", "lost-0-1")["status"]["phase"], "Succeeded")
        self.cluster.no_rules()
        self.assertGreater(self.cluster.steer("end", "/pods.*watch=true"), 0)
        self.wait_phase("lost", "Succeeded")

    def test_a_full_etcd_is_named_and_waited_out(self):
        first = self.host("first")
        self.leader()
        template = pod_template(5)
        template["taskTemplate"]["pod"]["metadata"]["annotations"][OUTCOME] = "hang"
        self.cluster.apply(manifest("Job", "full", {"template": template}))
        self.wait_status("full", lambda status: status.get("runningTasks") == 5, "its pods run")
        self.fill()
        # Who cannot renew must not go on.
        self.assertEqual(first.process.wait(20), 1)
        self.assertIn("database space exceeded", first.logged())
        second = self.host("second")
        self.not_ready(second, "database space exceeded")
        self.empty()
        self.cluster.kubectl("annotate", "--overwrite", "pods", "--all", OUTCOME + "=succeed")
        job = self.wait_phase("full", "Succeeded")
        self.assertEqual((job["status"]["succeededIndexes"], job["status"]["createdTasks"]),
                         ("0-4", 5))


class BesideTheCluster(ApiServerDays, test_pod_jobs.PodTest):
    def test_a_host_that_starts_without_an_api_server_takes_jobs_and_runs_them_once_there_is_one(self):
        self.kill_host()
        self.bring_down()
        self.host_up()
        self.assertEqual(urllib.request.urlopen(self.url + "/livez", timeout=20).status, 200)
        self.apply(self.pod_job("early", count=2))
        self.assertIn(self.status("early")["phase"], ("Starting", "Pending"))
        self.why("early", "is not well: its cluster cannot be reached", "onnect to 127.0.0.1")
        self.bring_back()
        self.assertEqual(self.wait_phase("early", "Succeeded", 60)["status"]["createdTasks"], 2)
        self.assertNotIn("not well", self.cli("why", "job/early"))

    def test_a_minute_without_an_api_server_is_waited_out(self):
        self.apply(self.pod_job("down", count=10, after="8s"))
        self.wait_pods("down", 10)
        pods = self.pod_uids()
        self.apply(self.pod_job("next", count=3))
        self.bring_down()
        until = time.monotonic() + 60
        self.apply(self.pod_job("meanwhile", count=3))
        self.why("meanwhile", "is not well: its cluster cannot be reached", "onnect to 127.0.0.1")
        wait_until(lambda: time.monotonic() > until, "a minute is over", 90)
        self.bring_back()
        for name, count in (("down", 10), ("next", 3), ("meanwhile", 3)):
            job = self.wait_phase(name, "Succeeded", 60)
            self.assertEqual(job["status"]["createdTasks"], count)
        self.assertEqual({name: uid for name, uid in self.pod_uids().items() if name in pods}, pods)
        wait_until(lambda: not self.tracked(), "all are let go of")

    def test_a_slow_api_server_costs_time_and_nothing_else(self):
        self.kill_host()
        self.host_up(proxied=True)
        self.cluster.rule("delay", delay="2s")
        self.apply(self.pod_job("slow", count=5))
        self.assertEqual(self.wait_phase("slow", "Succeeded", 60)["status"]["createdTasks"], 5)

    def test_an_event_that_is_lost_on_its_way_is_noticed_by_the_next_list(self):
        self.kill_host()
        config = os.path.join(self.dir, "relist.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"kubernetes: {{relistSeconds: 1}}\n"
                       f"plugins: [{{path: {os.path.join(PLUGINS, 'pod.so')}, kind: pod}}]\n")
        self.cluster.rule("swallow", path="/pods.*watch=true", line=END_OF % "lost-0-1")
        self.start_host("--config", config, "--kubeconfig", self.cluster.kubeconfig + ".proxy")
        self.apply(self.pod_job("lost", count=2, after="1s"))
        wait_until(lambda: self.status("lost").get("succeededIndexes") == "1", "the other ended")
        self.assertEqual(self.cluster.get("pod", "lost-0-1")["status"]["phase"], "Succeeded")
        self.assertEqual(self.status("lost")["activeIndexes"], "0")
        self.cluster.no_rules()
        self.assertGreater(self.cluster.steer("end", "/pods.*watch=true"), 0)
        self.wait_phase("lost", "Succeeded")

    def test_a_full_etcd_is_named_and_waited_out(self):
        self.fill()
        self.apply(self.pod_job("full", count=5))
        self.why("full", "database space exceeded")
        self.empty()
        job = self.wait_phase("full", "Succeeded", 90)
        self.assertEqual((job["status"]["createdTasks"], job["status"]["succeededIndexes"]),
                         (5, "0-4"))


if __name__ == "__main__":
    unittest.main()
