"""What an operator does: start, secure, watch, copy and stop a host."""

import os
import socket
import sqlite3
import stat
import urllib.error
import urllib.request

from harness import HostTest, processes_with, wait_until


class Operation(HostTest):
    def get(self, path, headers=None):
        request = urllib.request.Request(self.url + path, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def test_one_host_per_data_directory(self):
        self.start_host()
        done = self.run_cli("serve", "--data", self.data, "--listen", "127.0.0.1:0", timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.data, done.stderr)
        self.cli("get", "jobs")

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = self.run_cli("serve", "--data", self.data, "--listen", f"127.0.0.1:{port}",
                                timeout=20)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"127.0.0.1:{port}", done.stderr)

    def test_a_backup_of_a_live_host_restores(self):
        self.start_host()
        self.apply(self.config("kept", "0 0 1 1 *", "true"))
        self.apply(self.exec_job("done", "true"))
        self.wait_phase("done", "Succeeded")
        copy = self.path("copy.db")
        self.cli("backup", "--data", self.data, copy)
        self.apply(self.config("newer", "0 0 1 1 *", "true"))
        self.stop_host()
        restored = self.path("restored")
        os.mkdir(restored)
        os.rename(copy, os.path.join(restored, "detent.db"))
        with sqlite3.connect(os.path.join(restored, "detent.db")) as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        db.close()
        self.start_host(data=restored)
        self.assertEqual(self.job_phase("done"), "Succeeded")
        self.assertEqual([c["metadata"]["name"] for c in self.items("jobconfigs")], ["kept"])
        self.cli("run", "kept", "--wait", "--timeout", "20s")

    def test_a_backup_does_not_overwrite_and_needs_a_directory(self):
        self.cli("backup", "--data", self.path("nosuch"), self.path("copy.db"), code=1)
        self.assertFalse(os.path.exists(self.path("nosuch")))
        self.cli("backup", code=2)

    def test_the_network_needs_a_token(self):
        done = self.run_cli("serve", "--data", self.data, "--listen", "0.0.0.0:0", timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "(?i)token")

    def test_a_token_is_asked_for(self):
        token = self.write("token", "s3cret-token\n")
        os.chmod(token, 0o600)
        config = self.write("detent.yaml", f"listen: {{tokenFile: {token}}}\n")
        self.start_host("--config", config)
        path = "/apis/execution.detent.dev/v1alpha1/jobs"
        self.assertEqual(self.get(path)[0], 401)
        self.assertEqual(self.get(path, {"Authorization": "Bearer wrong"})[0], 401)
        self.assertEqual(self.get(path, {"Authorization": "Bearer s3cret-token"})[0], 200)
        self.cli("get", "jobs", code=1)
        self.cli("get", "jobs", "--token-file", token)
        self.write("token", "another-token\n")
        wait_until(lambda: self.run_cli("get", "jobs", "--token-file", token).returncode == 0,
                   "the new token is taken")
        self.assertEqual(self.get(path, {"Authorization": "Bearer s3cret-token"})[0], 401)
        self.assertNotIn("s3cret-token", self.host_log())
        self.assertEqual(self.get("/healthz")[0], 200)

    def test_a_unix_socket(self):
        path = self.path("detent.sock")
        self.start_host("--socket", path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.cli("get", "jobs", "--server", "unix:" + path)
        self.kill_host()
        self.start_host("--socket", path)
        self.cli("get", "jobs", "--server", "unix:" + path)
        self.stop_host()
        self.assertFalse(os.path.exists(path))

    def test_plain_endpoints(self):
        self.start_host()
        self.assertEqual(self.get("/healthz"), (200, "ok"))
        self.assertEqual(self.get("/readyz"), (200, "ok"))
        self.assertIn("gitVersion", self.get("/version")[1])
        self.apply(self.exec_job("measured", "true"))
        self.wait_phase("measured", "Succeeded")
        code, metrics = self.get("/metrics")
        self.assertEqual(code, 200)
        self.assertRegex(metrics, r"(?m)^detent_store_writes_total [1-9]")
        for line in metrics.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{.*\})? [-+0-9.eInfNa]+)$")

    def test_a_stop_leaves_only_tasks_and_nothing_once_they_end(self):
        self.start_host()
        self.apply(self.exec_job("lasting", f"echo $$ > {self.path('pid')}; "
                                 f"while [ ! -e {self.path('go')} ]; do sleep 0.05; done"))
        self.wait_task("lasting", "Running")
        host = self.host.pid
        self.assertEqual(self.stop_host(), 0)
        self.assertNotIn(host, processes_with(self.mark))
        self.assertTrue(processes_with(self.mark), "the task ended with its host")
        self.write("go", "")
        wait_until(lambda: not processes_with(self.mark), "nothing is left once the task has ended")
        self.start_host()
        self.wait_phase("lasting", "Succeeded")
        self.assertEqual(self.stop_host(), 0)
        self.assertEqual(processes_with(self.mark), [])

    def test_two_stops_while_a_request_is_in_flight(self):
        server = self.server()
        server.hold.set()
        self.start_host()
        self.apply(self.http_job("open", "GET", server.url + "/open"))
        wait_until(lambda: server.requests, "the request arrived")
        self.assertEqual(self.stop_host(), 0)
        server.hold.clear()
        self.start_host()
        self.wait_phase("open", "Succeeded")
