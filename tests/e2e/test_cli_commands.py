"""The commands as scripts use them: exit codes, forms of output, following, help."""

import json
import re
import shutil
import subprocess

from harness import BIN, HostTest, wait_until


class Commands(HostTest):
    def setUp(self):
        super().setUp()
        self.start_host()

    def test_exit_codes(self):
        good = self.write("good.json", json.dumps(self.exec_job("good", "true")))
        bad = self.write("bad.json", json.dumps(self.exec_job("bad", "exit 3")))
        slow = self.write("slow.json", json.dumps(
            self.exec_job("slow", "sleep 60", {"gracePeriodSeconds": 1})))
        for code, arguments in (
                (0, ("run", "-f", good, "--wait")),
                (4, ("run", "-f", bad, "--wait")),
                (3, ("run", "-f", slow, "--wait", "--timeout", "1s")),
                (3, ("wait", "job/slow", "--for", "condition=Complete", "--timeout", "1s")),
                (4, ("wait", "job/bad", "--for", "condition=Complete", "--timeout", "5s")),
                (0, ("wait", "job/bad", "--for", "condition=Failed", "--timeout", "5s")),
                (0, ("wait", "job/slow", "--for", "jsonpath={.status.phase}=Running",
                     "--timeout", "5s")),
                (1, ("get", "job/nosuch")),
                (1, ("logs", "job/nosuch")),
                (1, ("why", "job/nosuch")),
                (1, ("kill", "job/nosuch")),
                (1, ("delete", "job/nosuch")),
                (0, ("delete", "job/nosuch", "--ignore-not-found")),
                (1, ("run", "nosuch")),
                (1, ("apply", "-f", self.path("nosuch.yaml"))),
                (2, ("apply",)),
                (2, ("gte",)),
                (2, ("get",)),
                (2, ("get", "jobs", "--outptu", "json")),
                (2, ("get", "jobs", "-o", "xml")),
                (2, ("run", "--count", "many", "x")),
                (2, ("serve", "--dta", "x"))):
            with self.subTest(arguments):
                self.cli(*arguments, code=code)
        self.cli("kill", "job/slow", "--wait", "--timeout", "20s")

    def test_a_host_that_is_not_there(self):
        self.environment["DETENT_SERVER"] = "http://127.0.0.1:1"
        text = self.cli("get", "jobs", code=1)
        self.assertIn("127.0.0.1:1", text)

    def test_forms_of_output(self):
        self.apply(self.exec_job("shown", "true"))
        self.wait_phase("shown", "Succeeded")
        self.assertEqual(self.cli("get", "jobs", "-o", "name"), "job.execution.detent.dev/shown\n")
        self.assertEqual(json.loads(self.cli("get", "job/shown", "-o", "json"))["kind"], "Job")
        items = json.loads(self.cli("get", "jobs", "-o", "json"))
        self.assertEqual([item["metadata"]["name"] for item in items["items"]], ["shown"])
        self.assertIn("\n  name: shown\n", self.cli("get", "job/shown", "-o", "yaml"))
        narrow = self.cli("get", "tasks").splitlines()
        wide = self.cli("get", "tasks", "-o", "wide").splitlines()
        self.assertTrue(narrow[0].startswith("NAME "))
        self.assertGreater(len(wide[0].split()), len(narrow[0].split()))
        self.assertIn("shown", self.cli("describe", "job/shown"))
        self.assertNotIn("NAME", self.cli("get", "jobs", "--no-headers"))

    def test_what_get_prints_as_yaml_can_be_applied(self):
        self.apply(self.config("round", "0 0 1 1 *", "true"))
        before = self.object("jobconfigs/round")["spec"]
        text = self.cli("apply", "-f", "-", stdin=self.cli("get", "jobconfig/round", "-o", "yaml"))
        self.assertIn("unchanged", text)
        self.assertEqual(self.object("jobconfigs/round")["spec"], before)

    def test_logs_are_followed_until_the_end(self):
        self.apply(self.exec_job(
            "talk", f"echo one; while [ ! -e {self.path('go')} ]; do sleep 0.05; done; echo two"))
        self.wait_task("talk", "Running")
        with open(self.path("followed"), "wb") as out:
            follower = subprocess.Popen([BIN, "logs", "-f", "job/talk"], stdout=out,
                                        env=self.environment)
        try:
            wait_until(lambda: self.lines("followed") == ["one"], "the first line is seen at once")
            self.assertIsNone(follower.poll())
            self.write("go", "")
            self.assertEqual(follower.wait(20), 0)
        finally:
            follower.kill()
            follower.wait()
        self.assertEqual(self.lines("followed"), ["one", "two"])

    def test_following_ends_with_the_timeout(self):
        self.apply(self.exec_job("talk", "echo one; sleep 60"))
        self.wait_task("talk", "Running")
        for name in ("job/talk", "task/talk-0-1"):
            self.assertIn("--timeout is over",
                          self.cli("logs", "-f", name, "--timeout", "1s", code=3))
        self.cli("kill", "job/talk", "--wait", "--timeout", "10s")

    def test_what_follows_survives_a_restart_of_the_host(self):
        self.apply(self.exec_job(
            "talk", f"echo one; while [ ! -e {self.path('go')} ]; do sleep 0.05; done; echo two"))
        self.wait_task("talk", "Running")
        followers = []
        for name, arguments in (("by-job", ("logs", "-f", "job/talk")),
                                ("by-task", ("logs", "-f", "task/talk-0-1"))):
            with open(self.path(name), "wb") as out:
                followers.append(subprocess.Popen([BIN, *arguments], stdout=out, stderr=out,
                                                  env=self.environment))
        try:
            for name in ("by-job", "by-task"):
                wait_until(lambda name=name: self.lines(name) == ["one"], "the first line is seen")
            self.kill_host()
            note = f"note: the connection to `detent serve` at {self.url} broke; asking again"
            for name in ("by-job", "by-task"):
                wait_until(lambda name=name: note in self.read(self.path(name)), name + " says so")
            self.start_host("--listen", self.url.removeprefix("http://"))
            self.write("go", "")
            self.assertEqual([each.wait(30) for each in followers], [0, 0])
        finally:
            for each in followers:
                each.kill()
                each.wait()
        self.assertEqual(self.lines("by-job")[-1], "two")
        self.assertEqual(self.lines("by-task")[-1], "two")

    def test_next_foretells_what_the_host_does(self):
        hashed = self.config("hashed", "H H * * *", "true")
        said = []
        for settings in ("{defaultTimezone: Asia/Tokyo}", "{hashNames: false}"):
            self.stop_host()
            config = self.write("next.yaml", f"cron: {settings}\n")
            self.start_host("--config", config)
            self.apply(hashed)
            slot = wait_until(lambda: self.object("jobconfigs/hashed").get("status", {})
                              .get("nextScheduled"), "the host says its next slot")
            self.assertIn(slot, self.cli("next", "hashed", "--count", "1"))
            said.append(slot)
            self.cli("delete", "jobconfig/hashed", "--wait", "--timeout", "10s")
        self.assertNotEqual(said[0], said[1])

    def test_run_follows_output_and_takes_variables(self):
        self.apply(self.config("say", "0 0 1 1 *", "echo hello ${option.who}; exit 1"))
        text = self.cli("run", "say", "--follow", "--set", "option.who=world", code=4)
        self.assertIn("hello world", text)

    def test_get_watches(self):
        with open(self.path("watched"), "wb") as out:
            watcher = subprocess.Popen([BIN, "get", "jobs", "-w", "-o", "name"], stdout=out,
                                       env=self.environment)
        try:
            self.apply(self.exec_job("seen", "true"))
            wait_until(lambda: "job.execution.detent.dev/seen" in self.lines("watched"),
                       "the new Job is shown")
        finally:
            watcher.terminate()
            watcher.wait()

    def test_apply_and_delete_by_file(self):
        file = self.write("c.json", json.dumps(self.config("filed", "0 0 1 1 *", "true")))
        self.assertIn("created", self.cli("apply", "-f", file))
        self.assertIn("unchanged", self.cli("apply", "-f", file))
        self.write("c.json", json.dumps(self.config("filed", "0 0 2 1 *", "true")))
        self.cli("apply", "--dry-run", "-f", file)
        self.assertEqual(self.object("jobconfigs/filed")["metadata"]["generation"], 1)
        self.cli("apply", "-f", file)
        self.assertEqual(self.object("jobconfigs/filed")["metadata"]["generation"], 2)
        self.cli("delete", "-f", file, "--wait", "--timeout", "10s")
        self.assertIsNone(self.object("jobconfigs/filed"))

    def test_next_shows_slots(self):
        self.apply(self.config("yearly", "0 0 1 1 *", "true"))
        self.assertEqual(self.cli("next", "yearly", "--count", "2").count("-01-01T00:00:00Z"), 2)


