"""The store over the Kubernetes API, in C++, in front of a cluster that is up for it."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cluster"))

from cluster import ClusterTest, leave_out  # pylint: disable=wrong-import-position


class KubeStore(ClusterTest):
    nodes = "fake:1"

    @classmethod
    def setUpClass(cls):
        cls.binary = os.environ.get("DETENT_KUBE_CLUSTER_TEST")
        if not cls.binary:
            leave_out("DETENT_KUBE_CLUSTER_TEST names no binary; ctest sets it")
        super().setUpClass()

    def test_all_that_the_binary_tests(self):
        subprocess.run([os.environ["DETENT_BIN"], "install", "--kubeconfig",
                        self.cluster.kubeconfig], check=True, capture_output=True, timeout=120)
        # Objects have owners here that do not exist: nobody may collect them meanwhile.
        self.cluster.component("kill", "controller-manager")
        env = dict(os.environ, DETENT_TEST_KUBECONFIG=self.cluster.kubeconfig)
        done = subprocess.run([self.binary], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])


if __name__ == "__main__":
    unittest.main()
