"""The host as its Deployment, from config/kubernetes, on a real node: an image made of the build,
two replicas, and a JobConfig whose slots run real containers."""

import os
import subprocess
import unittest

from cluster import HERE, ClusterTest, wait_until
from home import API, GROUP, manifest

BUILD = os.path.abspath(os.environ.get("DETENT_BUILD", os.path.join(HERE, "../../build")))
CONFIG = os.path.join(HERE, "../../config")
IMAGE = "localhost/detent:test"


class Deployment(ClusterTest):
    nodes = "real:1"
    flags = ("--service-accounts",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.deploy()

    @classmethod
    def deploy(cls):
        cluster = cls.cluster
        root = os.path.join(cluster.directory, "host-root")
        cls.run_script(os.path.join(CONFIG, "image/root.sh"), BUILD, root)
        cls.run_script(os.path.join(HERE, "image.sh"), cluster.name, IMAGE, root,
                       "/usr/bin/detent", "serve")
        cluster.kubectl("create", "namespace", "detent")
        cluster.kubectl("-n", "detent", "create", "secret", "generic", "detent-api-token",
                        "--from-literal=token=of-the-test")
        overlay = os.path.join(cluster.directory, "overlay")
        os.mkdir(overlay)
        name, tag = IMAGE.split(":")
        with open(os.path.join(overlay, "kustomization.yaml"), "w", encoding="utf-8") as file:
            file.write("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
                       f"resources: [{os.path.relpath(CONFIG, overlay)}/kubernetes]\n"
                       f"images: [{{name: detent, newName: {name}, newTag: {tag}}}]\n")
        # The CRDs and what needs them come in one go; what came too early is applied again.
        wait_until(lambda: "error" not in cluster.kubectl(
            "apply", "--server-side", "--field-manager=detent", "-k", overlay, code=None).lower(),
                   "everything is applied", 60)

    @staticmethod
    def run_script(*command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")

    def hosts(self):
        return self.cluster.get("pods", "-n", "detent", "-l", "app.kubernetes.io/name=detent")["items"]

    def logs(self):
        return "".join(self.cluster.kubectl("-n", "detent", "logs", pod["metadata"]["name"],
                                            code=None) for pod in self.hosts())

    def wait(self, condition, what, seconds):
        try:
            return wait_until(condition, what, seconds)
        except AssertionError as error:
            pods = self.cluster.kubectl("describe", "pods", "-A", code=None)
            raise AssertionError(f"{error}\n{pods[-6000:]}\n{self.logs()[-6000:]}") from None

    def succeeded(self):
        jobs = (self.cluster.get(f"jobs.{GROUP}") or {"items": []})["items"]
        return [job for job in jobs if job.get("status", {}).get("phase") == "Succeeded"]

    def test_slots_run_real_pods_and_go_on_when_the_leader_is_deleted(self):
        self.wait(lambda: self.cluster.get("deployment", "detent", "-n", "detent")["status"]
                  .get("readyReplicas") == 2, "both hosts are ready", 90)
        container = {"name": "main", "image": "localhost/busybox:1",
                     "command": ["sh", "-c", "echo $DETENT_TASK_INDEX > /dev/termination-log"]}
        self.cluster.apply(manifest("JobConfig", "real", {
            "concurrency": {"policy": "Forbid"},
            "schedule": {"cron": {"expression": "*/5 * * * * * *"}},
            "template": {"spec": {"parallelism": {"withCount": 2}, "taskTemplate": {"pod": {
                "spec": {"restartPolicy": "Never", "containers": [container]}}}}}}))
        job = self.wait(lambda: self.succeeded(), "a slot's Job succeeded", 60)[0]
        self.assertEqual(job["status"]["succeededIndexes"], "0-1")
        self.assertEqual(job["apiVersion"], API)

        lease = self.cluster.get("lease", "detent", "-n", "detent")
        leader = lease["spec"]["holderIdentity"].rsplit("_", 1)[0]
        self.assertIn(leader, [pod["metadata"]["name"] for pod in self.hosts()])
        self.cluster.kubectl("-n", "detent", "delete", "pod", leader, "--wait=false")
        done = {job["metadata"]["name"] for job in self.succeeded()}
        self.wait(lambda: {job["metadata"]["name"] for job in self.succeeded()} - done,
                  "slots go on under the other host", 60)
        self.assertEqual([pod["status"]["containerStatuses"][0]["restartCount"]
                          for pod in self.hosts() if pod["status"].get("containerStatuses")],
                         [0] * 2)
        self.cluster.kubectl("delete", f"jobconfig.{GROUP}", "real", "--cascade=foreground")


if __name__ == "__main__":
    unittest.main()
