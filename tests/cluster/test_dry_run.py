"""Jobs of Pods that a real API server tries out before they are stored, where the plugin's config
wants it: told in its words, at the fields of the Job."""

import json
import os

from cluster import wait_until
from test_pod_jobs import PLUGINS, PodTest

POD = "spec.template.taskTemplate.pod"


class DryRuns(PodTest):
    nodes = "fake:1"
    mode = "Warn"

    def host_up(self, proxied=True):
        config = {"plugins": [{"path": os.path.join(PLUGINS, "pod.so"), "kind": "pod",
                               "config": {"dryRunAtAdmission": self.mode} if self.mode else {}}]}
        path = os.path.join(self.dir, "host.yaml")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(config, out)
        self.start_host("--config", path, "--kubeconfig", self.cluster.kubeconfig + ".proxy")
        wait_until(lambda: self.plugin_state() == "Ready", "the plugin is open")

    def plugin_state(self):
        status, plugins = self.request("GET", "/detent/v1/plugins")
        self.assertEqual(status, 200)
        return plugins["items"][0]["state"]

    def again(self, mode):
        self.stop_host()
        self.mode = mode
        self.host_up()

    def container(self, name, image="localhost/busybox:1", **fields):
        return self.pod_job(name, outcome="hang",
                            spec={"containers": [dict(fields, name="main", image=image)]})

    def tried(self, manifest, *flags):
        """Whether apply succeeded, and all that it said."""
        done = self.run_cli("apply", "-f", "-", *flags, stdin=json.dumps(manifest))
        return done.returncode == 0, done.stdout + done.stderr

    def test_what_the_server_would_not_take_is_warned_about_at_its_field(self):
        taken, said = self.tried(self.container("policy", imagePullPolicy="Sometimes"))
        self.assertTrue(taken, said)
        self.assertIn(f'{POD}.spec.containers[0].imagePullPolicy: the API server refuses it: '
                      'Unsupported value: "Sometimes": supported values: "Always", ', said)
        self.assertIsNotNone(self.object("jobs/policy"))
        self.assertIn(f"{POD}.spec.containers[0].imge: unknown field of a Pod",
                      self.tried(self.container("slip", imge="x"))[1])
        self.assertIn(f"{POD}: the API server refuses it: ", self.tried(
            self.container("quantity", resources={"requests": {"cpu": "much"}}))[1])
        self.assertIn(f"{POD}.spec.containers[0].env[0].name", self.tried(
            self.container("variable", env=[{"name": "a=b", "value": "c"}]))[1])

    def test_a_good_pod_is_taken_without_a_word_and_nothing_is_made(self):
        seen = self.cluster.rule("delay", path="dryRun=All", delay="1ms")
        taken, said = self.tried(self.container(
            "good", image="localhost/busybox:${option.tag}", imagePullPolicy="Always",
            resources={"requests": {"cpu": "${option.cpu}m"}, "limits": {"cpu": "2"}}),
            "--dry-run")
        self.assertTrue(taken)
        self.assertNotIn("arning", said)
        self.assertEqual(self.cluster.applied(seen), 1)
        self.assertEqual(self.pods(), [])

    def test_where_the_operator_wants_it_a_spec_is_refused(self):
        self.again("Refuse")
        for flags in ((), ("--dry-run",)):
            taken, said = self.tried(self.container("bad", imagePullPolicy="Sometimes"), *flags)
            self.assertFalse(taken)
            self.assertIn(f"{POD}.spec.containers[0].imagePullPolicy", said)
        self.assertIsNone(self.object("jobs/bad"))
        self.assertTrue(self.tried(self.container("good"))[0])

    def test_a_server_that_does_not_answer_refuses_nothing(self):
        self.again("Refuse")
        for number, rule in enumerate(({"action": "answer", "status": 503},
                                       {"action": "delay", "delay": "4s"})):
            self.cluster.rule(path="dryRun=All", **rule)
            taken, said = self.tried(self.container(f"away-{number}", imagePullPolicy="Sometimes"))
            self.assertTrue(taken, said)
            self.assertIn("could not be tried out, and is taken as it is: ", said)
            self.cluster.no_rules()

    def test_nothing_is_asked_unless_the_config_wants_it(self):
        self.again(None)
        seen = self.cluster.rule("delay", path="dryRun", delay="1ms")
        taken, said = self.tried(self.container("unasked", imagePullPolicy="Sometimes"))
        self.assertTrue(taken)
        self.assertNotIn("arning", said)
        self.assertEqual(self.cluster.applied(seen), 0)
