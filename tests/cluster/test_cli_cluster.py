"""The command line on a cluster's API server, with the kinds that `detent install` puts there and no
host: what it sends is what a host would store, and what it says is what is stored."""

import json
import os
import re
import subprocess
import textwrap
import threading

import cluster
from cluster import HERE, ClusterTest, pod, wait_until

DETENT = os.environ.get("DETENT_BIN", os.path.join(HERE, "../../build/bin/detent"))
GROUP = "execution.detent.dev"
API = GROUP + "/v1alpha1"
EXEC = {"exec": {"command": ["true"]}}

FURIKO = """
apiVersion: execution.furiko.io/v1alpha1
kind: JobConfig
metadata: {name: NAME}
spec:
  concurrency: {policy: Forbid}
  schedule: {cron: {expression: "0 3 * * *", timezone: Asia/Singapore}}
  template:
    metadata: {labels: {team: data}}
    spec:
      task: {template: {exec: {command: ["true"]}}}
"""


def full(what):
    """For kubectl, to which a bare job is one of batch/v1."""
    return re.sub(r"^(job|task|jobconfig)\b", rf"\1.{GROUP}", what)


def environment(**more):
    kept = {key: value for key, value in os.environ.items()
            if key not in ("KUBECONFIG", "DETENT_SERVER")}
    return dict(kept, **more)


