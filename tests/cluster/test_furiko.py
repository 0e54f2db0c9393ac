"""Manifests for Furiko where Detent runs: what kubectl applies to execution.furiko.io is carried
out, shown there, killed and deleted there, and a real Furiko is let alone."""

import collections
import json
import os
import signal
import subprocess
import unittest

from cluster import ClusterTest, leave_out, wait_until
from home import BIN, GROUP, HomeTest, manifest, pod_template

FURIKO = "execution.furiko.io"
KINDS = ("jobconfigs", "jobs")


def furiko(kind, name, spec, **metadata):
    whole = manifest(kind, name, spec, **metadata)
    whole["apiVersion"] = FURIKO + "/v1alpha1"
    return whole


def every(seconds, template, **spec):
    return dict({"concurrency": {"policy": "Allow"}, "template": {"spec": template},
                 "schedule": {"cron": {"expression": f"*/{seconds} * * * * * *"}}}, **spec)


class Furiko(HomeTest):
    @classmethod
    def install(cls, *arguments):
        cls.dry = cls.install_prints("--with-furiko-group", "--dry-run")
        super().install("--with-furiko-group", *arguments)

    @classmethod
    def install_prints(cls, *arguments):
        done = subprocess.run([BIN, "install", "--kubeconfig", cls.cluster.kubeconfig, *arguments],
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    def end(self):
        if not any(host.process.poll() is None for host in self.hosts):
            self.host("cleaner")
        for kind in KINDS:
            self.cluster.kubectl("delete", f"{kind}.{FURIKO}", "--all", "-A", "--wait=false")
        wait_until(lambda: not self.items(f"jobs.{FURIKO}"), "no Job of Furiko's is left", 60)
        super().end()

    def theirs(self, name, kind="job"):
        return self.cluster.get(f"{kind}.{FURIKO}", name)

    def wait_theirs(self, name, phase, seconds=40):
        def reached():
            job = self.theirs(name)
            return job if job and job.get("status", {}).get("phase") == phase else None

        try:
            return wait_until(reached, f"Furiko's {name} is {phase}", seconds)
        except AssertionError as error:
            logs = "\n".join(host.name + ":\n" + host.logged()[-3000:] for host in self.hosts)
            raise AssertionError(f"{error}; it is {self.theirs(name)}; ours is "
                                 f"{self.job(name)}\n{logs}") from None

    def uids_of_pods(self, job):
        pods = self.items("pods", "-l", f"{GROUP}/job={job}")
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}

    # The installation.

    def test_the_kinds_are_installed_and_left_alone_by_an_installation_without_the_flag(self):
        for kind in KINDS:
            line = f"customresourcedefinition.apiextensions.k8s.io/{kind}.{FURIKO} created"
            self.assertIn(line + " (dry run)", self.dry)
        before = self.cluster.get("crd", f"jobs.{FURIKO}")
        self.assertIn("detent.dev/version", before["metadata"]["annotations"])
        self.assertNotIn(FURIKO, self.install_prints())
        self.assertEqual(self.cluster.get("crd", f"jobs.{FURIKO}"), before)
        can = self.cluster.kubectl("auth", "can-i", "create", f"jobconfigs.{GROUP}", "--as",
                                   "system:serviceaccount:detent:detent", "-n", "default")
        self.assertEqual(can.strip(), "yes")
        again = self.install_prints("--with-furiko-group").splitlines()
        self.assertEqual({line.split()[1] for line in again[:-1]}, {"unchanged"})

    # Jobs.

    def test_a_job_runs_its_pods_and_says_so_in_furikos_terms(self):
        self.host("one")
        self.leader()
        self.cluster.apply(furiko("Job", "once", {"template": pod_template(2, "300ms")}))
        status = self.wait_theirs("once", "Succeeded")["status"]
        self.assertEqual(status["state"], "Finished")
        self.assertEqual(status["condition"]["finished"]["result"], "Success")
        self.assertEqual(status["createdTasks"], 2)
        self.assertEqual([task["status"]["result"] for task in status["tasks"]],
                         ["Succeeded", "Succeeded"])
        self.assertEqual([task["retryIndex"] for task in status["tasks"]], [0, 0])
        self.assertEqual(status["parallelStatus"], {"complete": True, "successful": True})
        ours = self.job("once")
        self.assertEqual(status["detentUID"], ours["metadata"]["uid"])
        self.assertNotIn("startPolicy", ours["spec"])
        owner = ours["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["apiVersion"], owner["uid"]),
                         (FURIKO + "/v1alpha1", self.theirs("once")["metadata"]["uid"]))
        self.cluster.kubectl("delete", f"job.{FURIKO}", "once")
        wait_until(lambda: self.job("once") is None, "ours goes with it", 30)

    def test_the_older_form_of_a_task_is_taken(self):
        self.host("one")
        self.leader()
        template = pod_template()
        template["task"] = {"template": template.pop("taskTemplate")}
        self.cluster.apply(furiko("Job", "older", {"template": template}))
        self.wait_theirs("older", "Succeeded")

    def test_a_job_is_killed_and_deleted_through_furikos_group(self):
        self.host("one")
        self.leader()
        for name in ("killed", "deleted"):
            self.cluster.apply(furiko("Job", name, {"template": pod_template(2, "300s")}))
        for name in ("killed", "deleted"):
            self.wait_theirs(name, "Running")
        self.cluster.kubectl("patch", f"job.{FURIKO}", "killed", "--type=merge", "-p",
                             json.dumps({"spec": {"killTimestamp": "2026-01-01T00:00:00Z"}}))
        self.cluster.kubectl("delete", f"job.{FURIKO}", "deleted", "--wait=false")
        self.wait_theirs("killed", "Killed")
        wait_until(lambda: self.job("deleted") is None and not self.uids_of_pods("deleted"),
                   "ours and its pods are gone", 40)

    def test_a_job_whose_time_to_live_is_over_goes_from_both_groups(self):
        self.host("one")
        self.leader()
        self.cluster.apply(furiko("Job", "brief", {"template": pod_template(),
                                                   "ttlSecondsAfterFinished": 0}))
        wait_until(lambda: self.theirs("brief") is None, "it is gone", 30)
        self.assertIsNone(self.job("brief"))
        self.assertEqual(len(self.uids_of_pods("brief")) <= 1, True, "it ran once")

    def test_a_bad_manifest_says_why_and_makes_nothing(self):
        self.host("one")
        self.leader()
        bad = furiko("Job", "bad", {"template": pod_template(0)})
        told = self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(bad), code=1)
        self.assertIn("withCount", told)
        template = {"taskTemplate": {"http": {"request": {"method": "GET", "url": "no URL"}}}}
        self.cluster.apply(
            furiko("Job", "refused", {"template": template}),
            furiko("JobConfig", "refused", every(2, pod_template(), schedule={
                "cron": {"expression": "61 * * * *"}})))
        status = self.wait_theirs("refused", "AdmissionError")["status"]
        self.assertIn("url", status["condition"]["finished"]["message"])
        config = wait_until(lambda: self.theirs("refused", "jobconfig").get("status"),
                            "its status says something")
        self.assertEqual(config["state"], "AdmissionError")
        self.assertIn("61 * * * *", config["message"])
        self.assertIsNone(self.job("refused"))
        self.assertIsNone(self.cluster.get(f"jobconfig.{GROUP}", "refused"))

    def test_a_name_that_is_taken_is_said_and_nothing_is_overwritten(self):
        self.host("one")
        self.leader()
        self.cluster.apply(manifest("Job", "taken", {"template": pod_template(1, "300s")}))
        before = self.wait_phase("taken", "Running")
        self.cluster.apply(furiko("Job", "taken", {"template": pod_template(3)}))
        status = self.wait_theirs("taken", "Queued")["status"]
        self.assertEqual(status["condition"]["queueing"]["reason"], "NameTaken")
        self.assertEqual(self.job("taken")["spec"], before["spec"])

    # JobConfigs.

    def test_a_job_config_runs_by_its_schedule_and_all_its_runs_are_shown(self):
        self.host("one")
        self.leader()
        self.cluster.apply(furiko("JobConfig", "tick", every(2, pod_template(1, "200ms"))))

        def shown():
            jobs = [job for job in self.items(f"jobs.{FURIKO}")
                    if job.get("status", {}).get("phase") == "Succeeded"]
            return jobs if len(jobs) >= 2 else None

        views = wait_until(shown, "two slots are shown", 40)
        uid = self.theirs("tick", "jobconfig")["metadata"]["uid"]
        for view in views:
            self.assertEqual(view["metadata"]["labels"][FURIKO + "/job-config-uid"], uid)
            ours = self.job(view["metadata"]["name"])
            self.assertEqual(view["metadata"]["ownerReferences"][0]["uid"], ours["metadata"]["uid"])
            self.assertEqual(view["spec"]["type"], "Scheduled")
        status = wait_until(lambda: self.theirs("tick", "jobconfig").get("status", {})
                            .get("lastScheduled") and self.theirs("tick", "jobconfig")["status"],
                            "the JobConfig's status is copied")
        self.assertIn(status["state"], ("ReadyEnabled", "Executing"))

        # A change of the JobConfig, a run by hand, and a deletion, all through Furiko's group.
        self.cluster.kubectl("patch", f"jobconfig.{FURIKO}", "tick", "--type=merge", "-p",
                             json.dumps({"spec": {"schedule": {"disabled": True}}}))
        wait_until(lambda: self.theirs("tick", "jobconfig")["status"]["state"] == "ReadyDisabled",
                   "the change is followed", 20)
        self.cluster.apply(furiko("Job", "by-hand", {"configName": "tick"}))
        self.wait_theirs("by-hand", "Succeeded")
        owner = self.job("by-hand")["metadata"]["ownerReferences"]
        self.assertEqual([one["name"] for one in owner], ["tick"])
        gone = views[0]["metadata"]["name"]
        self.cluster.kubectl("delete", f"job.{FURIKO}", gone, "by-hand")
        wait_until(lambda: self.job(gone) is None and self.job("by-hand") is None,
                   "what a view and an origin stood for is deleted", 30)
        self.cluster.kubectl("delete", f"jobconfig.{FURIKO}", "tick")
        wait_until(lambda: not self.items(f"jobs.{FURIKO}") and not self.items(f"jobs.{GROUP}"),
                   "all of it goes with the JobConfig", 40)

    def test_a_run_of_a_schedule_is_killed_through_its_view(self):
        self.host("one")
        self.leader()
        self.cluster.apply(furiko("JobConfig", "long", every(
            2, pod_template(1, "300s"), concurrency={"policy": "Forbid"})))
        view = wait_until(lambda: next((job for job in self.items(f"jobs.{FURIKO}") if job.get(
            "status", {}).get("phase") == "Running"), None), "a run is shown", 40)
        self.cluster.kubectl("patch", f"job.{FURIKO}", view["metadata"]["name"], "--type=merge",
                             "-p", json.dumps({"spec": {"killTimestamp": "2026-01-01T00:00:00Z"}}))
        self.wait_theirs(view["metadata"]["name"], "Killed")

    # Bad days.

    def test_hosts_that_are_killed_lose_nothing_and_double_nothing(self):
        names = [f"job-{number}" for number in range(12)]
        self.host("host-0")
        for number in range(4):
            leader = self.leader()
            # Another waits all the while, and takes over in the midst of it.
            self.host(f"host-{number + 1}")
            self.cluster.apply(*[furiko("Job", name, {"template": pod_template(2, "2s")})
                                 for name in names[number * 3:number * 3 + 3]])
            first = names[number * 3]
            # Each is killed at another point: created, noted, let go, running.
            seen = (lambda: self.job(first), lambda: (self.theirs(first).get("status")),
                    lambda: "startPolicy" not in (self.job(first) or {"spec": {"startPolicy": 1}})[
                        "spec"], lambda: self.uids_of_pods(first))[number]
            wait_until(seen, f"point {number} is reached", 30)
            leader.send(signal.SIGKILL)
            leader.process.wait()
        self.leader()
        begun = {}
        for name in names:
            self.wait_theirs(name, "Succeeded", 60)
            begun[name] = self.uids_of_pods(name)
        counts = collections.Counter(len(pods) for pods in begun.values())
        self.assertEqual(counts, {2: len(names)})
        for name in names:
            self.assertEqual(self.job(name)["status"]["createdTasks"], 2)
        self.assertEqual(len(self.items(f"jobs.{GROUP}")), len(names))


