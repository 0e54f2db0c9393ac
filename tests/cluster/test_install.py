"""`detent install` on a real API server: what is there afterwards, and what that API server then lets pass."""

import json
import os
import re
import subprocess

import cluster
from cluster import HERE, ClusterTest, wait_until

DETENT = os.environ.get("DETENT_BIN", os.path.join(HERE, "../../build/bin/detent"))
CONFIG = os.path.join(HERE, "../../config/kubernetes")
# A plugin that declares rights to Jobs of the group batch, and to read the logs of Pods.
BATCH = os.path.join(os.environ.get("DETENT_BUILD", os.path.join(HERE, "../../build")),
                     "tests/plugins/batch.so")
GROUP = "execution.detent.dev"
API = GROUP + "/v1alpha1"
KINDS = ("jobconfigs", "jobs", "tasks")
HOST = "system:serviceaccount:detent:detent"


def detent(*arguments, stdin=None):
    return subprocess.run([DETENT, *arguments], input=stdin, capture_output=True, text=True,
                          timeout=120, check=False)


def job(name="once", **spec):
    """A Job of one process; keywords are members of its spec."""
    whole = {"template": {"taskTemplate": {"exec": {"command": ["echo", "hi"]}}}}
    whole.update(spec)
    return {"apiVersion": API, "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": whole}


def job_of(name="once", **template):
    """The same; keywords are members of its template."""
    whole = job(name)
    whole["spec"]["template"].update(template)
    return whole


def job_config(name="hello", **spec):
    whole = {"concurrency": {"policy": "Forbid"},
             "schedule": {"cron": {"expression": "*/10 * * * * * *", "timezone": "Asia/Singapore"}},
             "template": {"spec": {"maxAttempts": 2, "retryDelaySeconds": 1, "taskTemplate": {
                 "exec": {"command": ["sh", "-c", "echo hello from ${job.name}"],
                          "env": [{"name": "ANSWER", "value": "42"}], "timeoutSeconds": 30}}}}}
    whole.update(spec)
    return {"apiVersion": API, "kind": "JobConfig",
            "metadata": {"name": name, "namespace": "default"}, "spec": whole}


