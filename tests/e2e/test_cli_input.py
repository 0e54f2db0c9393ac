"""What people get wrong in what they write, and what they are told: the place, and the way out."""

import os
import re
import unittest

from harness import API_VERSION, GROUP, HostTest

JOB = """apiVersion: execution.detent.dev/v1alpha1
kind: Job
metadata: {name: bad, namespace: default}
"""
CONFIG = """apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: bad, namespace: default}
spec:
  concurrency: {policy: Allow}
  template: {spec: {taskTemplate: {exec: {command: [a]}}}}
"""
EXEC = 'taskTemplate: {exec: {command: [a]}}'


def with_template(text):
    return JOB + "spec: {template: {" + text + "}}\n"


# What stands in the manifest, and what must be said of it: its line and column, and words.
MISTAKES = {
    "a YAML syntax error": (JOB + "spec: {template: [\n", ":5:1:", "end of"),
    "an unknown field": (with_template("maxAttempt: 3, " + EXEC), ":4:19:",
                         "unknown field", "did you mean 'maxAttempts'"),
    "an unknown field of an executor": (with_template("taskTemplate: {exec: {comand: [a]}}"),
                                        ":4:41:", "did you mean `command`"),
    "a wrong type": (with_template("maxAttempts: three, " + EXEC), ":4:19:", "an integer"),
    "a missing field": (JOB + "spec: {}\n", ":4:1:", "spec.template", "required"),
    "a missing policy": (CONFIG.replace("  concurrency: {policy: Allow}\n", ""), ":4:1:",
                         "spec.concurrency", "required"),
    "no executor": (with_template("taskTemplate: {}"), ":4:19:", "must name an executor",
                    "exec, http"),
    "two executors": (with_template("taskTemplate: {exec: {command: [a]}, http: {}}"), ":4:19:",
                      "one executor, not 2"),
    "an unknown executor": (with_template("taskTemplate: {exce: {command: [a]}}"), ":4:34:",
                            "unknown executor kind 'exce'", "exec, http", "did you mean 'exec'"),
    "an invalid cron expression": (
        CONFIG + '  schedule: {cron: {expression: "0 25 * * *"}}\n', ":7:21:",
        "spec.schedule.cron.expression", "column 3: hour: 25 is not in 0-23"),
    "an unknown time zone": (
        CONFIG + '  schedule: {cron: {expression: "0 5 * * *", timezone: Mars/Olympus}}\n',
        ":7:46:", "unknown time zone 'Mars/Olympus'"),
    "a negative number": (with_template("maxAttempts: -1, " + EXEC), ":4:19:", "at least 1"),
    "too many indexes": (with_template("parallelism: {withCount: 100001}, " + EXEC), ":4:33:",
                         "at most 100000"),
    "a bad name": (JOB.replace("bad", "Bad_Name") + "spec: {template: {" + EXEC + "}}\n", ":3:12:",
                   "metadata.name", "lower case"),
    "invalid UTF-8": (with_template("taskTemplate: {exec: {command: [\"é\"]}}").encode("latin-1"),
                      ":4:", "invalid UTF-8"),
    "an escaped NUL": (with_template(r'taskTemplate: {exec: {command: ["a\0b"]}}'), ":4:",
                       "exec.command[0]", "NUL"),
    "a NUL byte": (with_template('taskTemplate: {exec: {command: ["a\0b"]}}'), ":4:53:", "NUL"),
    "deep nesting": (JOB + "spec: " + "[" * 5000 + "]" * 5000, ":4:", "nested deeper"),
    "3 MiB": (with_template(f"taskTemplate: {{exec: {{command: [{'a' * (3 << 20)}]}}}}"),
              "too large"),
    "a Task by hand": (JOB.replace("Job", "Task") + "spec: {index: 0, attempt: 1, exec: {}}\n",
                       ":2:1:", "made by its Job", "spec.template.taskTemplate"),
    "an unknown kind": (JOB.replace("kind: Job", "kind: Jib"), ":2:", "Jib"),
    "an unknown version": (JOB.replace("v1alpha1", "v9"), ":1:", "v9"),
    "a repeated key": (with_template("maxAttempts: 1, maxAttempts: 2, " + EXEC), ":4:",
                       "maxAttempts"),
}


