"""Watches and the door of the executors, in C++, in front of a cluster that is up for them."""

import unittest

from binary import BinaryTest


class KubeWatch(BinaryTest):
    nodes = "fake:2"

    def test_all_that_the_binary_tests(self):
        told = self.run_binary(DETENT_TEST_ETCD=self.cluster.etcd())
        self.assertNotIn("[  SKIPPED ]", told)


if __name__ == "__main__":
    unittest.main()
