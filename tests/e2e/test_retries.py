"""Attempts, many indexes, limits of time, and what is cleaned up afterwards."""

import datetime
import os
import time

from harness import PLUGINS, HostTest, wait_until


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Retries(HostTest):
    def test_a_failed_attempt_is_repeated_after_its_delay(self):
        self.start_host()
        self.apply(self.exec_job("flaky", f"echo x >> {self.path('runs')}; "
                                 f"[ $(wc -l < {self.path('runs')}) -ge 3 ]",
                                 maxAttempts=3, retryDelaySeconds=1))
        job = self.wait_phase("flaky", "Succeeded")
        self.assertEqual(len(self.lines("runs")), 3)
        self.assertEqual(job["status"]["createdTasks"], 3)
        ended = instant(self.task("flaky", 0, 1)["status"]["finishTime"])
        begun = instant(self.task("flaky", 0, 2)["status"]["runningTime"])
        self.assertGreaterEqual((begun - ended).total_seconds(), 1)

    def test_attempts_are_used_up(self):
        self.start_host()
        self.apply(self.exec_job("hopeless", f"echo x >> {self.path('runs')}; exit 9",
                                 maxAttempts=2))
        job = self.wait_phase("hopeless", "Failed")
        self.assertEqual(len(self.lines("runs")), 2)
        self.assertEqual(job["status"]["failedIndexes"], "0")
        self.assertIn("9", self.cli("why", "job/hopeless"))

    def test_a_failed_index_ends_its_siblings(self):
        self.start_host()
        self.apply(self.exec_job(
            "siblings", "if [ ${task.index_num} = 1 ]; then "
            f"until [ -e {self.path('up0')} ] && [ -e {self.path('up2')} ]; do sleep 0.05; done; "
            f"exit 3; fi; touch {self.dir}/up${{task.index_num}}; sleep 100",
            {"gracePeriodSeconds": 1}, parallelism={"withCount": 3}))
        job = self.wait_phase("siblings", "Failed")
        self.assertEqual(self.task("siblings", 1)["status"]["exitCode"], 3)
        self.assertRegex(str(job["status"]["conditions"]), "index 1")
        for index in (0, 2):
            self.assertEqual(self.task("siblings", index)["status"]["result"], "Killed")

    def test_fifty_indexes_and_their_output(self):
        self.start_host()
        self.apply(self.exec_job("fifty", "echo lane ${task.index_num}",
                                 parallelism={"withCount": 50}))
        job = self.wait_phase("fifty", "Succeeded", 40)
        self.assertEqual(job["status"]["succeededIndexes"], "0-49")
        self.assertEqual(len(self.tasks_of("fifty")), 50)
        logs = self.cli("logs", "job/fifty")
        for index in range(50):
            self.assertIn(f"[{index}/1] lane {index}\n", logs)
        self.assertEqual(self.cli("logs", "job/fifty", "--index", "7").strip().split()[-1], "7")

    def test_a_task_that_does_not_run_in_time_is_ended(self):
        server = self.server()
        server.hold.set()
        config = self.write("detent.yaml", "plugins:\n  - path: " +
                            os.path.join(PLUGINS, "http.so") +
                            "\n    kind: http\n    config: {maxConnections: 1}\n")
        self.start_host("--config", config)
        self.apply(self.http_job("first", "GET", server.url + "/first"))
        wait_until(lambda: server.requests, "the only connection is taken")
        self.apply(self.http_job("pending", "GET", server.url + "/pending",
                                 taskPendingTimeoutSeconds=1))
        job = self.wait_phase("pending", "Failed")
        self.assertIn("PendingTimeout", str(job["status"]))
        self.assertEqual([path for _, path, _ in server.requests], ["/first"])

    def test_a_held_task_is_not_ended_by_the_pending_timeout(self):
        garbage = self.write("exec.so", "no shared object")
        self.start_host("--plugin", garbage)
        self.apply(self.exec_job("held", "true", taskPendingTimeoutSeconds=1))
        begun = time.monotonic()
        wait_until(lambda: time.monotonic() - begun > 2.5, "the timeout is long over")
        self.assertNotIn(self.job_phase("held"), ("Failed", "Killed"))

    def test_a_timeout_fails_the_attempt(self):
        self.start_host()
        self.apply(self.exec_job("slow", "sleep 60",
                                 {"timeoutSeconds": 1, "gracePeriodSeconds": 1}))
        self.wait_phase("slow", "Failed")
        self.assertEqual(self.task("slow")["status"]["reason"], "Timeout")

    def test_a_finished_job_goes_with_its_tasks_and_logs(self):
        self.start_host()
        self.apply(self.exec_job("brief", "echo hello", ttl=2))
        directory = os.path.join(self.data, "plugins/exec/tasks")
        self.wait_phase("brief", "Succeeded")
        self.assertEqual(len(os.listdir(directory)), 1)
        wait_until(lambda: self.object("jobs/brief") is None, "the Job is deleted")
        wait_until(lambda: not self.items("tasks"), "its Tasks are deleted")
        wait_until(lambda: os.listdir(directory) == [], "the task's directory is gone")

    def test_deleting_a_running_job_ends_its_processes(self):
        self.start_host()
        self.apply(self.exec_job("doomed", "sleep 100", {"gracePeriodSeconds": 1}))
        self.wait_task("doomed", "Running")
        self.cli("delete", "job/doomed", "--wait", "--timeout", "20s")
        self.assertIsNone(self.object("jobs/doomed"))
        wait_until(lambda: not self.items("tasks"), "its Tasks are gone")
        directory = os.path.join(self.data, "plugins/exec/tasks")
        wait_until(lambda: os.listdir(directory) == [], "the task's directory is gone")
