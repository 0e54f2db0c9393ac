"""What is installed is enough: the host finds its plugins, and a plugin is built without the sources."""

import json
import os
import shutil
import subprocess

import harness
from harness import API_VERSION, HostTest

BUILD = os.path.abspath(os.environ.get("DETENT_BUILD", "build"))
SOURCES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class Installed(HostTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        self.environment["CMAKE_GENERATOR"] = "Ninja"  # What is installed for the build itself.
        self.command("cmake", "--install", BUILD, "--prefix", self.prefix)
        self.kept = harness.BIN, HostTest.default_plugins
        harness.BIN = os.path.join(self.prefix, "bin/detent")
        HostTest.default_plugins = lambda _: []

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            harness.BIN, HostTest.default_plugins = self.kept

    def command(self, *arguments):
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, cwd=self.dir, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout.decode("utf-8", "replace")[-3000:])

    def test_the_host_takes_the_plugins_that_were_installed_with_it(self):
        installed = sorted(os.listdir(os.path.join(self.prefix, "lib/detent/plugins")))
        self.assertEqual([name for name in installed if name in ("exec.so", "http.so")],
                         ["exec.so", "http.so"])
        self.assertNotIn("hello.so", installed, "a plugin of the tests is installed")
        self.start_host()
        self.apply(self.exec_job("works", "true"))
        self.wait_phase("works", "Succeeded")
        shipped = os.path.join(self.prefix, "share/detent/detent.yaml")
        self.assertIn("is valid", self.cli("config", "check", shipped))

    def test_a_plugin_is_built_against_what_is_installed_and_runs(self):
        source = self.path("myplugin")
        shutil.copytree(os.path.join(self.prefix, "share/detent/template"), source)
        build = self.path("plugin-build")
        modules = os.path.join(self.prefix, "lib/cmake/detent")
        self.command("cmake", "-S", source, "-B", build, "-DCMAKE_MODULE_PATH=" + modules)
        self.command("cmake", "--build", build)
        self.assert_nothing_of_the_sources(build)
        plugin = os.path.join(build, "lib/detent/plugins/hello.so")
        config = self.write("detent.yaml", f"plugins:\n  - {{path: {plugin}, kind: hello}}\n")
        self.assertIn("1 plugin(s)", self.cli("config", "check", config))
        self.start_host("--config", config)
        job = self.write("greet.json", json.dumps(self.job("greet", {"hello": {"name": "you"}})))
        self.assertIn("Succeeded", self.cli("run", "-f", job, "--wait", "--timeout", "20s"))
        self.assertEqual(self.task("greet")["status"]["output"], "hello you")
        refused = {"apiVersion": API_VERSION, "kind": "Job", "metadata": {"name": "wrong"},
                   "spec": {"template": {"taskTemplate": {"hello": {"nmae": "you"}}}}}
        done = self.run_cli("apply", "-f", "-", stdin=json.dumps(refused))
        self.assertEqual(done.returncode, 1)
        self.assertIn("hello.nmae: there is no such field", done.stderr)

    def test_a_plugin_in_c_is_built_likewise(self):
        source = self.path("cplugin")
        shutil.copytree(os.path.join(self.prefix, "share/detent/template_c"), source)
        if not os.path.exists(os.path.join(source, "CMakeLists.txt")):
            self.write("cplugin/CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\n"
                       "project(hello LANGUAGES C CXX)\ninclude(DetentPlugin)\n"
                       "detent_add_plugin(hello SOURCES hello.c)\n")
        build = self.path("c-build")
        modules = os.path.join(self.prefix, "lib/cmake/detent")
        self.command("cmake", "-S", source, "-B", build, "-DCMAKE_MODULE_PATH=" + modules)
        self.command("cmake", "--build", build)
        self.assert_nothing_of_the_sources(build)
        self.start_host("--plugin", os.path.join(build, "lib/detent/plugins/hello.so"))
        self.assertIn("hello", self.cli("plugin", "list"))
        self.apply(self.job("greet", {"hello": {"name": "you"}}))
        self.wait_phase("greet", "Succeeded")

    def assert_nothing_of_the_sources(self, build):
        for directory, _, files in os.walk(build):
            for name in files:
                if not name.endswith((".make", ".ninja", ".d")):
                    continue
                text = self.read(os.path.join(directory, name))
                self.assertNotIn(SOURCES + "/include", text, name)
                self.assertNotIn(SOURCES + "/sdk", text, name)