class Manifests(HostTest):
    def setUp(self):
        super().setUp()
        self.start_host()

    def test_each_mistake_is_told_with_its_place(self):
        for what, (manifest, *words) in MISTAKES.items():
            with self.subTest(what):
                done = self.run_cli("apply", "-f", "-", stdin=manifest)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr[:300])
                for word in words:
                    self.assertIn(word, done.stderr[:2000])
                self.assertLess(len(done.stderr), 2000, "the message repeats the input")
        self.assertEqual(self.items("jobs") + self.items("jobconfigs"), [])

    def test_all_mistakes_of_a_manifest_are_told_at_once(self):
        done = self.run_cli("apply", "-f", "-", stdin=with_template(
            "maxAttempts: -1, retryDelaySeconds: x, parallelism: {withCount: 0}, oops: 1, "
            "taskTemplate: {exec: {comand: 1}}"))
        self.assertEqual(done.returncode, 1)
        for field in ("maxAttempts", "retryDelaySeconds", "withCount", "oops", "exec.comand"):
            self.assertRegex(done.stderr, re.escape(field) + ": ")

    def test_a_file_with_a_mistake_changes_nothing_of_the_other_documents_silently(self):
        good = JOB.replace("bad", "good") + "spec: {template: {" + EXEC + "}}\n---\n"
        done = self.run_cli("apply", "-f", "-", stdin=good + with_template("maxAttempts: -1"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual("good" in done.stdout, self.object("jobs/good") is not None)

    def test_a_name_that_is_taken(self):
        file = self.write("job.yaml", with_template(EXEC))
        self.cli("run", "-f", file, "--name", "twin")
        self.assertIn("already exists", self.cli("run", "-f", file, "--name", "twin", code=1))

    def test_a_stale_version_is_a_conflict(self):
        self.apply(CONFIG)
        stale = self.object("jobconfigs/bad")
        self.apply(CONFIG.replace("Allow", "Forbid"))
        code, status = self.request("PUT", "jobconfigs/bad", stale)
        self.assertEqual((code, status["reason"]), (409, "Conflict"))
        self.assertEqual(self.object("jobconfigs/bad")["spec"]["concurrency"]["policy"], "Forbid")

    def test_a_task_by_hand_is_refused_by_the_server_too(self):
        body = {"apiVersion": API_VERSION, "kind": "Task", "metadata": {"name": "t"},
                "spec": {"jobName": "j", "index": 0, "attempt": 1, "exec": {"command": ["a"]}}}
        code, status = self.request("POST", "tasks", body)
        self.assertEqual((code, status["reason"]), (422, "Invalid"))
        self.assertIn("create a Job with this executor", status["message"])
        self.assertEqual(self.items("tasks"), [])

    def test_raw_requests_get_a_status_that_says_what_is_wrong(self):
        jobs = f"{GROUP}/namespaces/default/jobs"
        for what, body, content, code in (
                ("no JSON", b"{", "application/json", 400),
                ("not UTF-8", b'{"a": "\xff"}', "application/json", 400),
                ("deep", b"[" * 100000, "application/json", 400),
                ("a list", b"[]", "application/json", 400),
                ("too large", b" " * (4 << 20), "application/json", 413),
                ("a strange type", b"x", "image/png", 415)):
            with self.subTest(what):
                seen, status = self.request("POST", jobs, body, content)
                self.assertEqual((seen, status.get("kind")), (code, "Status"), status)
                self.assertTrue(status["message"])
        self.assertEqual(self.request("GET", "/nothing")[0], 404)
        self.assertEqual(self.cli("get", "jobs").count("bad"), 0)

    def test_validate_needs_no_host_and_finds_the_same(self):
        self.environment["DETENT_SERVER"] = "http://127.0.0.1:1"
        done = self.run_cli("validate", "-f", "-", stdin=with_template("maxAttempts: -1, " + EXEC))
        self.assertEqual(done.returncode, 1)
        self.assertIn(":4:19: spec.template.maxAttempts", done.stderr + done.stdout)


class Configuration(HostTest):
    def test_every_mistake_has_its_line(self):
        file = self.write("c.yaml", "home: standalne\nlistne: {}\nlisten: {adress: x}\n"
                          "plugins:\n  - path: rel.so\n"
                          "jobs: {defaultTTLSecondsAfterFinished: -5}\nlog: {level: loud}\n"
                          "cron: {defaultTimezone: Mars/Olympus}\n")
        self.cli("config", "check", self.write("h.yaml", "home: kubernetes\n"))
        text = self.cli("config", "check", file, code=1)
        for line, words in ((1, "must be one of: standalone, kubernetes; not 'standalne' .did you mean"), (2, "did you mean 'listen'"),
                            (3, "did you mean 'address'"), (5, "absolute path"),
                            (6, "defaultTTLSecondsAfterFinished"), (7, "loud"), (8, "Mars")):
            with self.subTest(words):
                self.assertRegex(text, re.escape(f"{file}:{line}:") + r"\d+: .*" + words)
        self.assertNotIn("((", text)
        self.assertNotIn("( (", text)

    def test_a_syntax_error_has_its_line(self):
        file = self.write("d.yaml", "listen: {}\nplugins: [\n")
        self.assertIn(f"{file}:3:1: ", self.cli("config", "check", file, code=1))

    def test_a_host_does_not_start_with_a_mistake(self):
        file = self.write("e.yaml", "listne: {}\n")
        self.assertIn("listne", self.cli("serve", "--config", file, "--data", self.data, code=1))
        self.assertFalse(os.path.exists(self.data))

    def test_what_is_shipped_is_valid(self):
        shipped = os.path.join(os.path.dirname(__file__), "../../config/detent.yaml")
        self.assertIn("is valid", self.cli("config", "check", shipped))
        self.cli("config", "check", "nosuch.yaml", code=1)
        self.cli("config", "check", code=2)


if __name__ == "__main__":
    unittest.main()
