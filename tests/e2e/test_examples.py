"""The examples in the help texts do what they say: each is run once, as it stands, on a live host."""

import json
import os
import re
import shutil
import signal
import subprocess

import harness
from harness import HostTest, wait_until

# A host's own files, which an example names where an installation has them.
PLACES = (("/var/lib/detent", "{data}"), ("/backup/", "{dir}/"),
          ("/etc/detent/detent.yaml", "{dir}/detent.yaml"))


class Examples(HostTest):
    def setUp(self):
        super().setUp()
        # The examples say `detent`, in a directory with the files that they name.
        os.mkdir(self.path("bin"))
        os.symlink(harness.BIN, self.path("bin/detent"))
        self.environment["PATH"] = self.path("bin") + ":" + os.environ["PATH"]
        nightly = self.config("nightly", "0 3 * * *", "echo nightly")
        nightly["metadata"]["labels"] = {"team": "data"}
        self.write("nightly.yaml", json.dumps(nightly))
        self.write("job.yaml", json.dumps(self.exec_job("of-file", "true")))
        self.write("detent.yaml", f"data: {self.path('other')}\n")
        os.mkdir(self.path("jobs"))
        shutil.copy(self.path("nightly.yaml"), self.path("jobs/nightly.yaml"))
        self.start_host()

    def examples_of(self, command):
        text = self.cli(command, "--help").split("Examples:\n")[1].split("\n\n")[0]
        lines = [line.strip() for line in text.splitlines()]
        return [line for line in lines if not line.startswith("#")]

    def make_objects(self, script):
        """What the examples name; `script` is what hello-x7k2p does."""
        for job in ("hello", "hello-x7k2p", "shards", "long"):
            self.cli("delete", "job/" + job, "--ignore-not-found", "--wait", "--timeout", "20s")
        self.cli("apply", "-f", self.path("nightly.yaml"))
        self.apply(self.config("report", "0 0 1 1 *", "echo day ${option.day}"))
        quick = {"gracePeriodSeconds": 1}
        self.apply(self.exec_job("hello", "exit 1"))
        self.apply(self.exec_job("hello-x7k2p", script, quick))
        self.apply(self.exec_job("shards", "echo ${task.index_num}", parallelism={"withCount": 5}))
        self.apply(self.exec_job("long", "sleep 60", quick))
        self.wait_phase("shards", "Succeeded")
        self.wait_phase("hello", "Failed")
        self.wait_task("long", "Running")
        if script == "true":
            self.wait_phase("hello-x7k2p", "Succeeded")
        else:
            self.wait_task("hello-x7k2p", "Running")

    def shell(self, line):
        for place, here in PLACES:
            line = line.replace(place, here.format(data=self.data, dir=self.dir))
        done = subprocess.run(["bash", "-c", line], cwd=self.dir, env=self.environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def until(self, line, words):
        """An example that does not end by itself: run until it has said these words."""
        for place, here in PLACES:
            line = line.replace(place, here.format(data=self.data, dir=self.dir))
        out = self.path("until.out")
        with open(out, "wb") as stream:
            process = subprocess.Popen(["bash", "-c", "exec " + line], cwd=self.dir, stdout=stream,
                                       stdin=subprocess.DEVNULL, env=self.environment,
                                       stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: words in self.read(out) or process.poll() is not None, line)
            self.assertIn(words, self.read(out), line)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)

    def test_each_example_of_each_command_works(self):
        overview = self.cli("--help").split("Flags of all")[0]
        for command in re.findall(r"^  ([a-z]+)  +\S", overview, re.M):
            # Those of `install` need a cluster: tests/cluster/test_install.py runs them.
            if command in ("help", "serve", "install"):
                continue
            for line in self.examples_of(command):
                with self.subTest(line):
                    stays = command == "kill" or "=Running" in line
                    self.make_objects("sleep 60" if stays else "true")
                    self.run_example(line)

    def run_example(self, line):
        if "fish" in line and shutil.which("fish") is None:
            line = line.replace("| fish", "").replace("| source", "")
        if line.startswith("detent get") and " -w " in line:
            self.until(line, "hello")
            return
        code, text = self.shell(line)
        self.assertEqual(code, 0, line + "\n" + text)
        self.assertNotRegex(text, r"(?m)^error:")

    def test_the_examples_of_serve_serve(self):
        lines = self.examples_of("serve")
        self.stop_host()
        # Nothing is asked of a cluster before an executor wants something of it.
        home = self.path("home")
        os.makedirs(os.path.join(home, ".kube"))
        with open(os.path.join(home, ".kube/config"), "w", encoding="utf-8") as file:
            file.write("{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "
                       "'https://127.0.0.1:1'}}], users: [{name: u, user: {}}], contexts: "
                       "[{name: staging, context: {cluster: c, user: u}}]}")
        self.environment["HOME"] = home
        for line in lines:
            with self.subTest(line):
                self.until(line + " --listen 127.0.0.1:0", "detent serves http://127.0.0.1:")


class Completion(HostTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(harness.BIN, self.path("bin/detent"))
        self.environment["PATH"] = self.path("bin") + ":" + os.environ["PATH"]
        self.start_host()

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = ('source <(detent completion bash)\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n'
                  "_detent\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
        done = subprocess.run(["bash", "-c", script, "bash", "detent", *words], check=True,
                              capture_output=True, env=self.environment, cwd=self.dir)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split()

    def test_bash_offers_commands_types_names_flags_and_choices(self):
        self.apply(self.config("nightly", "0 0 1 1 *", "true"))
        self.write("manifest.yaml", "")
        for words, offered in (
                (["ser"], ["serve"]), (["config", ""], ["check"]),
                (["get", "job"], ["jobconfigs", "jobs", "jobconfig/nightly"]),
                (["-n", "default", "get", "jobconfig/n"], ["jobconfig/nightly"]),
                (["-n", "nobody", "get", "jobconfig/n"], []),
                (["run", "nig"], ["nightly"]), (["get", "--outp"], ["--output"]),
                (["get", "jobs", "-o", "w"], ["wide"]), (["get", "jobs", "-n", ""], []),
                (["apply", "-f", "man"], ["manifest.yaml"]), (["help", "val"], ["validate"])):
            with self.subTest(words):
                self.assertEqual(self.complete(*words), offered)
