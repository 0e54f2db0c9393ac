"""The admission webhook on a real API server: what kubectl is told, and certificates that change meanwhile."""

import base64
import json
import os
import signal
import ssl
import subprocess
import tempfile

from cluster import HERE, ClusterTest, leave_out, wait_until

CONFIG = os.path.join(HERE, "../../config/kubernetes")
API = "execution.detent.dev/v1alpha1"
HOST = "system:serviceaccount:detent:detent"
YEAR = 365 * 24 * 3600
REFUSED = "minute: 61 is not in 0-59"


class Host:
    """A process that serves the webhook (webhook_server.cc) as the host's ServiceAccount."""

    def __init__(self, kubeconfig, life=YEAR, settle=0.5):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.environ["DETENT_WEBHOOK_SERVER"], kubeconfig, str(life), "1000",
             str(int(settle * 1000))],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def shown(self):
        """The certificate, as PEM."""
        return ssl.get_server_certificate(("127.0.0.1", self.port)).strip()

    def logged(self):
        return os.pread(self.log.fileno(), 1 << 20, 0).decode()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


def job_config(name="nightly", expression="30 2 * * *", zone="Asia/Singapore", **executor):
    return {"apiVersion": API, "kind": "JobConfig",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"concurrency": {"policy": "Forbid"},
                     "schedule": {"cron": {"expression": expression, "timezone": zone}},
                     "template": {"spec": {"taskTemplate": {
                         "exec": executor or {"command": ["true"]}}}}}}


def job(name="once", **spec):
    spec = spec or {"template": {"taskTemplate": {"exec": {"command": ["true"]}}}}
    return {"apiVersion": API, "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": spec}