class Later(HomeTest):
    def test_a_host_that_leads_notices_that_the_kinds_have_come(self):
        self.host("one")
        self.leader()
        type(self).install("--with-furiko-group")
        job = furiko("Job", "late", {"template": pod_template()})
        self.cluster.apply(job)
        self.wait_phase("late", "Succeeded")


class RealFuriko(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        if not os.access(BIN, os.X_OK):
            leave_out(f"{BIN} is not built; DETENT_BIN names another")
        super().setUpClass()

    def install(self):
        return subprocess.run([BIN, "install", "--kubeconfig", self.cluster.kubeconfig,
                               "--with-furiko-group"],
                              capture_output=True, text=True, timeout=120, check=False)

    def made(self, document):
        self.cluster.apply(document)
        self.addCleanup(self.cluster.kubectl, "delete", "-f", "-", stdin=json.dumps(document))

    def refused(self, *words):
        done = self.install()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in ("a Furiko is installed in this cluster", "remove it first", *words):
            self.assertIn(word, done.stderr)
        self.assertIsNone(self.cluster.get("namespace", "detent"), "nothing was applied")

    def test_definitions_that_are_not_ours_are_refused(self):
        names = {"kind": "Job", "listKind": "JobList", "plural": "jobs", "singular": "job"}
        schema = {"openAPIV3Schema": {"type": "object",
                                      "x-kubernetes-preserve-unknown-fields": True}}
        self.made({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                   "metadata": {"name": "jobs." + FURIKO},
                   "spec": {"group": FURIKO, "scope": "Namespaced", "names": names,
                            "versions": [{"name": "v1alpha1", "served": True, "storage": True,
                                          "schema": schema}]}})
        self.refused(f"customresourcedefinition jobs.{FURIKO} is not one that Detent has put there")

    def test_a_webhook_of_any_name_for_its_group_is_refused(self):
        rule = {"apiGroups": [FURIKO], "apiVersions": ["v1alpha1"], "operations": ["CREATE"],
                "resources": ["jobs"]}
        self.made({"apiVersion": "admissionregistration.k8s.io/v1",
                   "kind": "MutatingWebhookConfiguration", "metadata": {"name": "mutating"},
                   "webhooks": [{"name": "a.example.com", "admissionReviewVersions": ["v1"],
                                 "sideEffects": "None", "rules": [rule], "failurePolicy": "Ignore",
                                 "clientConfig": {"url": "https://127.0.0.1:1/x"}}]})
        self.refused("mutatingwebhookconfigurations 'mutating' ask about its objects")


if __name__ == "__main__":
    unittest.main()
