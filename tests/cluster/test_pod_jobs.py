"""Jobs of Pods, from a standalone host to a real API server: every attempt counted exactly once,
whatever is deleted, killed or lost meanwhile, and nothing left behind."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

from cluster import ClusterTest, wait_until  # noqa: E402
from harness import HostTest, PLUGINS  # noqa: E402

FINALIZER = "detent.dev/task-tracking"


class PodTest(ClusterTest, HostTest):
    flags = ("--proxy",)
    proxied = False

    def setUp(self):
        super().setUp()
        self.addCleanup(self.cluster.no_rules)
        self.host_up()

    def end_jobs(self):
        super().end_jobs()
        self.cluster.no_rules()
        wait_until(lambda: not self.tracked(), "no pod is tracked any more", 30)
        self.cluster.kubectl("delete", "pods", "--all", "--grace-period=0", "--force",
                             "--wait=false", "--ignore-not-found")

    def default_plugins(self):
        return ["--plugin", os.path.join(PLUGINS, "pod.so"), "--plugin",
                os.path.join(PLUGINS, "exec.so")]

    def host_up(self, proxied=None):
        proxied = self.proxied if proxied is None else proxied
        kubeconfig = self.cluster.kubeconfig + (".proxy" if proxied else "")
        self.start_host("--kubeconfig", kubeconfig)

    def pod_job(self, name, count=1, pod=None, spec=None, node="fake", **template):
        """Annotations of fake/pods.yaml: outcome="fail", exit_code="3", after="2s"."""
        fields = {key: template.pop(key) for key in list(template) if key in
                  ("outcome", "after", "exit_code", "reason", "termination_message")}
        annotations = {"fake.detent.dev/" + key.replace("_", "-"): value
                       for key, value in fields.items()}
        body = {"metadata": {"annotations": annotations},
                "spec": dict({"restartPolicy": "Never",
                              "nodeSelector": {"detent.dev/node": node},
                              "containers": [{"name": "main", "image": "localhost/busybox:1"}]},
                             **(spec or {}))}
        body.update(pod or {})
        if count > 1:
            template["parallelism"] = {"withCount": count}
        return self.job(name, {"pod": body}, **template)

    def pods(self, job=None):
        selector = [] if job is None else ["-l", f"execution.detent.dev/job={job}"]
        return (self.cluster.get("pods", *selector) or {"items": []})["items"]

    def tracked(self):
        return [pod["metadata"]["name"] for pod in self.pods()
                if FINALIZER in pod["metadata"].get("finalizers", [])]

    def why(self, job, *words):
        """Waits until `detent why` says all of them."""
        def told():
            text = self.cli("why", "job/" + job)
            return text if all(word in text for word in words) else None

        try:
            return wait_until(told, f"why says {words}", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {self.cli('why', 'job/' + job)}") from None

    def status(self, job):
        return self.object("jobs/" + job)["status"]

    def wait_pods(self, job, count, phase="Running"):
        def reached():
            pods = [pod for pod in self.pods(job) if pod["status"].get("phase") == phase]
            return pods if len(pods) == count else None

        return wait_until(reached, f"{count} pods of {job} are {phase}")


class PodJobs(PodTest):
    def test_indexes_become_pods_and_none_is_held_afterwards(self):
        self.apply(self.pod_job("three", count=3))
        job = self.wait_phase("three", "Succeeded")
        self.assertEqual(job["status"]["succeededIndexes"], "0-2")
        self.assertEqual(self.items("tasks"), [], "the pods are the record")
        pods = wait_until(lambda: not self.tracked() and self.pods("three"), "all are let go of")
        self.assertEqual(sorted(pod["metadata"]["name"] for pod in pods),
                         ["three-0-1", "three-1-1", "three-2-1"])
        labels = pods[0]["metadata"]["labels"]
        self.assertNotIn("detent.dev/tracked-by", labels)
        self.assertEqual(labels["execution.detent.dev/job-uid"], job["metadata"]["uid"])
        whole = self.cluster.kubectl("get", "pods", "-o", "json", "--show-managed-fields")
        self.assertNotIn("managedFields", whole, "nobody applies to what has ended")

    def test_a_failing_pod_is_tried_again_and_says_why(self):
        self.apply(self.pod_job("fails", outcome="fail", exit_code="3", reason="OOMKilled",
                                maxAttempts=2, retryDelaySeconds=0))
        job = self.wait_phase("fails", "Failed", 30)
        self.assertEqual([record["attempt"] for record in job["status"]["tasks"]["failed"]], [1, 2])
        record = job["status"]["tasks"]["failed"][-1]
        self.assertEqual((record["reason"], record["exitCode"]), ("OOMKilled", 3))
        self.assertEqual(len(self.pods("fails")), 2)

    def test_a_kill_ends_the_pods_and_is_confirmed(self):
        self.apply(self.pod_job("killed", count=2, outcome="hang"))
        self.wait_pods("killed", 2)
        self.cli("kill", "job/killed")
        self.wait_phase("killed", "Killed", 40)
        wait_until(lambda: not [pod for pod in self.pods("killed")
                                if pod["status"]["phase"] in ("Pending", "Running")],
                   "no pod of it runs")

    def test_a_deleted_job_leaves_no_pod_held(self):
        self.apply(self.pod_job("deleted", count=3, outcome="hang"))
        self.wait_pods("deleted", 3)
        self.cli("delete", "job/deleted")
        wait_until(lambda: self.object("jobs/deleted") is None, "the Job is gone", 40)
        wait_until(lambda: not self.tracked(), "nothing is held")

    def test_live_pods_are_taken_up_after_kill_9(self):
        self.apply(self.pod_job("lives", count=20, after="6s"))
        self.wait_pods("lives", 20)
        before = {pod["metadata"]["uid"] for pod in self.pods("lives")}
        self.kill_host()
        self.host_up()
        job = self.wait_phase("lives", "Succeeded", 40)
        self.assertEqual(job["status"]["succeededIndexes"], "0-19")
        self.assertEqual({pod["metadata"]["uid"] for pod in self.pods("lives")}, before)

    def test_pods_that_end_while_the_host_is_away_are_counted(self):
        self.apply(self.pod_job("away", count=5, after="2s"))
        self.wait_pods("away", 5)
        self.kill_host()
        self.wait_pods("away", 5, "Succeeded")
        self.host_up()
        job = self.wait_phase("away", "Succeeded", 30)
        self.assertEqual(job["status"]["createdTasks"], 5)

    def test_a_pod_deleted_by_hand_is_a_failure_of_its_attempt(self):
        self.apply(self.pod_job("hand", outcome="hang", maxAttempts=2, retryDelaySeconds=0))
        self.wait_pods("hand", 1)
        self.cluster.kubectl("delete", "pod", "hand-0-1", "--wait=false")
        wait_until(lambda: [pod for pod in self.pods("hand")
                            if pod["metadata"]["name"] == "hand-0-2"], "the next attempt begins")
        self.assertEqual(self.status("hand")["failedAttempts"], [{"attempt": 1, "indexes": "0"}])
        self.assertEqual(self.status("hand")["tasks"]["failed"][0]["reason"], "PodDeleted")
        self.cluster.kubectl("annotate", "--overwrite", "pod/hand-0-2",
                             "fake.detent.dev/outcome=succeed")
        self.wait_phase("hand", "Succeeded")

    def test_a_pod_taken_away_by_force_is_a_failure_too(self):
        self.apply(self.pod_job("force", outcome="hang", maxAttempts=2, retryDelaySeconds=0))
        self.wait_pods("force", 1)
        self.cluster.kubectl("patch", "pod/force-0-1", "--type=merge", "-p",
                             '{"metadata":{"finalizers":null}}')
        self.cluster.kubectl("delete", "pod", "force-0-1", "--grace-period=0", "--force")
        wait_until(lambda: [pod for pod in self.pods("force")
                            if pod["metadata"]["name"] == "force-0-2"], "the next attempt begins")
        self.cluster.kubectl("annotate", "--overwrite", "pod/force-0-2",
                             "fake.detent.dev/outcome=succeed")
        self.wait_phase("force", "Succeeded")

    def test_a_pod_taken_away_by_force_while_the_host_is_away_is_a_failure(self):
        self.apply(self.pod_job("gone", outcome="hang", maxAttempts=2, retryDelaySeconds=0))
        self.wait_pods("gone", 1)
        wait_until(lambda: self.status("gone").get("activeIndexes") == "0", "it was seen")
        self.kill_host()
        self.cluster.kubectl("patch", "pod/gone-0-1", "--type=merge", "-p",
                             '{"metadata":{"finalizers":null}}')
        self.cluster.kubectl("delete", "pod", "gone-0-1", "--grace-period=0", "--force")
        self.host_up()
        wait_until(lambda: [pod for pod in self.pods("gone")
                            if pod["metadata"]["name"] == "gone-0-2"], "the next attempt begins")
        self.assertEqual(self.status("gone")["failedAttempts"], [{"attempt": 1, "indexes": "0"}])

    def test_a_spec_that_the_server_refuses_fails_with_its_words_and_is_not_repeated(self):
        bad = {"containers": [{"name": "main", "image": "x",
                               "volumeMounts": [{"name": "nowhere", "mountPath": "/x"}]}]}
        self.apply(self.pod_job("refused", spec=bad, maxAttempts=5))
        job = self.wait_phase("refused", "Failed")
        self.assertIn("nowhere", json.dumps(job["status"]["tasks"]["failed"]))
        self.assertEqual(job["status"]["createdTasks"], 1)

    def test_a_foreign_pod_of_the_same_name_is_left_alone(self):
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod",
                            "metadata": {"name": "taken-0-1"},
                            "spec": {"containers": [{"name": "x", "image": "x"}]}})
        self.apply(self.pod_job("taken", maxAttempts=1))
        job = self.wait_phase("taken", "Failed")
        self.assertIn("NameTaken", json.dumps(job["status"]))
        foreign = self.cluster.get("pod", "taken-0-1")
        self.assertNotIn("deletionTimestamp", foreign["metadata"])
        self.assertNotIn("finalizers", foreign["metadata"])

    def test_the_example_runs_and_leaves_no_pod(self):
        self.cli("apply", "-f", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                             "../../examples/pods/job.yaml"))
        self.assertEqual(self.wait_phase("squares", "Succeeded", 60)["status"]["createdTasks"], 10)
        wait_until(lambda: not self.pods("squares"), "deletePods: OnSuccess")

    def test_the_termination_message_is_the_result(self):
        self.apply(self.pod_job("says", termination_message='{"rows": 7}'))
        self.wait_phase("says", "Succeeded")

    def test_an_orphan_of_a_lost_data_directory_job_is_let_go(self):
        self.apply(self.pod_job("orphan", outcome="hang"))
        self.wait_pods("orphan", 1)
        # The Job vanishes by force, as if nobody had waited for its pods.
        self.request("PATCH", "jobs/orphan", {"metadata": {"finalizers": None}},
                     "application/merge-patch+json")
        self.request("DELETE", "jobs/orphan")
        self.kill_host()
        self.host_up()
        wait_until(lambda: not self.tracked(), "nothing is held", 40)


class PodFaults(PodTest):
    proxied = True

    def test_a_lost_reply_of_a_creation_doubles_nothing(self):
        rule = self.cluster.rule("drop-reply", method="^POST$", path="/pods", count=3)
        self.apply(self.pod_job("lost", count=10))
        job = self.wait_phase("lost", "Succeeded", 60)
        self.assertEqual(self.cluster.applied(rule), 3)
        self.assertEqual(job["status"]["createdTasks"], 10)
        self.assertEqual(len(self.pods("lost")), 10)

    def test_what_was_not_let_go_of_before_kill_9_is_let_go_of_after(self):
        rule = self.cluster.rule("drop-request", method="^PATCH$", path="/pods")
        self.apply(self.pod_job("held", count=3))
        self.wait_phase("held", "Succeeded", 40)
        wait_until(lambda: self.cluster.applied(rule) > 0, "it was tried")
        self.assertEqual(len(self.tracked()), 3)
        self.kill_host()
        self.cluster.no_rules()
        self.host_up()
        wait_until(lambda: not self.tracked(), "nothing is held")
        self.assertEqual(self.status("held")["createdTasks"], 3)

    def test_busy_and_failing_servers_are_waited_out(self):
        self.cluster.rule("answer", method="^POST$", path="/pods", count=4, status=429)
        self.cluster.rule("answer", method="^POST$", path="/pods", count=4, status=503)
        self.apply(self.pod_job("busy", count=10))
        job = self.wait_phase("busy", "Succeeded", 60)
        self.assertEqual(job["status"]["createdTasks"], 10)

    def test_watches_that_are_cut_or_expire_lose_nothing(self):
        self.apply(self.pod_job("cut", count=10, after="4s"))
        self.wait_pods("cut", 10)
        self.cluster.steer("cut", "watch=")
        self.cluster.rule("answer", method="^GET$", path="watch=", count=1, status=410)
        self.assertEqual(self.wait_phase("cut", "Succeeded", 60)["status"]["createdTasks"], 10)

    def test_an_api_server_that_is_killed_and_comes_back_loses_nothing(self):
        self.apply(self.pod_job("down", count=10, after="5s"))
        self.wait_pods("down", 10)
        self.cluster.component("kill", "apiserver")
        self.cluster.component("start", "apiserver")
        self.assertEqual(self.wait_phase("down", "Succeeded", 90)["status"]["createdTasks"], 10)


class RealPods(PodTest):
    nodes = "real:1"
    flags = ("--proxy",)

    def real_job(self, name, script, **template):
        spec = {"containers": [{"name": "main", "image": "localhost/busybox:1",
                                "imagePullPolicy": "Never", "command": ["sh", "-c", script]}]}
        return self.pod_job(name, node="real", spec=spec, **template)

    def test_real_containers_run_say_something_and_end(self):
        self.apply(self.real_job("real", "echo hello $DETENT_TASK_INDEX; sleep 1; echo bye",
                                 count=2))
        self.wait_pods("real", 2)
        followed = self.cli("logs", "-f", "job/real", timeout=60)
        self.wait_phase("real", "Succeeded", 60)
        for line in ("[0/1] hello 0", "[1/1] hello 1", "[0/1] bye", "[1/1] bye"):
            self.assertIn(line, followed)
        self.assertEqual(self.cli("logs", "job/real", "--index", "1"), "hello 1\nbye\n")

    def test_an_exit_code_is_the_containers(self):
        self.apply(self.real_job("exits", "echo said > /dev/termination-log; exit 7"))
        job = self.wait_phase("exits", "Failed", 60)
        self.assertEqual(job["status"]["tasks"]["failed"][0]["exitCode"], 7)

    def test_a_container_is_killed_with_its_grace(self):
        self.apply(self.real_job("grace", "trap 'exit 0' TERM; while :; do sleep 0.1; done"))
        self.wait_pods("grace", 1)
        self.cli("kill", "job/grace")
        self.wait_phase("grace", "Killed", 60)
