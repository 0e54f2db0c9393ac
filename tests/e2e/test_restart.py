"""A host that is killed finds its work again: nothing is lost, and nothing is done twice."""

from harness import HostTest, is_alive, wait_until


class Restart(HostTest):
    def running_pid(self, name):
        wait_until(lambda: self.lines(name), f"the process wrote {name}")
        return int(self.lines(name)[0])

    def test_a_running_process_is_adopted_with_the_same_pid(self):
        self.start_host()
        self.apply(self.exec_job("adopted", f"echo $$ >> {self.path('pid')}; echo before; "
                                 f"while [ ! -e {self.path('go')} ]; do sleep 0.05; done; "
                                 "echo after; exit 7"))
        self.wait_task("adopted", "Running")
        pid = self.running_pid("pid")
        self.kill_host()
        self.assertTrue(is_alive(pid), "the process ended with its host")
        self.start_host()
        task = self.wait_task("adopted", "Running")
        self.assertEqual(task["spec"].get("attempt", 1), 1)
        self.assertTrue(is_alive(pid), "the process ended when the host came back")
        self.write("go", "")
        job = self.wait_phase("adopted", "Failed")
        self.assertEqual(self.lines("pid"), [str(pid)], "it was started again")
        self.assertEqual(self.task("adopted")["status"]["exitCode"], 7)
        self.assertEqual(job["status"]["tasks"]["failed"][0]["exitCode"], 7)
        self.assertEqual(self.cli("logs", "job/adopted").splitlines(), ["before", "after"])

    def test_an_end_while_the_host_was_away_is_recorded(self):
        self.start_host()
        self.apply(self.exec_job("away", f"echo $$ >> {self.path('pid')}; "
                                 f"while [ ! -e {self.path('go')} ]; do sleep 0.05; done; exit 5"))
        self.wait_task("away", "Running")
        pid = self.running_pid("pid")
        self.kill_host()
        self.write("go", "")
        wait_until(lambda: not is_alive(pid), "the process has ended")
        self.start_host()
        self.wait_phase("away", "Failed")
        status = self.task("away")["status"]
        self.assertEqual((status["result"], status["exitCode"]), ("Failed", 5))
        self.assertEqual(self.lines("pid"), [str(pid)])

    def test_an_idempotent_request_is_repeated_under_the_next_attempt(self):
        server = self.server()
        server.hold.set()
        self.start_host()
        self.apply(self.http_job("again", "POST", server.url + "/again", idempotent=True))
        wait_until(lambda: server.requests, "the request arrived")
        self.wait_task("again", "Running")
        self.kill_host()
        server.hold.clear()
        self.start_host()
        job = self.wait_phase("again", "Succeeded")
        self.assertEqual(len(server.requests), 2)
        self.assertEqual(self.task("again", attempt=1)["status"]["result"], "Lost")
        self.assertEqual(self.task("again", attempt=2)["status"]["result"], "Succeeded")
        self.assertEqual(job["status"]["succeededIndexes"], "0")

    def test_another_request_is_lost_and_not_repeated(self):
        server = self.server()
        server.hold.set()
        self.start_host()
        self.apply(self.http_job("once", "POST", server.url + "/once", maxAttempts=1))
        wait_until(lambda: server.requests, "the request arrived")
        self.wait_task("once", "Running")
        self.kill_host()
        server.hold.clear()
        self.start_host()
        self.wait_phase("once", "Failed")
        self.assertEqual(self.task("once")["status"]["result"], "Lost")
        self.assertEqual(len(server.requests), 1)

    def test_a_lost_request_is_not_repeated_by_maxAttempts_either(self):
        server = self.server()
        server.hold.set()
        self.start_host()
        self.apply(self.http_job("never", "POST", server.url + "/never", maxAttempts=3))
        wait_until(lambda: server.requests, "the request arrived")
        self.wait_task("never", "Running")
        self.kill_host()
        server.hold.clear()
        self.start_host()
        self.wait_phase("never", "Failed")
        self.assertEqual(len(server.requests), 1)


if __name__ == "__main__":
    import unittest
    unittest.main()
