"""Bad days that others make: kinds, rights, room and namespaces that are not there, clocks that
differ, people and programs that edit what is ours, Pods by the thousand that are not ours."""

import datetime
import json
import os
import re
import signal
import time
import unittest

import test_pod_jobs
from cluster import leave_out, wait_until
from home import DEFAULT_ELECTION, GROUP, LEASE, HomeTest, manifest, pod_template

KINDS = ("jobconfigs", "jobs", "tasks")
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
SLOT = "execution.detent.dev/slot"


def seconds(time_text):
    """Since 1970, of a time as objects have it."""
    return datetime.datetime.fromisoformat(time_text.replace("Z", "+00:00")).timestamp()


def failing_template(**template):
    """Of a Job whose pods fail at once."""
    whole = pod_template(1, "500ms", **template)
    annotations = whole["taskTemplate"]["pod"]["metadata"]["annotations"]
    annotations.update({"fake.detent.dev/outcome": "fail", "fake.detent.dev/exit-code": "3"})
    return whole


class Rights:
    def take_away(self, binding):
        """A binding of the host's rights; the answer gives it back."""
        document = self.cluster.get("-n", "detent", binding)
        for member in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            document["metadata"].pop(member, None)
        self.cluster.kubectl("-n", "detent", "delete", binding)
        given_back = []

        def give_back():
            if not given_back:
                given_back.append(True)
                self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(document))

        self.addCleanup(give_back)
        return give_back


