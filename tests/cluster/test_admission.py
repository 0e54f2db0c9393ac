"""What hosts in a cluster answer for admission: whichever of them the API server asks."""

import json
import unittest

from cluster import wait_until
from home import HomeTest, manifest, pod_template

FIELD = "spec.template.taskTemplate.pod.spec.containers[0].imagePullPolicy"


class Admission(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # There is no kube-proxy: an external name is where an API server goes by itself, and it
        # still asks for the Service's name in the certificate.
        cls.cluster.apply({"apiVersion": "v1", "kind": "Service",
                           "metadata": {"name": "detent-webhook", "namespace": "detent"},
                           "spec": {"type": "ExternalName", "externalName": "127.0.0.1"}})

    def asked(self, host):
        """The API server asks that host from now on."""
        path = "/webhooks/0/clientConfig/service/port"
        patch = [{"op": "replace", "path": path, "value": host.webhook_port()}]
        self.cluster.kubectl("patch", "validatingwebhookconfiguration", "detent", "--type=json",
                             "-p", json.dumps(patch))

    def tried(self, policy):
        """What kubectl is told of a Job whose Pod pulls its image by that policy."""
        job = manifest("Job", "tried", {"template": pod_template()}, namespace="default")
        job["spec"]["template"]["taskTemplate"]["pod"]["spec"]["containers"][0][
            "imagePullPolicy"] = policy
        return self.cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(job),
                                    code=None)

    def test_a_pod_is_tried_out_by_the_host_that_leads_and_by_one_that_waits(self):
        options = {"webhook": "127.0.0.1:0", "pod": "{dryRunAtAdmission: Refuse}"}
        leader = self.host("leader", **options)
        self.leader()
        standby = self.host("standby", **options)
        wait_until(lambda: "ask leader_" in standby.ask("/apis/x")[1], "it knows who leads")
        for host in (leader, standby):
            self.asked(host)
            told = wait_until(lambda: FIELD in self.tried("Sometimes") and self.tried("Sometimes"),
                              f"{host.name} refuses it")
            self.assertIn('the API server refuses it: Unsupported value: "Sometimes"', told)
            self.assertIn("job.execution.detent.dev/tried created", self.tried("Never"))
        self.assertEqual(self.items("pods"), [])
        self.assertFalse(standby.works())


if __name__ == "__main__":
    unittest.main()