class Cli(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        if not os.access(DETENT, os.X_OK):
            cluster.leave_out(f"{DETENT} is not built; DETENT_BIN names another")
        super().setUpClass()
        cls.uninstalled = cls.run_cli("get", "jobs")
        installed = cls.run_cli("install")
        if installed.returncode != 0:
            raise AssertionError(installed.stderr)

    @classmethod
    def run_cli(cls, *arguments, stdin=None, kubeconfig=None, **more):
        return subprocess.run(
            [DETENT, *arguments, "--kubeconfig", kubeconfig or cls.cluster.kubeconfig],
            input=stdin, capture_output=True, text=True, timeout=120, check=False,
            env=environment(**more))

    def cli(self, *arguments, code=0, **options):
        """What it printed; both streams where it is to fail."""
        done = self.run_cli(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def object(self, what, namespace="default"):
        return self.cluster.get(full(what), "-n", namespace)

    def put(self, name, status=None, kind="Job", spec=None, metadata=None):
        """An object as a host writes it, with its status; it is gone after the test."""
        body = {"apiVersion": API, "kind": kind, "metadata": dict({"name": name}, **metadata or {}),
                "spec": spec or {"template": {"taskTemplate": EXEC}}}
        self.cluster.apply(body)
        self.addCleanup(self.cluster.kubectl, "delete", full(kind.lower()), name,
                        "--ignore-not-found", "--wait=false")
        if status:
            self.status(f"{kind.lower()}/{name}", status)
        return self.object(f"{kind.lower()}/{name}")

    def status(self, what, status):
        self.cluster.kubectl("patch", full(what), "--subresource=status", "--type=merge", "-p",
                             json.dumps({"status": status}))

    def remove(self, name):
        """A Job that no host will let go of."""
        self.cluster.kubectl("patch", full("job"), name, "--type=merge", "-p",
                             '{"metadata":{"finalizers":null}}', code=None)
        self.cluster.kubectl("delete", full("job"), name, "--ignore-not-found", "--wait=false")

    def config(self, name, **spec):
        whole = {"concurrency": {"policy": "Forbid"}, "template": {"spec": {"taskTemplate": EXEC}}}
        whole.update(spec)
        return self.put(name, kind="JobConfig", spec=whole)

    def child(self, config, name, status=None):
        """A Job of that JobConfig."""
        meta = config["metadata"]
        owner = {"apiVersion": API, "kind": "JobConfig", "name": meta["name"], "uid": meta["uid"],
                 "controller": True, "blockOwnerDeletion": True}
        labels = {f"{GROUP}/job-config": meta["name"], f"{GROUP}/job-config-uid": meta["uid"]}
        return self.put(name, status, metadata={"labels": labels, "ownerReferences": [owner]})

    def task(self, job, index, status, kind="exec", spec=None):
        meta = job["metadata"]
        return self.put(f"{meta['name']}-{index}-1", status, "Task", metadata={"labels": {
            f"{GROUP}/job": meta["name"], f"{GROUP}/job-uid": meta["uid"]}}, spec={
                "jobName": meta["name"], "jobUID": meta["uid"], "index": index, "attempt": 1,
                kind: spec or {"command": ["true"]}})


class OnACluster(Cli):
    # Where it is, and what is there.

    def test_kinds_that_are_not_installed_are_said_to_be(self):
        self.assertEqual(self.uninstalled.returncode, 1)
        self.assertRegex(self.uninstalled.stderr,
                         r"^error: Detent's kinds are not installed in the cluster at https://.*; "
                         r"run 'detent install'")

    def test_the_versions_are_ours_and_the_api_servers(self):
        self.assertRegex(self.cli("version"), r"^client: \d.*\ncluster: v1\.\d+\.\d+\n$")

    def test_the_namespace_is_that_of_the_context_unless_it_is_given(self):
        self.cluster.kubectl("create", "namespace", "team-a")
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", "team-a", "--wait=false")
        path = self.cluster.directory + "/team.kubeconfig"
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json"))
        config["contexts"][0]["context"]["namespace"] = "team-a"
        config["contexts"].append({"name": "other", "context": {
            key: value for key, value in config["contexts"][0]["context"].items()
            if key != "namespace"}})
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.cli("apply", "-f", "-", stdin=FURIKO.replace("NAME", "there"), kubeconfig=path)
        self.assertIsNotNone(self.object("jobconfig/there", "team-a"))
        self.assertIn("There are no jobconfigs in namespace default", self.run_cli(
            "get", "jobconfigs", "--context", "other", kubeconfig=path).stderr)
        self.assertIn("there", self.cli("get", "jobconfigs", "-n", "team-a"))
        # By the environment alone, with a context to say that a cluster is meant.
        done = subprocess.run([DETENT, "get", "jc", "--context", "other", "-n", "team-a"],
                              capture_output=True, text=True, timeout=60, check=False,
                              env=environment(KUBECONFIG=path))
        self.assertIn("there", done.stdout, done.stderr)

    def test_a_server_of_the_environment_wins_and_says_so(self):
        done = self.run_cli("get", "jobs", DETENT_SERVER="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("note: DETENT_SERVER is set", done.stderr)
        self.assertIn("`detent serve` is not running at http://127.0.0.1:1", done.stderr)

    def test_a_server_that_is_away_and_one_that_forbids_are_told_in_sentences(self):
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json"))
        path = self.cluster.directory + "/other.kubeconfig"

        def told(*arguments):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(config, file)
            return self.cli(*arguments, code=1, kubeconfig=path)

        config["users"][0]["user"]["as"] = "somebody"
        self.assertRegex(told("get", "jobs"), r'User "somebody" cannot list resource "jobs" in API '
                         r'group "execution.detent.dev" in the namespace "default"; ask for a role')
        config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
        self.assertRegex(told("get", "jobs"), r"^error: the API server at https://127.0.0.1:1 cannot "
                         r"be reached \(.*\); see whether the cluster is up")

    # Writing.

    def test_an_older_form_is_stored_as_a_host_stores_it_and_applying_it_again_changes_nothing(self):
        text = FURIKO.replace("NAME", "older")
        self.addCleanup(self.cli, "delete", "jobconfig/older", "--ignore-not-found")
        apply = ("apply", "-f", "-")
        shown = f"jobconfig.{GROUP}/older "
        self.assertEqual(self.cli(*apply, "--dry-run", stdin=text), shown + "created (dry run)\n")
        self.assertIsNone(self.object("jobconfig/older"))
        self.assertEqual(self.cli(*apply, stdin=text), shown + "created\n")
        self.assertEqual(self.cli(*apply, stdin=text), shown + "unchanged\n")
        before = self.object("jobconfig/older")["spec"]
        self.assertEqual(before["template"]["spec"], {"maxAttempts": 1, "taskTemplate": EXEC})
        self.assertIn("lastUpdated", before["schedule"])
        self.assertEqual(self.cli(*apply, stdin=text.replace("0 3", "0 4")), shown + "configured\n")
        after = self.object("jobconfig/older")["spec"]["schedule"]
        self.assertEqual(after["cron"]["expression"], "0 4 * * *")
        self.assertNotEqual(after["lastUpdated"], before["schedule"]["lastUpdated"])

    def test_all_mistakes_are_told_at_once_with_their_places(self):
        text = FURIKO.replace("NAME", "wrong").replace("0 3 * * *", "61 3 * * *").replace(
            "Forbid", "Never").replace("command:", "command: 7, cmmand:")
        told = self.cli("apply", "-f", "-", code=1, stdin=text)
        self.assertIn("<stdin>:6:", told)
        self.assertRegex(told, r"<stdin>:\d+:\d+: spec.concurrency.policy: ")
        self.assertRegex(told, r"<stdin>:\d+:\d+: spec.schedule.cron.expression: ")
        self.assertEqual(told, self.cli("validate", "-f", "-", code=1, stdin=text).replace(
            "<stdin>:", "error: <stdin>:").replace("2 mistakes\n", ""))

    def test_what_may_not_change_is_refused_at_its_place(self):
        job = {"apiVersion": API, "kind": "Job", "metadata": {"name": "fixed"},
               "spec": {"template": {"taskTemplate": EXEC}}}
        self.addCleanup(self.remove, "fixed")
        self.cli("apply", "-f", "-", stdin=json.dumps(job))
        stored = self.object("job/fixed")
        self.assertEqual(stored["metadata"]["finalizers"], [f"{GROUP}/delete-dependents"])
        self.assertEqual(stored["spec"]["type"], "Adhoc")
        job["spec"]["template"]["maxAttempts"] = 3
        told = self.cli("apply", "-f", "-", code=1, stdin=json.dumps(job, indent=1))
        self.assertRegex(told, r"<stdin>:\d+:\d+: spec.template.maxAttempts: is immutable")

    def test_validate_asks_the_api_server_where_it_is_told_to(self):
        text = FURIKO.replace("NAME", "tried")
        self.assertIn("jobconfig/tried is valid",
                      self.cli("validate", "-f", "-", "--server-side", stdin=text))
        self.assertIsNone(self.object("jobconfig/tried"))

    def run_config(self, *arguments, **options):
        name = re.match(r"job\.execution\.detent\.dev/(\S+) created\n",
                        self.cli("run", *arguments, **options)).group(1)
        self.addCleanup(self.remove, name)
        return name, self.object("job/" + name)

    def test_a_run_of_a_job_config_is_the_job_that_a_host_would_make(self):
        text = FURIKO.replace("NAME", "runs")
        self.cli("apply", "-f", "-", stdin=text)
        self.addCleanup(self.cli, "delete", "jobconfig/runs", "--ignore-not-found")
        config = self.object("jobconfig/runs")["metadata"]
        name, job = self.run_config("runs", "--set", "option.day=today")
        self.assertTrue(name.startswith("runs-"))
        self.assertEqual(job["spec"], {
            "type": "Adhoc", "substitutions": {"option.day": "today"},
            "template": {"maxAttempts": 1, "taskTemplate": EXEC}})
        self.assertEqual(job["metadata"]["labels"], {
            f"{GROUP}/job-config": "runs", f"{GROUP}/job-config-uid": config["uid"],
            "team": "data"})
        owner = job["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["uid"], owner["controller"]), (config["uid"], True))
        # From the file too, as long as it says what is stored.
        self.assertTrue(self.run_config("-f", "-", stdin=text)[0].startswith("runs-"))
        self.assertIn("is not what the cluster has for jobconfig default/runs",
                      self.cli("run", "-f", "-", code=1, stdin=text.replace("0 3", "0 4")))
        self.assertIn("there is no JobConfig 'nobody' in namespace default",
                      self.cli("run", "nobody", code=1))

    def test_a_run_waits_for_the_end_and_its_exit_code_says_how_it_was(self):
        self.config("waits")
        with subprocess.Popen([DETENT, "run", "waits", "--name", "waits-1", "--wait", "--timeout", "60s",
                               "--kubeconfig", self.cluster.kubeconfig], stdout=subprocess.PIPE, text=True,
                              env=environment()) as waiting:
            self.addCleanup(self.remove, "waits-1")
            wait_until(lambda: self.object("job/waits-1"), "it is created")
            self.status("job/waits-1", {"phase": "Failed", "message": "oh"})
            out = waiting.communicate(timeout=60)[0]
        self.assertEqual(waiting.returncode, 4, out)
        self.assertIn("job default/waits-1: Failed: oh", out)

    def test_kill_wait_and_delete(self):
        self.put("ends")
        self.assertIn("will be killed at", self.cli("kill", "job/ends"))
        self.assertIn("killTimestamp", self.object("job/ends")["spec"])
        self.assertIn("is being killed already", self.cli("kill", "job/ends"))
        self.cli("wait", "job/ends", "--for", "condition=Complete", "--timeout", "1s", code=3)
        self.status("job/ends", {"phase": "Killed", "conditions": [
            {"type": "Failed", "status": "True"}]})
        self.cli("wait", "job/ends", "--for", "condition=Failed", "--timeout", "10s")
        self.cli("wait", "job/ends", "--for", "condition=Complete", "--timeout", "10s", code=4)
        self.assertIn("deleted", self.cli("delete", "job/ends", "--wait", "--timeout", "30s"))
        self.assertIsNone(self.object("job/ends"))

    def test_a_job_config_goes_with_its_jobs_or_leaves_them(self):
        for cascade, stays in (("background", False), ("orphan", True)):
            name = "cascade-" + cascade
            self.child(self.config(name), name + "-1")
            self.cli("delete", "jobconfig/" + name, "--cascade", cascade, "--wait",
                     "--timeout", "30s")
            what = f"job/{name}-1"
            if stays:
                self.assertNotIn("ownerReferences", self.object(what)["metadata"])
            else:
                wait_until(lambda: self.object(what) is None, "the Job went too")

    # Reading.

    def test_tables_have_the_columns_of_the_api_server_and_wide_has_more(self):
        self.put("shown", {"phase": "Running", "indexes": 4, "succeeded": 1, "failed": 2,
                           "startTime": "2026-11-21T10:00:00Z", "reason": "TaskLimit",
                           "message": "is full"})
        narrow, wide = self.cli("get", "job/shown"), self.cli("get", "job/shown", "-o", "wide")
        self.assertEqual(narrow.splitlines()[0].split(),
                         "NAME PHASE SUCCEEDED INDEXES FAILED STARTED FINISHED AGE".split())
        self.assertEqual(narrow.splitlines()[1].split()[:5], ["shown", "Running", "1", "4", "2"])
        self.assertRegex(wide, r"TaskLimit +is full")
        self.assertIn("default     shown", self.cli("get", "jobs", "-A"))
        for form, first in (("name", f"job.{GROUP}/shown"), ("yaml", "apiVersion: " + API),
                            ("json", "{")):
            text = self.cli("get", "job/shown", "-o", form)
            self.assertEqual(text.splitlines()[0], first)
            self.assertNotIn("managedFields", text)

    def test_fields_that_the_api_server_does_not_select_by_are_selected_by_here(self):
        self.put("field-a", {"phase": "Failed"})
        self.put("field-b", {"phase": "Running"})
        for form in ("name", "wide"):
            shown = self.cli("get", "jobs", "--field-selector", "status.phase=Failed", "-o", form)
            self.assertIn("field-a", shown)
            self.assertNotIn("field-b", shown)
        self.assertIn("field label not supported", self.cli(
            "get", "jobs", "--field-selector", "status.nothing=1", code=1))

    def test_changes_are_shown_as_they_come(self):
        self.put("watched", {"phase": "Running"})
        with subprocess.Popen([DETENT, "get", "jobs", "-w", "-l", "!nothing", "--kubeconfig",
                               self.cluster.kubeconfig], stdout=subprocess.PIPE, text=True,
                              env=environment()) as watching:
            try:
                lines = iter(watching.stdout.readline, "")
                next(line for line in lines if re.match(r"watched +Running", line))
                self.status("job/watched", {"phase": "Succeeded"})
                next(line for line in lines if re.match(r"watched +Succeeded", line))
            finally:
                watching.kill()

    def test_describe_has_the_reasons_and_the_tasks(self):
        job = self.put("described", {"phase": "Running", "startTime": "2026-11-21T10:00:00Z",
                                     "indexes": 1, "activeTasks": 1})
        self.task(job, 0, {"state": "Running"})
        text = self.cli("describe", "job/described")
        self.assertIn("Why:\n  job described is Running\n", text)
        self.assertRegex(text, r"Tasks:\nNAME .*\ndescribed-0-1 +described +0 +1 +Running")

    # Why.

    def test_why_says_of_a_job_what_is_stored(self):
        job = self.put("why", {
            "phase": "RetryBackoff", "reason": "RetryBackoff", "startTime": "2026-11-21T10:00:00Z",
            "message": "the next attempt begins at 2026-11-21T10:05:00Z", "indexes": 4,
            "succeededIndexes": "0", "succeeded": 1,
            "failedAttempts": [{"attempt": 1, "indexes": "1"}], "tasks": {"failed": [
                {"name": "why-1-1", "index": 1, "attempt": 1, "state": "Terminated",
                 "result": "Failed", "reason": "ExitCode", "message": "exit code 3"}]}},
            spec={"template": {"taskTemplate": EXEC, "parallelism": {"withCount": 4}}})
        self.task(job, 2, {"state": "Held", "reason": "TaskLimit", "message": "it is full"})
        self.assertEqual(self.cli("why", "job/why"), textwrap.dedent("""\
            job why is RetryBackoff: RetryBackoff, the next attempt begins at 2026-11-21T10:05:00Z
              1 of 4 indexes succeeded, 1 in hand, 1 not begun
              task why-2-1 (index 2, attempt 1) is Held: TaskLimit, it is full
              attempt 1 failed at indexes 1
              last error: task why-1-1: ExitCode, exit code 3
            """))
        self.assertEqual(self.cli("why", "task/why-2-1"),
                         "task why-2-1 (index 2, attempt 1) is Held: TaskLimit, it is full\n")

    def test_why_says_where_in_the_queue_a_job_stands(self):
        config = self.config("queue", concurrency={"policy": "Forbid", "maxConcurrency": 1})
        self.child(config, "queue-1", {"phase": "Running", "startTime": "2026-11-21T10:00:00Z"})
        self.child(config, "queue-2", {"phase": "Queued"})
        self.child(config, "queue-3")
        self.assertEqual(self.cli("why", "job/queue-3"), textwrap.dedent("""\
            job queue-3 is Queued
              no host has written a status of it yet
              of jobconfig queue, concurrency policy Forbid, 3 unfinished Job(s)
              place 2 of 2 in the queue; 1 of 1 that may run have started
              job queue-1 is Running
            """))
        self.status("jobconfig/queue", {
            "state": "Executing", "lastScheduled": "2026-11-21T10:00:00Z", "lastSkipped": {
                "slot": "2026-11-21T10:00:00Z", "reason": "Forbid", "message": "one is active"}})
        self.assertEqual(self.cli("why", "jobconfig/queue"), textwrap.dedent("""\
            jobconfig queue is Executing
              no slot is due: it has no schedule, or the schedule is disabled
              last slot decided: 2026-11-21T10:00:00Z
              last slot skipped: 2026-11-21T10:00:00Z: Forbid, one is active
              job queue-1 is Running
              job queue-2 is Queued
              job queue-3 is Queued
            """))

    # What only a host has.

    def test_next_says_what_it_had_to_guess_only_where_it_matters(self):
        self.config("zoned", schedule={"cron": {"expression": "0 3 * * *", "timezone": "UTC"}})
        self.config("open", schedule={"cron": {"expression": "H 3 * * *"}})
        zoned, opened = self.run_cli("next", "zoned"), self.run_cli("next", "open")
        self.assertEqual((zoned.returncode, zoned.stderr), (0, ""))
        self.assertEqual(len(zoned.stdout.splitlines()), 5)
        self.assertRegex(opened.stderr, r"(?s)note: the schedule has no time zone.*note: H differs")

    def test_plugins_and_kept_output_are_the_hosts_and_the_way_to_it_is_told(self):
        way = "kubectl -n detent port-forward service/detent 7420"
        self.assertIn(way, self.cli("plugin", "list", code=1))
        self.assertIn(way, self.cli("plugin", "reload", "exec", code=1))
        job = self.put("kept", {"phase": "Running"})
        self.task(job, 0, {"state": "Running"})
        self.task(job, 1, {"state": "Running"})
        told = self.cli("logs", "task/kept-0-1", code=1)
        self.assertIn("the output of 'exec' tasks is kept by the host", told)
        self.assertIn(way, told)
        self.assertEqual(self.run_cli("logs", "job/kept").stderr.count(way), 1, "once for all")

    def test_completion_knows_the_cluster(self):
        done = subprocess.run([DETENT, "completion", "bash"], capture_output=True, text=True,
                              check=True, env=environment())
        self.assertIn("--server|--kubeconfig|--context|--namespace|-n", done.stdout)


class ABadDay(Cli):
    def test_what_waits_survives_a_restart_of_the_api_server(self):
        self.put("patient", {"phase": "Running"})
        with subprocess.Popen([DETENT, "wait", "job/patient", "--for", "condition=Complete",
                               "--timeout", "100s", "--kubeconfig", self.cluster.kubeconfig],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment()) as waiting:
            metrics = ("get", "--raw", "/metrics")
            wait_until(lambda: re.search(
                r'apiserver_longrunning_requests\{[^}]*resource="jobs"[^}]*verb="WATCH"[^}]*\} [1-9]',
                self.cluster.kubectl(*metrics)), "it watches")
            self.cluster.component("kill", "apiserver")
            self.assertIn("note: the connection to the API server at https://",
                          waiting.stderr.readline())
            self.cluster.component("start", "apiserver")
            self.status("job/patient", {"phase": "Succeeded", "conditions": [
                {"type": "Complete", "status": "True"}]})
            out, err = waiting.communicate(timeout=100)
        self.assertEqual((waiting.returncode, out), (0, f"job.{GROUP}/patient condition met\n"), err)


class OutputOfPods(Cli):
    nodes = "real:1"

    def pod_task(self, job, index, command, attempt=1):
        """A Pod as the host makes it for an attempt."""
        one = pod(f"{job['metadata']['name']}-{index}-{attempt}", "real", ["sh", "-c", command],
                  labels={"detent.dev/task": f"{job['metadata']['uid']}.{index}.{attempt}"})
        self.cluster.apply(one)
        self.addCleanup(self.cluster.kubectl, "delete", "pod", one["metadata"]["name"], "--force",
                        "--grace-period=0", "--ignore-not-found")
        return one["metadata"]["name"]

    def pod_job(self, name, **status):
        spec = {"template": {"parallelism": {"withCount": 2}, "maxAttempts": 2, "taskTemplate": {
            "pod": {"spec": {"containers": [{"name": "main", "image": "localhost/busybox:1"}]}}}}}
        return self.put(name, dict({"phase": "Running", "indexes": 2}, **status), spec=spec)

    def not_for_ever(self, process):
        """A line that never comes fails the test, instead of holding it up."""
        timer = threading.Timer(100, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)

    def test_the_output_of_a_jobs_pods_is_read_and_followed(self):
        job = self.pod_job("speaks", reservedIndexes=2, tasks={"active": [
            {"name": "speaks-0-1", "index": 0, "attempt": 1, "state": "Running"},
            {"name": "speaks-1-1", "index": 1, "attempt": 1, "state": "Running"}]})
        self.pod_task(job, 0, "for n in 1 2 3; do echo zero $n; done; printf end")
        last = self.pod_task(job, 1, "echo one; while [ ! -e /tmp/go ]; do :; done; echo more")

        def read(*flags):
            return self.cli("logs", "job/speaks", *flags)

        wait_until(lambda: "zero 3" in read() and "one" in read(), "both have written", 60)
        wait_until(lambda: "[0/1] end\n" in read(), "the Pod is over, and its last line whole", 60)
        self.assertEqual(read(), "[0/1] zero 1\n[0/1] zero 2\n[0/1] zero 3\n[0/1] end\n[1/1] one\n")
        self.assertEqual(read("--index", "0", "--tail", "2"), "zero 3\nend\n")
        self.assertEqual(read("--index", "1", "--attempt", "1"), "one\n")
        self.assertEqual(read("--index", "1", "--attempt", "2"), "")
        self.assertRegex(read("--index", "1", "--timestamps"), r"^\d{4}-\d\d-\d\dT[\d:.]+Z one\n$")
        with subprocess.Popen([DETENT, "logs", "-f", "job/speaks", "--index", "1", "--kubeconfig",
                               self.cluster.kubeconfig], stdout=subprocess.PIPE, text=True,
                              env=environment()) as following:
            self.not_for_ever(following)
            self.assertEqual(following.stdout.readline(), "one\n")
            # The container ends as soon as it sees the file, and takes along whoever still runs in
            # it: touch may be killed after its work.
            self.cluster.kubectl("exec", last, "--", "touch", "/tmp/go", code=None)
            self.assertEqual(following.stdout.readline(), "more\n")
            self.status("job/speaks", {"phase": "Succeeded"})
            self.assertEqual(following.communicate(timeout=30)[0], "")
            self.assertEqual(following.returncode, 0)

    def test_a_run_is_followed_to_its_end(self):
        self.config("follows", template={"spec": {"taskTemplate": {"pod": {"spec": {
            "containers": [{"name": "main", "image": "localhost/busybox:1"}]}}}}})
        with subprocess.Popen([DETENT, "run", "follows", "--name", "follows-1", "--follow",
                               "--timeout", "90s", "--kubeconfig", self.cluster.kubeconfig],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment()) as following:
            self.not_for_ever(following)
            self.addCleanup(self.remove, "follows-1")
            job = wait_until(lambda: self.object("job/follows-1"), "it is created")
            self.status("job/follows-1", {"phase": "Running", "indexes": 1, "reservedIndexes": 1,
                                          "tasks": {"active": [{"name": "follows-1-0-1", "index": 0,
                                                                "attempt": 1, "state": "Running"}]}})
            self.pod_task(job, 0, "echo followed")
            self.assertEqual(following.stdout.readline(), "followed\n")
            self.status("job/follows-1", {"phase": "Failed", "reason": "IndexFailed"})
            err = following.communicate(timeout=60)[1]
        self.assertEqual(following.returncode, 4, err)

    def test_a_stored_task_of_a_pod_is_read_and_missed(self):
        job = self.pod_job("stored")
        self.task(job, 0, {"state": "Terminated", "result": "Succeeded"}, "pod",
                  {"spec": {"containers": [{"name": "main", "image": "localhost/busybox:1"}]}})
        name = self.pod_task(job, 0, "echo said")
        wait_until(lambda: self.cli("logs", "task/stored-0-1") == "said\n", "it is read", 60)
        self.cluster.kubectl("delete", "pod", name, "--force", "--grace-period=0")
        self.assertIn("the Pod of task default/stored-0-1 is not there any more",
                      self.cli("logs", "task/stored-0-1", code=1))
