"""The host in a cluster: what people write with kubectl runs there, by one of several hosts, with
the rights of the installed service account."""

import collections
import signal
import time
import unittest

from cluster import wait_until
from home import GROUP, LEASE, HomeTest, http_template, manifest, pod_template

TAKEOVER = LEASE + 2  # Seconds, from the death of a leader to another that works.


class Home(HomeTest):
    def test_a_job_config_that_kubectl_made_runs_its_pods_and_goes_with_all_that_it_made(self):
        self.host("one")
        self.leader()
        self.cluster.apply(manifest("JobConfig", "tick", {
            "concurrency": {"policy": "Forbid"},
            "schedule": {"cron": {"expression": "*/3 * * * * * *"}},
            "template": {"spec": pod_template(2, "500ms")}}))

        def done():
            jobs = self.items(f"jobs.{GROUP}")
            return [job for job in jobs if job.get("status", {}).get("phase") == "Succeeded"][:2]

        first = wait_until(lambda: len(done()) == 2 and done(), "two slots ran", 30)[0]
        owner = first["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["kind"], owner["name"], owner["controller"]),
                         ("JobConfig", "tick", True))
        pods = self.items("pods", "-l", "execution.detent.dev/job=" + first["metadata"]["name"])
        self.assertEqual(len(pods), 2)
        for pod in pods:
            self.assertEqual(pod["metadata"]["ownerReferences"][0]["uid"], first["metadata"]["uid"])
            self.assertTrue(pod["metadata"]["ownerReferences"][0]["blockOwnerDeletion"])
        status = self.cluster.get(f"jobconfig.{GROUP}", "tick")["status"]
        self.assertIn("lastScheduled", status)
        self.cluster.kubectl("delete", f"jobconfig.{GROUP}", "tick", "--cascade=foreground")
        wait_until(lambda: not self.items(f"jobs.{GROUP}") and not self.items("pods"),
                   "what it made is gone, too", 30)

    def test_a_job_that_no_admission_has_seen_is_made_whole_or_refused(self):
        self.host("one")
        self.leader()
        self.cluster.apply(
            manifest("JobConfig", "base", {"concurrency": {"policy": "Allow"},
                                           "template": {"spec": pod_template()}}),
            manifest("Job", "of-base", {"configName": "base"}),
            manifest("Job", "of-none", {"configName": "none"}),
            manifest("Job", "bad-spec", {"template": {"taskTemplate": {"http": {
                "request": {"method": "GET", "url": "not a URL"}}}}}))
        job = self.wait_phase("of-base", "Succeeded")
        self.assertEqual(job["metadata"]["ownerReferences"][0]["name"], "base")
        self.assertNotIn("configName", job["spec"])
        self.assertIn("taskTemplate", job["spec"]["template"])
        job = self.wait_phase("of-none", "AdmissionError")
        self.assertIn('names the JobConfig "none"', job["status"]["message"])
        job = self.wait_phase("bad-spec", "AdmissionError")
        self.assertIn("url", job["status"]["message"])

    def test_host_run_tasks_are_objects_and_are_let_go(self):
        server = self.recording_server()
        self.host("one")
        self.leader()
        self.cluster.apply(manifest("Job", "calls",
                                    {"template": http_template(server.url + "/${task.index_num}",
                                                               20)}))
        job = self.wait_phase("calls", "Succeeded")
        self.assertEqual(job["status"]["succeededIndexes"], "0-19")
        counts = collections.Counter(path for _, path, _ in server.requests)
        self.assertEqual(counts, {f"/{index}": 1 for index in range(20)})
        for task in self.items(f"tasks.{GROUP}"):
            self.assertEqual(task["status"]["result"], "Succeeded")
            self.assertEqual(task["metadata"].get("finalizers", []), [])

    def test_a_second_host_waits_says_who_leads_and_takes_over(self):
        first = self.host("first")
        self.leader()
        second = self.host("second")
        code, text = wait_until(lambda: second.ask("/apis/x") if "first" in
                                second.ask("/apis/x")[1] else None, "it knows who leads")
        self.assertEqual(code, 503)
        self.assertIn("ask first_", text)
        self.assertEqual(second.ask("/readyz")[0], 200)
        self.cluster.apply(manifest("Job", "long", {"template": pod_template(30, "4s")}))
        wait_until(lambda: len(self.items("pods")) == 30, "its pods are there")
        died = first.send(signal.SIGKILL)
        wait_until(second.works, "the second works", 20)
        self.assertLess(time.monotonic() - died, TAKEOVER)
        job = self.wait_phase("long", "Succeeded")
        self.assertEqual(job["status"]["succeededIndexes"], "0-29")
        self.assertEqual(job["status"]["createdTasks"], 30)

    def test_a_leader_that_ends_in_good_order_is_followed_at_once(self):
        first = self.host("first")
        self.leader()
        second = self.host("second")
        wait_until(lambda: "ask first_" in second.ask("/apis/x")[1], "it knows who leads")
        asked = first.send(signal.SIGTERM)
        self.assertEqual(first.process.wait(20), 0)
        wait_until(second.works, "the second works", 20)
        self.assertLess(time.monotonic() - asked, LEASE)

    def test_a_leader_that_was_stopped_changes_nothing_when_it_goes_on(self):
        first = self.host("first")
        self.leader()
        second = self.host("second")
        wait_until(lambda: "ask first_" in second.ask("/apis/x")[1], "it knows who leads")
        self.cluster.apply(manifest("Job", "both", {"template": pod_template(20, "1s")}))
        wait_until(lambda: len(self.items("pods")) > 5, "its pods begin")
        first.send(signal.SIGSTOP)
        wait_until(second.works, "the second works", 20)
        job = self.wait_phase("both", "Succeeded")
        wait_until(lambda: not self.tracked() and
                   "finalizers" not in self.job("both")["metadata"], "the second has done all")
        before = self.cluster.kubectl("get", f"jobs.{GROUP},pods", "-A", "-o", "json")
        first.send(signal.SIGCONT)
        self.assertEqual(first.process.wait(20), 1)
        self.assertEqual(self.cluster.kubectl("get", f"jobs.{GROUP},pods", "-A", "-o", "json"),
                         before)
        self.assertEqual(job["status"]["createdTasks"], 20)


