"""The store over the Kubernetes API, in C++, in front of a cluster that is up for it."""

import os
import subprocess
import unittest

from binary import BinaryTest


class KubeStore(BinaryTest):
    def test_all_that_the_binary_tests(self):
        subprocess.run([os.environ["DETENT_BIN"], "install", "--kubeconfig",
                        self.cluster.kubeconfig], check=True, capture_output=True, timeout=120)
        # Objects have owners here that do not exist: nobody may collect them meanwhile.
        self.cluster.component("kill", "controller-manager")
        self.run_binary()


if __name__ == "__main__":
    unittest.main()
