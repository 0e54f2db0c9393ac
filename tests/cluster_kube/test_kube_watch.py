"""Watches and the door of the executors, in C++, in front of a cluster that is up for them."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cluster"))

from cluster import HERE, ClusterTest, leave_out  # pylint: disable=wrong-import-position


class KubeWatch(ClusterTest):
    nodes = "fake:2"

    @classmethod
    def setUpClass(cls):
        cls.binary = os.environ.get("DETENT_KUBE_CLUSTER_TEST")
        if not cls.binary:
            leave_out("DETENT_KUBE_CLUSTER_TEST names no binary; ctest sets it")
        super().setUpClass()

    def etcd(self):
        """Where etcd listens, as its command line says."""
        command = os.path.join(self.cluster.directory, "components/etcd/command")
        with open(command, encoding="utf-8") as file:
            words = [word for word in file.read().split() if word != "\\"]
        return words[words.index("--listen-client-urls") + 1]

    def test_all_that_the_binary_tests(self):
        env = dict(os.environ, DETENT_TEST_CLUSTER=self.cluster.name,
                   DETENT_TEST_KUBECONFIG=self.cluster.kubeconfig,
                   DETENT_TEST_ETCD=self.etcd(),
                   DETENT_TEST_COMPONENT=os.path.join(HERE, "component.sh"))
        done = subprocess.run([self.binary], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        self.assertNotIn("[  SKIPPED ]", done.stdout)


if __name__ == "__main__":
    unittest.main()