class Neighbours(Rights, HomeTest):
    def wait_reason(self, name, reason):
        return self.wait_status(name, lambda status: status.get("reason") == reason,
                                f"its reason is {reason}")

    def wait_ready(self, host, code, *words):
        def told():
            status, text = host.ask("/readyz")
            self.assertEqual(host.ask("/livez")[0], 200)
            return status == code and all(word in text for word in words)

        try:
            wait_until(told, f"/readyz says {code}, {words}", 30)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {host.ask('/readyz')}\n"
                                 f"{host.logged()[-3000:]}") from None

    # Kinds.

    def test_kinds_that_are_not_there_are_named_and_waited_for(self):
        self.cluster.kubectl("delete", "crd", *(f"{kind}.{GROUP}" for kind in KINDS))
        self.addCleanup(self.install)
        host = self.host("early")
        self.wait_ready(host, 503, "run `detent install` for the cluster")
        self.install()
        self.leader(60)
        self.wait_ready(host, 200)
        self.cluster.apply(manifest("Job", "after", {"template": pod_template(2)}))
        self.wait_phase("after", "Succeeded")

    def test_kinds_of_an_older_version_are_named_and_nothing_is_begun_that_they_would_forget(self):
        self.cluster.kubectl("patch", "crd", f"jobs.{GROUP}", "--type=json", "-p", json.dumps(
            [{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status"
                                      "/properties/reservedIndexes"}]))
        # They are the patch's now, for the API server.
        self.addCleanup(self.install, "--force-conflicts")
        host = self.host("newer")
        self.leader()
        self.cluster.apply(manifest("Job", "kept", {"template": pod_template(2)}))
        self.wait_ready(host, 503, "does not keep all of the status of jobs",
                        "run `detent install`")
        self.assertEqual(self.items("pods"), [])
        self.install("--force-conflicts")
        job = self.wait_phase("kept", "Succeeded")
        self.assertEqual(job["status"]["createdTasks"], 2)
        self.wait_ready(host, 200)

    # Rights.

    def test_a_job_says_which_right_its_pods_lack_and_goes_on_with_it(self):
        self.host("one")
        self.leader()
        give_back = self.take_away("clusterrolebinding/detent-executor-pod")
        self.cluster.apply(manifest("Job", "lacks", {"template": dict(pod_template(2),
                                                                       maxAttempts=1)}))
        job = self.wait_reason("lacks", "CreatePodsForbidden")
        self.assertIn('cannot create resource "pods"', job["status"]["message"])
        give_back()
        job = self.wait_phase("lacks", "Succeeded", 60)
        self.assertEqual(job["status"]["createdTasks"], 2)
        self.assertNotIn("reason", job["status"])

    def test_a_host_without_rights_to_its_kinds_says_which(self):
        give_back = self.take_away("clusterrolebinding/detent")
        host = self.host("powerless")
        self.wait_ready(host, 503, 'cannot watch resource "jobconfigs"', GROUP)
        give_back()
        self.leader(60)
        self.wait_ready(host, 200)

    def test_a_host_without_rights_to_its_lease_says_which(self):
        give_back = self.take_away("rolebinding/detent")
        host = self.host("powerless")
        self.wait_ready(host, 503, 'cannot get resource "leases"')
        give_back()
        self.leader(60)

    # Room.

    def test_a_quota_that_is_used_up_is_waited_for_and_named(self):
        self.host("one")
        self.leader()
        self.cluster.kubectl("create", "quota", "few", "--hard=pods=2")
        self.addCleanup(self.cluster.kubectl, "delete", "quota", "few", "--ignore-not-found")
        wait_until(lambda: self.cluster.get("quota", "few").get("status", {}).get("hard"),
                   "the quota holds")
        self.cluster.apply(manifest("Job", "many", {"template": dict(pod_template(4, "2s"),
                                                                     maxAttempts=1)}))
        job = self.wait_reason("many", "QuotaExceeded")
        self.assertIn("exceeded quota: few", job["status"]["message"])
        # Pods that have ended count no more, so there is room again and again.
        job = self.wait_phase("many", "Succeeded", 60)
        self.assertEqual((job["status"]["createdTasks"], job["status"]["succeededIndexes"]),
                         (4, "0-3"))

    # Namespaces.

    def test_a_namespace_that_goes_is_held_up_by_nothing(self):
        self.host("one")
        self.leader()
        self.cluster.kubectl("create", "namespace", "leaving")
        template = pod_template(3, "60s")
        self.cluster.apply(
            manifest("JobConfig", "tick", {
                "concurrency": {"policy": "Allow"},
                "schedule": {"cron": {"expression": "*/2 * * * * * *"}},
                "template": {"spec": template}}, namespace="leaving"),
            manifest("Job", "goes", {"template": template}, namespace="leaving"))
        wait_until(lambda: len(self.items("pods")) >= 6, "pods of both are there")
        self.cluster.kubectl("delete", "namespace", "leaving", "--wait=false")
        wait_until(lambda: self.cluster.get("namespace", "leaving") is None,
                   "the namespace is gone", 60)

    # Clocks.

    @staticmethod
    def faketime(offset):
        """The environment of a process whose clock is another. What measures time is as it was:
        its library can move that too, but no waiting with it."""
        if not os.path.exists(FAKETIME):
            leave_out(f"{FAKETIME} is not there; tests/install_dependencies.sh installs it")
        return {"LD_PRELOAD": FAKETIME, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def trusting(self):
        """Of a host to whom the cluster's certificate, minutes old, may be of the future."""
        with open(self.host_kubeconfig, encoding="utf-8") as file:
            view = json.load(file)
        for one in view["clusters"]:
            one["cluster"].pop("certificate-authority-data", None)
            one["cluster"].pop("certificate-authority", None)
            one["cluster"]["insecure-skip-tls-verify"] = True
        path = self.host_kubeconfig + ".trusting"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(view, file)
        return path

    def check_clock(self, hours):
        """A host whose clock is so many hours ahead leads beside one whose clock is right."""
        skewed = self.host("skewed", self.trusting(), **self.faketime(f"{hours:+d}h"))
        self.leader()
        right = self.host("right")
        wait_until(lambda: "ask skewed_" in right.ask("/apis/x")[1], "it knows who leads")
        begun = time.time() + hours * 3600
        self.cluster.apply(
            manifest("JobConfig", "tick", {
                "concurrency": {"policy": "Allow"},
                "schedule": {"cron": {"expression": "*/3 * * * * * *"}},
                "template": {"spec": pod_template(1, "500ms")}}),
            manifest("Job", "fails", {"template": failing_template(
                maxAttempts=2, retryDelaySeconds=1, taskPendingTimeoutSeconds=30)}))

        def slots():
            done = [job for job in self.items(f"jobs.{GROUP}")
                    if job["metadata"]["name"].startswith("tick-")
                    and job.get("status", {}).get("phase") == "Succeeded"]
            return sorted(job["metadata"]["annotations"][SLOT] for job in done)

        told = wait_until(lambda: len(slots()) > 1 and slots(), "two slots ran", 30)
        first = seconds(told[0])
        self.assertGreater(first, begun - 1, "none is caught up with that was before the JobConfig")
        self.assertLess(first, begun + 20, "slots are those of the host's clock")
        job = self.wait_phase("fails", "Failed", 30)
        self.assertEqual([record["reason"] for record in job["status"]["tasks"]["failed"]],
                         ["ExitCode", "ExitCode"])
        self.assertTrue(skewed.works())
        died = skewed.send(signal.SIGKILL)
        wait_until(right.works, "the other works", 20)
        self.assertLess(time.monotonic() - died, LEASE + 2)

    def test_a_clock_that_is_ahead_moves_slots_and_nothing_else(self):
        self.check_clock(1)

    def test_a_clock_that_is_behind_moves_slots_and_nothing_else(self):
        self.check_clock(-1)


class Editors(HomeTest):
    """People and programs that change what is ours while it is in use."""

    def running(self, name, after, count=2):
        self.host("one")
        self.leader()
        self.cluster.apply(manifest("Job", name, {"template": pod_template(count, after)}))
        self.wait_status(name, lambda status: status.get("runningTasks") == count, "its pods run")

    def patch(self, what, patch, *flags, kind="merge"):
        self.cluster.kubectl("patch", what, f"--type={kind}", "-p", json.dumps(patch), *flags)

    def test_a_status_that_others_wrote_is_written_over(self):
        self.running("lied", "3s")
        self.patch(f"job.{GROUP}/lied", {"status": {
            "phase": "Failed", "succeeded": 99, "succeededIndexes": "0-98", "reservedIndexes": 50,
            "finishTime": "2026-01-01T00:00:00Z"}}, "--subresource=status")
        job = self.wait_phase("lied", "Succeeded")
        self.assertEqual((job["status"]["succeeded"], job["status"]["succeededIndexes"],
                          job["status"]["createdTasks"], job["status"]["reservedIndexes"]),
                         (2, "0-1", 2, 2))

    def test_labels_annotations_and_finalizers_of_others_stay_and_ours_are_not_needed(self):
        self.running("edited", "3s")
        kubectl = self.cluster.kubectl
        kubectl("label", f"job.{GROUP}/edited", "theirs=label")
        kubectl("annotate", f"job.{GROUP}/edited", "theirs=annotation")
        self.patch(f"job.{GROUP}/edited", {"metadata": {"finalizers": ["theirs.example/one"]}})
        self.patch("pod/edited-0-1", {"metadata": {"finalizers": None}})
        job = self.wait_phase("edited", "Succeeded")
        self.assertEqual(job["status"]["succeededIndexes"], "0-1")
        metadata = job["metadata"]
        self.assertEqual((metadata["labels"]["theirs"], metadata["annotations"]["theirs"],
                          metadata["finalizers"]), ("label", "annotation", ["theirs.example/one"]))
        self.patch(f"job.{GROUP}/edited", {"metadata": {"finalizers": None}})
        wait_until(lambda: not self.tracked(), "all are let go of")

    def test_a_job_that_is_taken_away_by_force_leaves_no_pod_held(self):
        self.running("forced", "60s")
        self.patch(f"job.{GROUP}/forced", {"metadata": {"finalizers": None}})
        self.cluster.kubectl("delete", f"job.{GROUP}/forced", "--wait=false")
        wait_until(lambda: self.job("forced") is None, "the Job is gone", 20)
        wait_until(lambda: not self.items("pods"), "its pods are gone, too", 30)

    def test_a_job_is_gone_with_its_pods_however_its_deletion_cascades(self):
        self.running("orphan", "60s")
        for cascade in ("orphan", "foreground"):
            if cascade == "foreground":
                self.cluster.apply(manifest("Job", cascade, {"template": pod_template(2, "60s")}))
                self.wait_status(cascade, lambda status: status.get("runningTasks") == 2)
            self.cluster.kubectl("delete", f"job.{GROUP}/{cascade}", f"--cascade={cascade}",
                                 "--wait=false")
            wait_until(lambda name=cascade: self.job(name) is None, "the Job is gone", 30)
            wait_until(lambda: not self.tracked(), "no pod is held")
            wait_until(lambda: not [pod for pod in self.items("pods")
                                    if pod["status"]["phase"] in ("Pending", "Running")],
                       "none of its pods runs", 30)

    def test_a_job_config_that_changes_as_slots_fall_due_has_one_job_for_each(self):
        self.host("one")
        self.leader()
        self.cluster.apply(manifest("JobConfig", "moves", {
            "concurrency": {"policy": "Allow"},
            "schedule": {"cron": {"expression": "* * * * * * *"}},
            "template": {"spec": pod_template(1)}}))

        def jobs():
            return [job for job in self.items(f"jobs.{GROUP}")
                    if job["metadata"]["name"].startswith("moves-")]

        attempts = 0
        while len(jobs()) < 5:
            attempts = attempts % 12 + 1
            self.patch(f"jobconfig.{GROUP}/moves",
                       {"spec": {"template": {"spec": {"maxAttempts": attempts}}},
                        "metadata": {"labels": {"round": str(attempts)}}})
        self.patch(f"jobconfig.{GROUP}/moves", {"spec": {"schedule": {"disabled": True}}})
        wait_until(lambda: "nextScheduled" not in
                   self.cluster.get(f"jobconfig.{GROUP}", "moves").get("status", {}), "it rests")
        wait_until(lambda: all(job.get("status", {}).get("phase") == "Succeeded"
                               for job in jobs()), "all its Jobs succeed")
        slots = sorted(seconds(job["metadata"]["annotations"][SLOT]) for job in jobs())
        self.assertGreater(len(slots), 2)
        self.assertEqual(slots, list(range(int(slots[0]), int(slots[0]) + len(slots))),
                         "every second of it, once")


class ForeignPods(HomeTest):
    """Pods that are none of ours: as many as DETENT_TEST_FOREIGN_PODS says."""

    COUNT = int(os.environ.get("DETENT_TEST_FOREIGN_PODS", "3000"))
    ours = ("-l", "app!=foreign")

    @staticmethod
    def resident(host):
        """Bytes of its process."""
        with open(f"/proc/{host.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) << 10

    def test_pods_of_others_cost_the_host_nothing(self):
        # That many keep a server busy, which may then be slow to renew a Lease.
        host = self.host("one", election=DEFAULT_ELECTION)
        self.leader()
        self.cluster.apply(manifest("Job", "before", {"template": pod_template(20)}))
        self.wait_phase("before", "Succeeded")
        before = self.resident(host)
        pod = {"metadata": {"labels": {"app": "foreign"}, "annotations": {"size": "x" * 3000}},
               # Left alone by the scheduler as well, which would come to ours behind them.
               "spec": {"schedulerName": "nobody",
                        "containers": [{"name": "main", "image": "x"}]}}
        self.cluster.apply({"apiVersion": "apps/v1", "kind": "ReplicaSet",
                            "metadata": {"name": "foreign"},
                            "spec": {"replicas": self.COUNT, "template": pod,
                                     "selector": {"matchLabels": {"app": "foreign"}}}})
        wait_until(lambda: self.cluster.get("replicaset", "foreign").get("status", {})
                   .get("replicas") == self.COUNT, "all foreign pods are there", 180 + self.COUNT / 50)
        self.cluster.apply(manifest("Job", "beside", {"template": pod_template(20)}))
        self.wait_phase("beside", "Succeeded")
        # For whoever keeps them they are 5 KB each.
        self.assertLess(self.resident(host) - before, 6 << 20)


class BesideTheCluster(test_pod_jobs.PodTest):
    def test_a_job_says_which_right_its_pods_lack_and_goes_on_with_it(self):
        kubectl = self.cluster.kubectl
        kubectl("create", "serviceaccount", "few")
        for name, verbs in (("watcher", "get,list,watch,patch,delete"), ("maker", "create")):
            kubectl("create", "clusterrole", name, f"--verb={verbs}", "--resource=pods")
            self.addCleanup(kubectl, "delete", f"clusterrole/{name}")
        kubectl("create", "clusterrolebinding", "watcher", "--clusterrole=watcher",
                "--serviceaccount=default:few")
        self.addCleanup(kubectl, "delete", "serviceaccount/few", "clusterrolebinding/watcher")
        self.kill_host()
        self.start_host("--kubeconfig", self.cluster.kubeconfig_of("few"))
        self.apply(self.pod_job("lacks", count=2, maxAttempts=1))
        self.why("lacks", "CreatePodsForbidden", 'cannot create resource "pods"')
        kubectl("create", "clusterrolebinding", "maker", "--clusterrole=maker",
                "--serviceaccount=default:few")
        self.addCleanup(kubectl, "delete", "clusterrolebinding/maker")
        job = self.wait_phase("lacks", "Succeeded", 60)
        self.assertEqual(job["status"]["createdTasks"], 2)
        # While its rights are there: they go first.
        self.kill_host()
        self.host_up()

    def test_a_quota_that_is_used_up_is_waited_for_and_named(self):
        self.cluster.kubectl("create", "quota", "few", "--hard=pods=2")
        self.addCleanup(self.cluster.kubectl, "delete", "quota", "few", "--ignore-not-found")
        wait_until(lambda: self.cluster.get("quota", "few").get("status", {}).get("hard"),
                   "the quota holds")
        self.apply(self.pod_job("many", count=4, after="2s", maxAttempts=1))
        self.why("many", "QuotaExceeded", "exceeded quota: few")
        job = self.wait_phase("many", "Succeeded", 60)
        self.assertEqual((job["status"]["createdTasks"], job["status"]["succeededIndexes"]),
                         (4, "0-3"))

    def test_a_namespace_that_goes_ends_its_jobs_and_is_held_up_by_nothing(self):
        self.cluster.kubectl("create", "namespace", "leaving")
        job = self.pod_job("goes", count=2, after="60s", maxAttempts=3, retryDelaySeconds=0)
        job["metadata"]["namespace"] = "leaving"
        self.apply(job)
        wait_until(lambda: len((self.cluster.get("pods", "-n", "leaving") or {"items": []})
                               ["items"]) == 2, "its pods are there")
        self.cluster.kubectl("delete", "namespace", "leaving", "--wait=false")
        wait_until(lambda: self.cluster.get("namespace", "leaving") is None,
                   "the namespace is gone", 60)
        path = "/apis/execution.detent.dev/v1alpha1/namespaces/leaving/jobs/goes"
        status = wait_until(lambda: (self.object(path) or {}).get("status"), "the Job is there")
        self.assertEqual(status["phase"], "Failed")
        self.assertIn("NamespaceTerminating", status["message"])
        self.request("DELETE", path)


if __name__ == "__main__":
    unittest.main()
