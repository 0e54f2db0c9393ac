"""Faults between a client and the API server, and an API server and an etcd that are killed."""

import http.client
import json
import ssl
import time

from cluster import ClusterTest, pod, wait_until


def config_map(name):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


class Faults(ClusterTest):
    nodes = "fake:1"
    flags = ("--proxy",)

    def setUp(self):
        self.addCleanup(self.cluster.no_rules)

    def create(self, name, code=0):
        return self.cluster.kubectl("create", "-f", "-", "--validate=false", proxy=True,
                                    stdin=config_map(name), code=code)

    def test_without_rules_it_passes_on_and_keeps_who_the_client_is(self):
        self.create("plain")
        self.assertTrue(self.cluster.get("configmap", "plain"))
        self.assertIn("admin", self.cluster.kubectl("auth", "whoami", proxy=True))
        token = self.cluster.kubectl("create", "token", "default").strip()
        told = self.cluster.kubectl("auth", "whoami", "--token", token, "--kubeconfig",
                                    self.anonymous_kubeconfig(), code=None)
        self.assertIn("system:serviceaccount:default:default", told)

    def anonymous_kubeconfig(self):
        path = self.cluster.directory + "/anonymous.kubeconfig"
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json",
                                                 proxy=True))
        config["users"] = []
        config["contexts"][0]["context"].pop("user")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    def test_a_reply_is_dropped_after_the_effect(self):
        rule = self.cluster.rule("drop-reply", method="^POST$", path="/configmaps", count=1)
        self.create("dropped", code=1)
        self.assertEqual(self.cluster.applied(rule), 1)
        self.assertTrue(self.cluster.get("configmap", "dropped"))

    def test_a_request_is_dropped_before_it_has_any_effect(self):
        self.cluster.rule("drop-request", method="^POST$", path="/configmaps", count=1)
        self.create("unseen", code=1)
        self.assertIsNone(self.cluster.get("configmap", "unseen"))
        self.create("unseen")

    def test_errors_are_answered_without_the_server(self):
        for status, word in ((409, "Conflict"), (410, "Expired"), (500, "InternalError"),
                             (503, "ServiceUnavailable")):
            self.cluster.rule("answer", method="^POST$", path="/configmaps", count=1, status=status)
            self.assertIn(word, self.create(f"answered-{status}", code=1))
            self.assertIsNone(self.cluster.get("configmap", f"answered-{status}"))

    def test_retry_after_is_kept_by_clients(self):
        rule = self.cluster.rule("answer", method="^POST$", path="/configmaps", count=1, status=429,
                                 retryAfter=1)
        began = time.monotonic()
        self.create("patient")
        self.assertGreaterEqual(time.monotonic() - began, 1)
        self.assertEqual(self.cluster.applied(rule), 1)

    def test_a_delay_is_waited_for(self):
        self.cluster.rule("delay", path="/configmaps", delay="700ms")
        began = time.monotonic()
        self.create("late")
        self.assertGreaterEqual(time.monotonic() - began, 0.7)

    def watched(self, label):
        """A watch through the proxy that has seen its first pod."""
        watch = self.watch("pods", "-l", f"test={label}", proxy=True)
        self.cluster.apply(pod(f"{label}-1", labels={"test": label}, outcome="hang"))
        wait_until(lambda: "Running" in [one["status"]["phase"] for _, one in watch.events()],
                   "the watch sees the first pod")
        return watch

    def test_an_open_watch_is_cut(self):
        watch = self.watched("cut")
        self.assertEqual(self.cluster.steer("cut", r"/pods\?.*test%3Dcut.*watch=true"), 1)
        wait_until(lambda: watch.process.poll() is not None, "kubectl's watch has ended")

    def test_an_open_watch_stalls_and_goes_on(self):
        watch = self.watched("stall")
        path = r"/pods\?.*test%3Dstall.*watch=true"
        self.assertEqual(self.cluster.steer("stall", path), 1)
        self.cluster.apply(pod("stall-2", labels={"test": "stall"}))
        self.cluster.kubectl("wait", "pod/stall-2", "--for=jsonpath={.status.phase}=Succeeded",
                             "--timeout=30s")
        self.assertNotIn("stall-2", [one["metadata"]["name"] for _, one in watch.events()])
        self.assertIsNone(watch.process.poll())
        self.assertEqual(self.cluster.steer("resume", path), 1)
        wait_until(lambda: "stall-2" in [one["metadata"]["name"] for _, one in watch.events()],
                   "the watch sees the second pod")

    def test_a_watch_expires_after_as_many_events_as_the_rule_says(self):
        rule = self.cluster.rule("expire", path=r"/pods\?.*test%3Dexpire.*watch=true",
                                 afterLines=2, count=1)
        watch = self.watch("pods", "-l", "test=expire", proxy=True)
        wait_until(lambda: self.cluster.applied(rule), "the watch has begun")
        self.cluster.apply(pod("expire-1", labels={"test": "expire"}))
        wait_until(lambda: len(watch.events()) == 3, "two events and the end")
        kind, status = watch.events()[-1]
        self.assertEqual((kind, status["code"], status["reason"]), ("ERROR", 410, "Expired"))

    def read_watch(self):
        """What a watch over HTTP/1.1 has said when it ends; None if its connection breaks."""
        path = self.cluster.directory
        tls = ssl.create_default_context(cafile=path + "/pki/ca.crt")
        tls.load_cert_chain(path + "/pki/admin.crt", path + "/pki/admin.key")
        with open(path + "/ports/proxy", encoding="ascii") as file:
            port = int(file.read().split()[1])
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=30)
        self.addCleanup(connection.close)
        try:
            connection.request("GET", "/api/v1/namespaces?watch=true")
            return connection.getresponse().read()
        except (http.client.IncompleteRead, ConnectionError, ssl.SSLError):
            return None

    def test_a_watch_over_http_1_ends_in_order_or_breaks(self):
        self.cluster.rule("end", path="/namespaces.*watch=true", afterLines=2, count=1)
        self.cluster.rule("cut", path="/namespaces.*watch=true", afterLines=2, count=1)
        self.assertEqual(self.read_watch().count(b"\n"), 2)
        self.assertIsNone(self.read_watch())

    def test_what_a_rule_draws_is_the_same_again(self):
        def draw():
            self.cluster.no_rules()
            self.cluster.rule("answer", path="/configmaps/drawn", status=500, probability=0.5,
                              seed=7)
            return ["InternalError" in self.cluster.kubectl("get", "configmap/drawn", proxy=True,
                                                            code=None) for _ in range(8)]

        first = draw()
        self.assertEqual(first, draw())
        self.assertEqual({True, False}, set(first))

    def test_a_misspelt_rule_is_refused(self):
        for fields, told in (({"action": "dely"}, "action"), ({"action": "answer"}, "status"),
                             ({"action": "cut", "pth": "x"}, "pth"),
                             ({"action": "delay", "delay": 5}, "a time is a string"),
                             ({"action": "cut", "path": "("}, "path")):
            with self.assertRaisesRegex(AssertionError, told):
                self.cluster.control("POST", "/rules", fields)


class Crashes(ClusterTest):
    nodes = "fake:1"

    def test_the_api_server_and_etcd_come_back_with_what_they_knew(self):
        self.cluster.apply(pod("kept", outcome="hang"))
        self.cluster.kubectl("wait", "pod/kept", "--for=condition=Ready", "--timeout=30s")
        self.cluster.component("kill", "apiserver")
        self.assertIn("refused", self.cluster.kubectl("get", "pods", code=1))
        self.cluster.component("restart", "etcd")
        self.cluster.component("start", "apiserver")
        self.assertEqual(self.cluster.get("pod", "kept")["status"]["phase"], "Running")
        self.cluster.apply(pod("after"))  # Scheduler and kwok have found their way back.
        self.cluster.kubectl("wait", "pod/after", "--for=jsonpath={.status.phase}=Succeeded",
                             "--timeout=60s")
        self.cluster.component("kill", "etcd")  # So that removing it meets an etcd that is gone.
