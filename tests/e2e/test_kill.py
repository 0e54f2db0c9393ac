"""Kill: a Job that is killed has ended, and so has all that belonged to it."""

import time

from harness import HostTest, is_alive, wait_until


class Kill(HostTest):
    def test_a_process_that_ignores_term_is_killed_after_its_grace(self):
        self.start_host()
        script = (f"trap '' TERM; echo $$ >> {self.path('pids')}; "
                  f"(trap '' TERM; exec sleep 300) & echo $! >> {self.path('pids')}; "
                  "while :; do sleep 0.1; done")
        self.apply(self.exec_job("stubborn", script, {"gracePeriodSeconds": 1}))
        self.wait_task("stubborn", "Running")
        wait_until(lambda: len(self.lines("pids")) == 2, "both processes run")
        pids = [int(line) for line in self.lines("pids")]
        begun = time.monotonic()
        self.cli("kill", "job/stubborn", "--wait", "--timeout", "20s")
        self.assertGreater(time.monotonic() - begun, 0.9, "it did not get its grace")
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])
        self.assertEqual(self.job_phase("stubborn"), "Killed")
        self.assertEqual(self.task("stubborn")["status"]["result"], "Killed")

    def test_a_killed_request_closes_its_connection(self):
        server = self.server()
        server.hold.set()
        self.start_host()
        self.apply(self.http_job("call", "POST", server.url + "/call", maxAttempts=3))
        wait_until(lambda: server.requests, "the request arrived")
        self.cli("kill", "job/call", "--wait", "--timeout", "20s")
        self.assertEqual(self.job_phase("call"), "Killed")
        wait_until(lambda: server.broken_off == ["/call"], "the server sees the connection closed")
        self.assertEqual(len(server.requests), 1)

    def test_a_killed_task_fails_its_job_or_is_tried_again(self):
        self.start_host()
        self.apply(self.exec_job("one", f"echo x >> {self.path('runs')}; sleep 60",
                                 {"gracePeriodSeconds": 1}))
        self.wait_task("one", "Running")
        self.cli("kill", "task/one-0-1", "--wait", "--timeout", "20s")
        wait_until(lambda: self.job_phase("one") in ("Killed", "Failed"), "the Job has ended")
        self.assertEqual(self.lines("runs"), ["x"])

    def test_a_kill_may_lie_ahead(self):
        self.start_host()
        self.apply(self.exec_job("later", "sleep 60", {"gracePeriodSeconds": 1}))
        self.wait_phase("later", "Running")
        self.cli("kill", "job/later", "--at", "2s")
        self.assertEqual(self.job_phase("later"), "Running")
        self.wait_phase("later", "Killed")

    def test_a_kill_outlives_the_host(self):
        self.start_host()
        self.apply(self.exec_job("persist", f"trap '' TERM; echo $$ > {self.path('pid')}; "
                                 "while :; do sleep 0.1; done", {"gracePeriodSeconds": 2}))
        self.wait_task("persist", "Running")
        wait_until(lambda: self.lines("pid"), "the process runs")
        self.cli("kill", "job/persist")
        self.kill_host()
        self.start_host()
        self.wait_phase("persist", "Killed")
        self.assertFalse(is_alive(int(self.lines("pid")[0])))
