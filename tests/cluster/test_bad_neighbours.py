"""Bad days that others make: kinds, rights, room and namespaces that are not there, clocks that
differ, people and programs that edit what is ours, Pods by the thousand that are not ours."""

import datetime
import json
import os
import re
import signal
import subprocess
import time
import unittest

import test_pod_jobs
from cluster import leave_out, wait_until
from home import BIN, FINALIZER, GROUP, LEASE, HomeTest, manifest, pod_template

KINDS = ("jobconfigs", "jobs", "tasks")
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
DEPENDENTS = "execution.detent.dev/delete-dependents"
SLOT = "execution.detent.dev/slot"


def failing_template(**template):
    """Of a Job whose pods fail at once."""
    whole = pod_template(1, "500ms", **template)
    annotations = whole["taskTemplate"]["pod"]["metadata"]["annotations"]
    annotations.update({"fake.detent.dev/outcome": "fail", "fake.detent.dev/exit-code": "3"})
    return whole


def crds(version=None, without=None):
    """What `detent install` makes of our kinds, as of another version, or without a status field of
    Jobs."""
    documents = subprocess.run([BIN, "install", "--print"], capture_output=True, text=True,
                               check=True).stdout.split("---\n")
    text = "---\n".join(one for one in documents if "kind: CustomResourceDefinition" in one)
    return text if version is None else re.sub(r'detent.dev/version: ".*"',
                                               f'detent.dev/version: "{version}"', text)


class Rights:
    def take_away(self, binding):
        """A binding of the host's rights; the answer gives it back."""
        document = json.loads(self.cluster.kubectl("get", binding, "-o", "json"))
        for member in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            document["metadata"].pop(member, None)
        self.cluster.kubectl("delete", binding)
        given_back = []

        def give_back():
            if not given_back:
                given_back.append(True)
                self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(document))

        self.addCleanup(give_back)
        return give_back


class Neighbours(Rights, HomeTest):
    def wait_job(self, name, what, condition, seconds=40):
        """The Job, once its status is as the condition says."""
        def reached():
            job = self.job(name)
            return job if job and condition(job.get("status", {})) else None

        try:
            return wait_until(reached, f"{name}: {what}", seconds)
        except AssertionError as error:
            logs = "\n".join(host.name + ":\n" + host.logged()[-3000:] for host in self.hosts)
            raise AssertionError(f"{error}; it is {self.job(name)}\n{logs}") from None

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

    # Rights.

    def test_a_job_says_which_right_its_pods_lack_and_goes_on_with_it(self):
        self.host("one")
        self.leader()
        give_back = self.take_away("clusterrolebinding/detent-executor-pod")
        self.cluster.apply(manifest("Job", "lacks", {"template": dict(pod_template(2),
                                                                       maxAttempts=1)}))
        job = self.wait_job("lacks", "it says why it waits",
                            lambda status: status.get("reason") == "CreatePodsForbidden")
        self.assertIn('cannot create resource "pods"', job["status"]["message"])
        give_back()
        job = self.wait_phase("lacks", "Succeeded", 60)
        self.assertEqual(job["status"]["createdTasks"], 2)
        self.assertNotIn("reason", job["status"])

    def test_a_host_without_rights_to_its_kinds_says_which(self):
        give_back = self.take_away("clusterrolebinding/detent")
        host = self.host("powerless")
        self.wait_ready(host, 503, "cannot list resource", GROUP)
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
        job = self.wait_job("many", "it says why it waits",
                            lambda status: status.get("reason") == "QuotaExceeded")
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

    def faketime(self, offset):
        if not os.path.exists(FAKETIME):
            leave_out(f"{FAKETIME} is not there; tests/install_dependencies.sh installs it")
        return {"LD_PRELOAD": FAKETIME, "FAKETIME": offset}

    def check_clock(self, hours):
        """A host whose clock is so many hours ahead leads beside one whose clock is right."""
        skewed = self.host("skewed", **self.faketime(f"{hours:+d}h"))
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
        first = datetime.datetime.fromisoformat(told[0].replace("Z", "+00:00")).timestamp()
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


if __name__ == "__main__":
    unittest.main()