class Words(HostTest):
    def commands(self):
        overview = self.cli("--help")
        return re.findall(r"^  ([a-z]+)  +\S", overview.split("Flags of all")[0], re.M)

    def test_every_command_has_help_with_an_example(self):
        commands = self.commands()
        self.assertIn("serve", commands)
        self.assertGreater(len(commands), 15)
        for name in set(commands) - {"help"}:
            with self.subTest(name):
                text = self.cli(name, "--help")
                self.assertIn("detent " + name, text.split("Examples:")[1])

    def test_completion_is_valid_and_knows_commands(self):
        script = self.cli("completion", "bash")
        for name in set(self.commands()) - {"serve", "config", "backup"}:
            self.assertRegex(script, rf"\b{name}\b")
        if shutil.which("bash"):
            file = self.write("completion", script)
            subprocess.run(["bash", "-n", file], check=True)
        self.cli("completion", "cobol", code=2)

    def test_completion_knows_the_host_commands(self):
        script = self.cli("completion", "bash")
        for name in ("serve", "config", "backup"):
            self.assertRegex(script, rf"\b{name}\b")

    def test_help_of_a_command_by_either_way(self):
        for name in set(self.commands()) - {"help"}:
            with self.subTest(name):
                self.assertEqual(self.cli("help", name), self.cli(name, "--help"))

    def test_version(self):
        self.environment["DETENT_SERVER"] = "http://127.0.0.1:1"
        self.assertRegex(self.run_cli("version").stdout, r"\d+\.\d+\.\d+")