class Webhooks(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        if "DETENT_WEBHOOK_SERVER" not in os.environ:
            leave_out("DETENT_WEBHOOK_SERVER does not name the program; ctest sets it")
        super().setUpClass()
        for name in ("namespace", "crds/jobconfigs", "crds/jobs", "crds/tasks", "rbac", "webhook"):
            cls.install(name)
        cls.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
        # There is no kube-proxy: an external name is where an API server goes by itself, and it
        # still asks for the Service's name in the certificate.
        cls.cluster.apply({"apiVersion": "v1", "kind": "Service",
                           "metadata": {"name": "detent-webhook", "namespace": "detent"},
                           "spec": {"type": "ExternalName", "externalName": "127.0.0.1"}})
        cls.kubeconfig = cls.cluster.kubeconfig + ".host"
        with open(cls.cluster.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        with open(cls.kubeconfig, "w", encoding="utf-8") as file:
            file.write(text.replace("  user:\n", f"  user:\n    as: {HOST}\n", 1))

    @classmethod
    def install(cls, name):
        return cls.cluster.kubectl("apply", "--server-side", "--field-manager=detent", "-f",
                                   os.path.join(CONFIG, name + ".yaml"))

    def setUp(self):
        self.cluster.kubectl("delete", "secret", "-n", "detent", "--all")

    def host(self, **options):
        host = Host(self.kubeconfig, **options)
        self.addCleanup(host.close)
        return host

    def entry(self):
        return self.cluster.get("validatingwebhookconfiguration", "detent")["webhooks"][0]

    def bundle(self):
        return base64.b64decode(self.entry()["clientConfig"].get("caBundle", "")).decode()

    def secret(self):
        found = self.cluster.get("secret", "-n", "detent", "detent-webhook")
        return found and {name: base64.b64decode(value).decode().strip()
                          for name, value in found["data"].items()}

    def change_entry(self, path, value):
        patch = [{"op": "replace", "path": f"/webhooks/0/clientConfig/{path}", "value": value}]
        self.cluster.kubectl("patch", "validatingwebhookconfiguration", "detent", "--type=json",
                             "-p", json.dumps(patch))

    def try_bad(self):
        return self.cluster.kubectl("create", "--dry-run=server", "-f", "-", code=None,
                                    stdin=json.dumps(job_config("bad", "61 * * * *")))

    def send_to(self, host):
        """The API server asks that host, and believes it."""
        self.change_entry("service/port", host.port)
        wait_until(lambda: REFUSED in self.try_bad(), "the API server asks the webhook")

    def refused(self, document, verb="apply"):
        return self.cluster.kubectl(verb, "-f", "-", stdin=json.dumps(document), code=1)

    def taken(self, document):
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
        self.addCleanup(self.cluster.kubectl, "delete", "--ignore-not-found", "-f", "-",
                        stdin=json.dumps(document))

    def test_all_mistakes_of_a_job_config_are_told_at_once(self):
        self.send_to(self.host())
        told = self.refused(job_config("bad", "61 * * * *", "Mars/Olympus", timeoutSeconds=-3))
        print(told)
        self.assertIn('The JobConfig "bad" is invalid', told)
        self.assertEqual(told.count("\n* "), 4)
        for field in ("schedule.cron.expression", "schedule.cron.timezone",
                      "template.spec.taskTemplate.exec.command",
                      "template.spec.taskTemplate.exec.timeoutSeconds"):
            self.assertIn(f"* spec.{field}: ", told)
        self.assertIsNone(self.cluster.get("jobconfig", "bad"))

    def test_good_objects_are_taken_and_may_change_where_they_may(self):
        self.send_to(self.host())
        self.taken(job_config())
        self.taken(job_config(expression="0 4 * * *"))
        self.refused(job_config(expression="61 * * * *"))
        expression = self.cluster.get("jobconfig", "nightly")["spec"]["schedule"]["cron"]["expression"]
        self.assertEqual(expression, "0 4 * * *")
        self.taken(job())
        told = self.cluster.kubectl("annotate", "job.execution.detent.dev", "once", "a=b")
        self.assertIn("annotated", told)

    def test_what_is_immutable_is_refused_unless_the_object_is_being_deleted(self):
        self.send_to(self.host())
        once = job()
        once["metadata"]["finalizers"] = ["example.com/hold"]
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(once))
        # The kind's own rules say nothing of labels.
        once["metadata"]["labels"] = {"execution.detent.dev/job-config-uid": "another"}
        told = self.refused(once)
        self.assertIn("metadata.labels[execution.detent.dev/job-config-uid]: Invalid value: is "
                      "immutable", told.replace(".execution.detent.dev", "[execution.detent.dev"))
        self.cluster.kubectl("delete", "job.execution.detent.dev", "once", "--wait=false")
        self.assertIn("configured",
                      self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(once)))
        self.cluster.kubectl("patch", "job.execution.detent.dev", "once", "--type=merge", "-p",
                             '{"metadata": {"finalizers": null}}')
        wait_until(lambda: self.cluster.get("job.execution.detent.dev", "once") is None, "it goes")

    def test_a_job_that_names_a_job_config_is_judged_with_it(self):
        self.send_to(self.host())
        told = self.refused(job("run", configName="nightly"))
        self.assertIn('spec.configName: Not found: there is no JobConfig "nightly"', told)
        self.taken(job_config())
        self.taken(job("run", configName="nightly"))

    def test_the_host_itself_is_not_asked(self):
        self.send_to(self.host())
        self.taken(job_config())
        self.taken(job("run", configName="nightly"))
        # What it does with such a Job, and nobody else may.
        label = ("label", "job.execution.detent.dev", "run",
                 "execution.detent.dev/job-config-uid=1234")
        self.assertIn("immutable", self.cluster.kubectl(*label, code=1))
        self.cluster.kubectl(*label, "--as", HOST)

    def test_a_certificate_is_renewed_while_requests_go_on(self):
        host = self.host(life=12, settle=1)
        self.send_to(host)
        shown, seen, most = {host.shown()}, set(), 0

        def renewed_twice():
            # Every single request on the way is judged, so none met a certificate it did not trust.
            self.assertIn(REFUSED, self.try_bad(), host.logged())
            shown.add(host.shown())
            bundle = self.bundle()
            seen.add(bundle)
            nonlocal most
            most = max(most, bundle.count("BEGIN CERTIFICATE"))
            return len(shown) >= 3

        wait_until(renewed_twice, "two renewals", 60)
        print(f"{len(shown)} certificates shown, {len(seen)} caBundles of up to {most} authorities")
        self.assertEqual(most, 2)
        self.assertIn(self.secret()["ca.crt"], self.bundle())

    def test_two_hosts_share_one_certificate(self):
        hosts = [self.host(), self.host()]
        wait_until(lambda: self.secret() and
                   all(host.shown() == self.secret()["tls.crt"] for host in hosts), "one for both")
        for host in hosts:
            self.send_to(host)
        # And the next one, too. Nobody waits eight months.
        before = self.secret()["tls.crt"]
        self.cluster.kubectl("delete", "secret", "-n", "detent", "detent-webhook")
        wait_until(lambda: self.secret() and self.secret()["tls.crt"] != before and
                   all(host.shown() == self.secret()["tls.crt"] for host in hosts), "a new one")
        for host in hosts:
            self.send_to(host)

    def test_where_no_host_answers_objects_are_stored_unasked(self):
        host = self.host()
        self.send_to(host)
        host.process.send_signal(signal.SIGSTOP)
        self.assertIn("created (server dry run)", self.try_bad())
        host.process.send_signal(signal.SIGCONT)
        wait_until(lambda: REFUSED in self.try_bad(), "it is asked again")
        host.process.kill()
        host.process.wait()
        self.assertIn("created (server dry run)", self.try_bad())

    def test_the_ca_bundle_outlives_an_installation_and_is_put_right_when_spoiled(self):
        host = self.host()
        self.send_to(host)
        bundle = self.bundle()
        self.change_entry("service/port", 443)
        self.assertIn("serverside-applied", self.install("webhook"))
        self.assertEqual(self.bundle(), bundle)
        self.change_entry("caBundle", "")
        wait_until(lambda: self.bundle() == bundle, "the host has put it right")
        self.cluster.kubectl("delete", "validatingwebhookconfiguration", "detent")
        wait_until(lambda: "is not in place" in host.logged(), "the host has noticed")
        self.install("webhook")
        wait_until(lambda: self.bundle() == bundle, "the host has put it right again")

    def test_it_ends_in_good_order(self):
        host = self.host()
        host.process.send_signal(signal.SIGTERM)
        self.assertEqual(host.process.wait(timeout=10), 0)