class Installed(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        if not os.access(DETENT, os.X_OK):
            cluster.leave_out(f"{DETENT} is not built; DETENT_BIN names another")
        super().setUpClass()
        cls.dry = cls.install("--dry-run")
        cls.before = cls.cluster.kubectl("get", "namespaces,crds", "-o", "name")
        cls.first = cls.install()
        cls.second = cls.install()

    @classmethod
    def install(cls, *flags, kubeconfig=None):
        return detent("install", "--kubeconfig", kubeconfig or cls.cluster.kubeconfig, *flags)

    def refused(self, document, *fields, **options):
        """`document` is refused with each of these fields named, by the server and by us."""
        text = json.dumps(document)
        told = self.cluster.kubectl("apply", "-f", "-", stdin=text, code=1)
        for field in fields:
            self.assertIn(field, told)
        if options.get("ours", True):
            ours = detent("validate", "-f", "-", stdin=text)
            self.assertEqual(ours.returncode, 1, ours.stdout)
            for field in fields:
                self.assertIn(field, ours.stderr + ours.stdout)
        return told

    def taken(self, document):
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
        self.addCleanup(self.cluster.kubectl, "delete", "-f", "-", stdin=json.dumps(document))

    # The command.

    def test_it_says_what_it_did_with_each_object_and_changes_nothing_the_second_time(self):
        for done in (self.dry, self.first, self.second):
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        created, again = self.first.stdout.splitlines(), self.second.stdout.splitlines()
        self.assertEqual({line.split()[1] for line in created[:-1]}, {"created"})
        self.assertEqual({line.split()[1] for line in again[:-1]}, {"unchanged"})
        self.assertEqual([line.split()[0] for line in created], [line.split()[0] for line in again])
        for name in KINDS:
            self.assertIn(f"customresourcedefinition.apiextensions.k8s.io/{name}.{GROUP} created",
                          created)

    def test_a_dry_run_changes_nothing(self):
        self.assertNotIn("detent", self.before)
        self.assertEqual(len(self.dry.stdout.splitlines()), len(self.first.stdout.splitlines()) - 1)

    def test_the_kinds_are_established_when_it_returns(self):
        for name in KINDS:
            crd = self.cluster.get("crd", f"{name}.{GROUP}")
            conditions = {one["type"]: one["status"] for one in crd["status"]["conditions"]}
            self.assertEqual(conditions["Established"], "True")
            # Set where a schema is not structural, and then nothing is pruned or defaulted.
            self.assertNotEqual(conditions.get("NonStructuralSchema"), "True")

    def test_kinds_of_a_newer_version_are_refused_and_of_an_older_one_brought_up(self):
        text = detent("install", "--print").stdout
        version = re.search(r'detent.dev/version: "(.*)"', text).group(1)
        apply = ("apply", "--server-side", "--field-manager=detent", "-f", "-")
        self.addCleanup(self.install)
        self.cluster.kubectl(*apply, stdin=text.replace(f'"{version}"', '"99.0.0"'))
        newer = self.install()
        self.assertEqual(newer.returncode, 1)
        self.assertIn("is of Detent 99.0.0, which is newer than this one", newer.stderr)
        self.cluster.kubectl(*apply, stdin=text.replace(f'"{version}"', '"0.0.1"'))
        older = self.install()
        self.assertEqual(older.returncode, 0, older.stderr)
        self.assertEqual(older.stdout.count(" configured\n"), 3)

    def test_fields_of_others_are_taken_over_only_when_it_is_told(self):
        self.cluster.kubectl("label", "--overwrite", "namespace", "detent",
                             "app.kubernetes.io/name=other")
        stays = self.install()
        self.assertEqual(stays.returncode, 1)
        for word in ("apply namespace/detent", "kubectl-label", "--force-conflicts"):
            self.assertIn(word, stays.stderr)
        taken = self.install("--force-conflicts")
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertIn("namespace/detent configured\n", taken.stdout)

    def test_a_second_namespace_is_refused(self):
        other = self.install("--namespace", "other")
        self.assertEqual(other.returncode, 1)
        self.assertIn("Detent is installed in namespace 'detent'", other.stderr)

    def test_each_verb_and_resource_that_the_user_lacks_is_named(self):
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json"))
        config["users"][0]["user"]["as"] = "somebody"
        path = self.cluster.directory + "/somebody.kubeconfig"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        done = self.install(kubeconfig=path)
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertIn("you may not patch customresourcedefinitions.apiextensions.k8s.io",
                      done.stderr)
        self.assertEqual(len(lines), 25, done.stderr)
        for line in lines:
            self.assertRegex(line, r"^error: you may not (get|create|patch) [a-z.0-9]+( in namespace "
                                   r"detent)?, which an installation needs; ")

    # What the ServiceAccount may do.

    def rights(self, namespace):
        text = self.cluster.kubectl("auth", "can-i", "--list", "--as", HOST, "-n", namespace)
        rows = set()
        for line in text.splitlines()[1:]:
            resource, urls, names, verbs = re.fullmatch(
                r"(\S*)\s+(\[.*?\])\s+(\[.*?\])\s+(\[.*?\])", line).groups()
            if urls == "[]":
                rows.add((resource, names.strip("[]"), verbs.strip("[]")))
        return rows

    def test_the_service_account_may_do_what_is_listed_here_and_nothing_else(self):
        everybody = {("selfsubjectreviews.authentication.k8s.io", "", "create"),
                     ("selfsubjectaccessreviews.authorization.k8s.io", "", "create"),
                     ("selfsubjectrulesreviews.authorization.k8s.io", "", "create"),
                     ("clustertrustbundles.certificates.k8s.io", "", "get list watch")}
        writes = "get list watch create patch delete"
        host = {(f"jobconfigs.{GROUP}", "", "get list watch"),
                (f"jobs.{GROUP}", "", writes), (f"tasks.{GROUP}", "", writes),
                (f"jobconfigs.{GROUP}/status", "", "patch"),
                (f"jobs.{GROUP}/status", "", "patch"),
                (f"tasks.{GROUP}/status", "", "patch"),
                (f"jobconfigs.{GROUP}/finalizers", "", "update"),
                (f"jobs.{GROUP}/finalizers", "", "update"),
                ("validatingwebhookconfigurations.admissionregistration.k8s.io", "detent",
                 "get list watch patch"),
                ("pods", "", "get list watch create patch delete"), ("pods/log", "", "get")}
        home = {("leases.coordination.k8s.io", "", "create"),
                ("leases.coordination.k8s.io", "detent", "get patch"),
                ("secrets", "", "create"), ("secrets", "detent-webhook", "get patch")}
        self.assertEqual(self.rights("default") - everybody, host)
        self.assertEqual(self.rights("detent") - everybody, host | home)

    def may(self, verb, resource, *flags):
        told = self.cluster.kubectl("auth", "can-i", verb, resource, "--as", HOST, "-A", *flags,
                                    code=None)
        return told.splitlines()[-1] == "yes"

    def test_the_service_account_may_do_what_a_plugin_declares_for_as_long_as_its_role_is_there(self):
        verbs = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
        role = "clusterrole/detent-executor-batch", "clusterrolebinding/detent-executor-batch"
        self.assertFalse(self.may("create", "jobs.batch"))
        done = self.install("--plugin", BATCH)
        self.addCleanup(self.cluster.kubectl, "delete", "--ignore-not-found", *role)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in ("batch", "pod"):
            self.assertRegex(done.stdout, f"clusterrole.*/detent-executor-{name} ")
        self.assertEqual([verb for verb in verbs if self.may(verb, "jobs.batch")],
                         ["get", "list", "create"])
        self.assertFalse(self.may("get", "jobs.batch", "--subresource=status"))
        again = self.install()
        self.assertNotIn("detent-executor-batch", again.stdout)
        self.assertTrue(self.may("create", "jobs.batch"), "another installation left it as it was")
        self.cluster.kubectl("delete", *role)
        wait_until(lambda: not self.may("create", "jobs.batch"), "the role is taken away")
        self.assertTrue(self.may("create", "pods"))

    def test_a_plugin_that_cannot_be_loaded_leaves_the_cluster_as_it_was(self):
        self.cluster.kubectl("delete", "clusterrolebinding/detent-executor-pod")
        self.addCleanup(self.install)
        done = self.install("--plugin", "/no/such/thing.so")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("error: plugin /no/such/thing.so cannot be opened", done.stderr)
        self.assertIn("Nothing was applied", done.stderr)
        self.assertIsNone(self.cluster.get("clusterrolebinding", "detent-executor-pod"))

    def test_people_with_the_clusters_own_roles_may_use_the_kinds(self):
        for role, verb, answer in (("view", "list", "yes"), ("view", "create", "no"),
                                   ("edit", "create", "yes"), ("admin", "delete", "yes")):
            self.cluster.kubectl("create", "rolebinding", f"{role}-{verb}", f"--clusterrole={role}",
                                 f"--user={role}-{verb}")
            self.addCleanup(self.cluster.kubectl, "delete", "rolebinding", f"{role}-{verb}")
            wait_until(lambda r=role, v=verb, a=answer: self.cluster.kubectl(
                "auth", "can-i", v, f"jobconfigs.{GROUP}", "--as", f"{r}-{v}",
                code=None).strip() == a, f"{role}: may {verb} JobConfigs: {answer}")
            for right in ("get", "update", "patch"):
                told = self.cluster.kubectl("auth", "can-i", right, f"jobconfigs.{GROUP}",
                                            "--subresource=scale", "--as", f"{role}-{verb}",
                                            code=None).splitlines()[-1]
                self.assertEqual(told, "no" if (role, right) in (
                    ("view", "update"), ("view", "patch")) else "yes", f"{role}: {right}")

    # The kinds.

    def test_explain_shows_fields_with_their_descriptions(self):
        text = self.cluster.kubectl("explain", "job.spec", "--api-version", API)
        for words in ("KIND:       Job", "killTimestamp\t<string>", "enum: Adhoc, Scheduled",
                      "ttlSecondsAfterFinished\t<integer>", "template\t<Object>"):
            self.assertIn(words, text)
        text = self.cluster.kubectl("explain", "jobconfig.spec.template.spec.taskTemplate",
                                    "--api-version", API)
        self.assertIn("pod: Runs a Pod in Kubernetes.", text.replace("\n    ", " "))

    def test_good_objects_are_taken_and_defaulted(self):
        self.taken(job_config())
        http = {"http": {"request": {"method": "POST", "url": "http://service.default.svc/path",
                                     "headers": [{"name": "Content-Type", "value": "text/plain"}],
                                     "postData": {"mimeType": "text/plain", "text": "${job.name}"}},
                         "timeout": {"connectTimeout": 2}, "idempotent": True}}
        self.taken(job_config("call-service", concurrency={"policy": "Allow"},
                              schedule={"cron": {"expressions": ["H/5 * * * *", "@daily"]}},
                              template={"metadata": {"labels": {"team": "storage"}},
                                        "spec": {"taskTemplate": http}}))
        self.taken(job("full", startPolicy={"startAfter": "2026-01-01T08:00:00+08:00"},
                       substitutions={"option.tag": "1"}, ttlSecondsAfterFinished=0))
        self.taken(job_of("wide", parallelism={"withCount": 100000}, taskTemplate={
            "customResource": {"manifest": "apiVersion: v1\nkind: ConfigMap\n"}}))
        self.taken(job_of("other-kind", taskTemplate={"myExecutor": {"any": {"thing": [1, "x"]}}}))
        full = self.cluster.get(f"jobs.{GROUP}", "full")
        self.assertEqual((full["spec"]["type"], full["spec"]["template"]["maxAttempts"]),
                         ("Adhoc", 1))
        wide = self.cluster.get(f"jobs.{GROUP}", "wide")["spec"]["template"]
        self.assertEqual(wide["parallelism"]["completionStrategy"], "AllSuccessful")
        config = self.cluster.get("jc", "call-service")["spec"]["template"]["spec"]
        self.assertEqual((config["maxAttempts"], config["taskTemplate"]), (1, http))
        other = self.cluster.get(f"jobs.{GROUP}", "other-kind")["spec"]["template"]["taskTemplate"]
        self.assertEqual(other, {"myExecutor": {"any": {"thing": [1, "x"]}}})

    def test_bad_objects_are_refused_with_the_name_of_the_field(self):
        config = job_config()
        cases = [
            (job_of(maxAttempts=0), "spec.template.maxAttempts"),
            (job_of(maxAttempts=51), "spec.template.maxAttempts"),
            (job_of(maxAttempts="3"), "spec.template.maxAttempts"),
            (job_of(retryDelaySeconds=-1), "spec.template.retryDelaySeconds"),
            (job_of(parallelism={"withCount": 100001}), "spec.template.parallelism.withCount"),
            (job_of(parallelism={}), "spec.template.parallelism.withCount"),
            (job_of(parallelism={"withMatrix": {"a": ["b"]}}),
             "spec.template.parallelism.withMatrix"),
            (job_of(taskTemplate={}), "spec.template.taskTemplate"),
            (job_of(taskTemplate={"exec": {}, "http": {}}), "spec.template.taskTemplate"),
            (job_of(taskTemplate={"exec": "ls"}), "spec.template.taskTemplate.exec"),
            (job_of(backoff={"factor": 2}), "spec.template.backoff"),
            (job_of(failureRules=[{"action": "ignore"}]), "spec.template.failureRules"),
            (job_of(surprise=1), "spec.template.surprise"),
            (job(type="adhoc"), "spec.type"),
            (job(killTimestamp="tomorrow"), "spec.killTimestamp"),
            (job(ttlSecondsAfterFinished=-1), "spec.ttlSecondsAfterFinished"),
            (job(substitutions={"name": "x"}), "spec.substitutions"),
            (job(configName="hello"), "spec.configName"),
            (job(optionValues="a: b"), "spec.optionValues"),
            (job(startPolicy={"concurrencyPolicy": "Enqueue"}),
             "spec.startPolicy.concurrencyPolicy"),
            (job("j" * 61), "metadata.name"),
            (dict(job(), spec={}), "spec.template"),
            (dict(job(), spec={"configName": "No"}), "spec.configName"),
            (job_config("c" * 50), "metadata.name"),
            (job_config(concurrency={"policy": "Allow", "maxConcurrency": 2}),
             "spec.concurrency.maxConcurrency"),
            (job_config(concurrency={"policy": "Forbid", "maxConcurrency": 0}),
             "spec.concurrency.maxConcurrency"),
            (job_config(concurrency={}), "spec.concurrency.policy"),
            (job_config(schedule={}), "spec.schedule.cron"),
            (job_config(schedule={"cron": {}}), "spec.schedule.cron.expression"),
            (job_config(schedule={"cron": {"expression": "* * * * *", "expressions": ["@daily"]}}),
             "spec.schedule.cron"),
            (job_config(schedule={"cron": {"expressions": []}}), "spec.schedule.cron.expressions"),
            (job_config(schedule=dict(config["spec"]["schedule"], constraints={
                "notBefore": "2026-01-02T00:00:00Z", "notAfter": "2026-01-02T00:30:00+01:00"})),
             "spec.schedule.constraints.notAfter"),
            (job_config(option={"options": []}), "spec.option"),
            (job_config(template=dict(config["spec"]["template"],
                                      metadata={"labels": {"a": "not a label"}})),
             "spec.template.metadata.labels"),
        ]
        for document, field in cases:
            with self.subTest(field=field, spec=document["spec"]):
                self.refused(document, field)
        self.assertIsNone(self.cluster.get(f"jobs.{GROUP},jc"))

    def test_a_run_stays_the_run_that_was_asked_for(self):
        self.taken(job_of(parallelism={"withCount": 3}))
        again = "is immutable; to change it delete the Job and create it again"
        same = job_of(parallelism={"withCount": 3})
        changes = [
            (job_of(parallelism={"withCount": 4}), "spec.template.parallelism"),
            (job_of(), "spec.template.parallelism"),
            (job_of(parallelism={"withCount": 3}, maxAttempts=2), "spec.template.maxAttempts"),
            (job_of(parallelism={"withCount": 3}, retryDelaySeconds=2),
             "spec.template.retryDelaySeconds"),
            (job_of(parallelism={"withCount": 3}, taskTemplate={"exec": {"command": ["rm"]}}),
             "spec.template.taskTemplate"),
            (dict(same, spec=dict(same["spec"], type="Scheduled")), "spec.type"),
            (dict(same, spec=dict(same["spec"], substitutions={"job.name": "x"})),
             "spec.substitutions"),
        ]
        for document, field in changes:
            with self.subTest(field=field):
                self.assertIn(f"{field}: Invalid value: {again}",
                              self.refused(document, field, ours=False))
        # What may change: nothing of the run itself.
        for name, value in (("killTimestamp", "2036-01-01T00:00:00Z"),
                            ("ttlSecondsAfterFinished", 5),
                            ("startPolicy", {"startAfter": "2027-01-01T00:00:00Z"})):
            same["spec"][name] = value
            self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(same))
        same["spec"]["template"]["retryDelaySeconds"] = 0  # As it was, said aloud.
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(same))
        self.status("once", {"phase": "Running", "startTime": "2026-11-21T10:00:00Z"})
        same["spec"]["startPolicy"] = {"concurrencyPolicy": "Allow"}
        told = self.refused(same, "spec.startPolicy", ours=False)
        self.assertIn("is immutable once the Job has started", told)

    def test_a_job_of_a_config_gets_its_template_once(self):
        named = {"apiVersion": API, "kind": "Job",
                 "metadata": {"name": "named", "namespace": "default"},
                 "spec": {"configName": "hello"}}
        self.taken(named)
        told = self.cluster.kubectl("patch", f"jobs.{GROUP}", "named", "--type=merge", "-p",
                                    '{"spec":{"configName":"other"}}', code=1)
        self.assertIn("spec.configName: Invalid value", told)
        resolved = json.dumps({"spec": {"configName": None, "template": job()["spec"]["template"]}})
        self.cluster.kubectl("patch", f"jobs.{GROUP}", "named", "--type=merge", "-p", resolved)
        for patch in ('{"spec":{"configName":"hello"}}',
                      '{"spec":{"configName":"hello","template":null}}'):
            told = self.cluster.kubectl("patch", f"jobs.{GROUP}", "named", "--type=merge", "-p",
                                        patch, code=1)
            self.assertIn("spec.configName", told)

    def test_a_task_keeps_its_spec_but_for_the_time_to_end_it(self):
        task = {"apiVersion": API, "kind": "Task",
                "metadata": {"name": "once-0-1", "namespace": "default"},
                "spec": {"jobName": "once", "jobUID": "1", "index": 0, "attempt": 1,
                         "exec": {"command": ["true"]}, "myExecutor": {"kept": [1]}}}
        self.taken(task)
        stored = self.cluster.get("tk", "once-0-1")
        self.assertEqual(stored["spec"], task["spec"])
        for change, field in (({"index": 1}, "spec.index"), ({"jobName": "x"}, "spec.jobName"),
                              ({"exec": {"command": ["x"]}}, "spec.exec"),
                              ({"http": {}}, "spec.http")):
            changed = dict(task, spec=dict(task["spec"], **change))
            self.refused(changed, field, "is immutable, as all of a Task is but killTimestamp",
                         ours=False)
        ended = dict(task, spec=dict(task["spec"], killTimestamp="2026-11-21T10:00:00.000001Z"))
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(ended))

    def status(self, name, status, kind=f"jobs.{GROUP}"):
        self.cluster.kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p",
                             json.dumps({"status": status}))

    def table(self, *what):
        header, *rows = self.cluster.kubectl("get", *what).splitlines()
        return re.split(r"\s{2,}", header.strip()), [re.split(r"\s{2,}", row.strip()) for row in rows]

    def test_the_columns_are_those_of_the_host(self):
        self.taken(job_of("shown", parallelism={"withCount": 5}))
        self.status("shown", {
            "phase": "Running", "reason": "RetryBackoff", "message": "1 index waits", "succeeded": 3,
            "failed": 1, "indexes": 5, "startTime": "2026-01-01T00:00:00Z",
            "finishTime": "2026-01-01T00:00:09Z",
            "condition": {"running": {"terminatingTasks": 1}}, "succeededIndexes": "0-2"})
        header, rows = self.table("jb", "shown", "-o", "wide")
        self.assertEqual(header, ["NAME", "PHASE", "SUCCEEDED", "INDEXES", "FAILED", "STARTED",
                                  "FINISHED", "AGE", "REASON", "MESSAGE"])
        self.assertEqual(rows[0][:5] + rows[0][8:], ["shown", "Running", "3", "5", "1",
                                                     "RetryBackoff", "1 index waits"])
        self.assertRegex(rows[0][5], r"^\d+d$")
        self.taken(job_config("shown"))
        self.status("shown", {"state": "Executing", "active": 2, "nextScheduled":
                              "2036-01-01T00:00:00Z", "lastScheduled": "2026-01-01T00:00:00Z"},
                    "jobconfigs")
        header, rows = self.table("jc", "shown", "-o", "wide")
        self.assertEqual(header, ["NAME", "POLICY", "SCHEDULE", "TIMEZONE", "STATE", "ACTIVE",
                                  "LAST SCHEDULED", "AGE", "NEXT"])
        self.assertEqual(rows[0][:6] + rows[0][8:],
                         ["shown", "Forbid", "*/10 * * * * * *", "Asia/Singapore", "Executing", "2",
                          "2036-01-01T00:00:00Z"])
        self.taken(job_config("several", schedule={"cron": {"expressions": ["@daily", "@hourly"]}}))
        self.assertEqual(self.table("jc", "several")[1][0][2], '["@daily","@hourly"]')
        self.assertIn(f"job.{GROUP}/shown",
                      self.cluster.kubectl("get", "detent", "-o", "name").splitlines())

    def test_a_status_is_written_by_itself_alone(self):
        self.taken(job("apart"))
        self.cluster.kubectl("patch", f"jobs.{GROUP}", "apart", "--type=merge", "-p",
                             '{"status":{"phase":"Failed"}}')
        self.assertNotIn("status", self.cluster.get(f"jobs.{GROUP}", "apart"))
        self.status("apart", {"phase": "Failed"})
        self.assertEqual(self.cluster.get(f"jobs.{GROUP}", "apart")["status"], {"phase": "Failed"})

    # The scale of a JobConfig.

    def scale(self, name, *how, code=0):
        return self.cluster.kubectl("scale", f"jobconfig.{GROUP}/{name}", *how, code=code)

    def limit(self, name):
        return self.cluster.get("jc", name)["spec"]["concurrency"].get("maxConcurrency")

    def test_kubectl_scale_sets_how_many_jobs_may_be_active(self):
        self.taken(job_config("wide", concurrency={"policy": "Forbid", "maxConcurrency": 2}))
        self.status("wide", {"active": 1}, "jobconfigs")
        self.assertIn("scaled", self.scale("wide", "--replicas=3"))
        self.assertEqual(self.limit("wide"), 3)
        path = f"/apis/{API}/namespaces/default/jobconfigs/wide/scale"
        scale = json.loads(self.cluster.kubectl("get", "--raw", path))
        self.assertEqual((scale["apiVersion"], scale["kind"]), ("autoscaling/v1", "Scale"))
        self.assertEqual((scale["spec"], scale["status"]), ({"replicas": 3}, {"replicas": 1}))
        self.scale("wide", "--current-replicas=3", "--replicas=4")
        self.assertIn("Expected replicas to be 3, was 4",
                      self.scale("wide", "--current-replicas=3", "--replicas=5", code=1))
        self.assertIn("spec.concurrency.maxConcurrency", self.scale("wide", "--replicas=0", code=1))
        self.assertEqual(self.limit("wide"), 4)

    def test_without_a_limit_there_is_nothing_to_scale(self):
        self.taken(job_config("open", concurrency={"policy": "Allow"}))
        self.assertIn("has no meaning with policy Allow", self.scale("open", "--replicas=3", code=1))
        self.assertIsNone(self.limit("open"))

    def test_a_limit_that_was_not_set_can_be_set_but_not_asked_for(self):
        self.taken(job_config("unset"))
        self.assertIn("does not exist", self.scale("unset", "--current-replicas=1", "--replicas=2",
                                                   code=1))
        self.scale("unset", "--replicas=2")
        self.assertEqual(self.limit("unset"), 2)

    # config/kubernetes.

    def test_the_directory_is_what_was_installed_and_deploys_a_host(self):
        told = self.cluster.kubectl("diff", "--server-side", "--field-manager=detent", "-k", CONFIG,
                                    code=None)
        differs = set(re.findall(r"^\+kind: (\w+)", told, re.MULTILINE))
        self.assertEqual(differs, {"ConfigMap", "Deployment", "PodDisruptionBudget", "Service"}, told)
        told = self.cluster.kubectl("apply", "--server-side", "--dry-run=server",
                                    "--field-manager=detent", "-k", CONFIG)
        self.assertIn("deployment.apps/detent serverside-applied (server dry run)", told)
        checked = detent("config", "check", os.path.join(CONFIG, "detent.yaml"))
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_a_pod_of_the_deployment_keeps_to_the_restricted_standard(self):
        name = "restricted"
        self.cluster.kubectl("create", "namespace", name)
        self.addCleanup(self.cluster.kubectl, "delete", "namespace", name, "--wait=false")
        self.cluster.kubectl("label", "namespace", name,
                             "pod-security.kubernetes.io/enforce=restricted")
        made = self.cluster.kubectl("apply", "--dry-run=client", "-o", "json", "-f",
                                    os.path.join(CONFIG, "deployment.yaml"))
        template = json.loads(made)["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": dict(template["spec"]),
               "metadata": {"name": "host", "namespace": name}}
        told = self.cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))
        self.assertEqual(told, "pod/host created (server dry run)\n")
