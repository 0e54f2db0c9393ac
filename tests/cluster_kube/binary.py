"""A binary of tests that wants a cluster: it is brought up for it, and said where it is."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cluster"))

from cluster import HERE, ClusterTest, leave_out  # pylint: disable=wrong-import-position


class BinaryTest(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        cls.binary = os.environ.get("DETENT_KUBE_CLUSTER_TEST")
        if not cls.binary:
            leave_out("DETENT_KUBE_CLUSTER_TEST names no binary; ctest sets it")
        super().setUpClass()

    def run_binary(self, **environment):
        """What it printed; it must succeed."""
        env = dict(os.environ, **environment, DETENT_TEST_CLUSTER=self.cluster.name,
                   DETENT_TEST_KUBECONFIG=self.cluster.kubeconfig,
                   DETENT_TEST_COMPONENT=os.path.join(HERE, "component.sh"))
        done = subprocess.run([self.binary], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        return done.stdout