class Takeovers(HomeTest):
    """Two hosts, a thousand running tasks, and twenty deaths of the one that leads."""

    INDEXES = 1000
    DEATHS = 20

    def uids(self):
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in self.items("pods")}

    def test_nothing_is_lost_and_nothing_doubled(self):
        self.host("host-0")
        self.leader()
        self.cluster.apply(manifest("Job", "many", {"template": dict(
            pod_template(self.INDEXES, "120s"), maxAttempts=1)}))
        wait_until(lambda: len(self.items("pods")) == self.INDEXES, "all pods are there", 120)
        begun = self.uids()
        slowest = 0
        for death in range(1, self.DEATHS + 1):
            waiting = self.host(f"host-{death}")
            wait_until(lambda: f"ask host-{death - 1}_" in waiting.ask("/apis/x")[1],
                       "it knows who leads", 20)
            died = self.hosts[-2].send(signal.SIGKILL)
            wait_until(waiting.works, "it works", 30)
            slowest = max(slowest, time.monotonic() - died)
        job = self.wait_phase("many", "Succeeded", 300)
        self.assertEqual(job["status"]["succeededIndexes"], f"0-{self.INDEXES - 1}")
        self.assertEqual(job["status"]["createdTasks"], self.INDEXES)
        self.assertEqual(job["status"].get("failed"), 0)
        wait_until(lambda: not self.tracked(), "all are let go of", 60)
        self.assertEqual(self.uids(), begun, "they are the very pods that were begun")
        print(f"the slowest of {self.DEATHS} takeovers took {slowest:.1f} s")
        self.assertLess(slowest, TAKEOVER)


if __name__ == "__main__":
    unittest.main()
