"""A plugin that cannot be used holds tasks; it never fails them."""

import os
import shutil

from harness import PLUGINS, HostTest, wait_until


class Held(HostTest):
    def assert_held(self, name):
        def held():
            status = (self.object("jobs/" + name) or {}).get("status", {})
            return "ExecutorUnavailable" in str(status)

        wait_until(held, "the Job says ExecutorUnavailable")
        why = self.cli("why", "job/" + name)
        self.assertIn("ExecutorUnavailable", why)
        self.assertIn("exec", why)

    def test_a_refused_plugin_holds_its_tasks_until_it_is_reloaded(self):
        plugin = self.write("exec.so", b"\x00garbage" * 100)
        self.start_host("--plugin", plugin)
        self.assertIn(plugin, self.cli("plugin", "list"))
        self.apply(self.exec_job("held", "echo ran"))
        self.assert_held("held")
        self.assertEqual(self.cli("plugin", "reload", "exec", code=1).count("error"), 1)
        shutil.copy(os.path.join(PLUGINS, "exec.so"), plugin + ".new")
        os.rename(plugin + ".new", plugin)
        self.cli("plugin", "reload", "exec")
        self.wait_phase("held", "Succeeded")
        self.assertEqual(self.cli("logs", "job/held").strip(), "ran")

    def test_tasks_are_held_across_a_restart_with_a_missing_plugin(self):
        plugin = self.path("exec.so")
        shutil.copy(os.path.join(PLUGINS, "exec.so"), plugin)
        self.start_host("--plugin", plugin)
        self.apply(self.exec_job("waits", f"while [ ! -e {self.path('go')} ]; do sleep 0.05; done"))
        self.wait_task("waits", "Running")
        self.stop_host()
        os.rename(plugin, plugin + ".away")
        self.start_host("--plugin", plugin)
        self.assert_held("waits")
        os.rename(plugin + ".away", plugin)
        self.write("go", "")
        self.cli("plugin", "reload", "exec")
        self.wait_phase("waits", "Succeeded")
        self.assertEqual(len(self.tasks_of("waits")), 1)

    def test_a_pin_that_does_not_match_is_refused(self):
        config = self.write("detent.yaml", "plugins:\n  - path: " +
                            os.path.join(PLUGINS, "exec.so") +
                            "\n    kind: exec\n    sha256: " + "ab" * 32 + "\n")
        self.start_host("--config", config)
        self.apply(self.exec_job("pinned", "true"))
        self.assert_held("pinned")
        self.assertIn("sha256", self.cli("plugin", "list"))
        self.cli("plugin", "reload", "nosuch", code=1)
