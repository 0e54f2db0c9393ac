"""The client of Kubernetes, in C++, in front of a cluster that is up for it."""

import unittest

from binary import BinaryTest


class KubeClient(BinaryTest):
    def test_all_that_the_binary_tests(self):
        self.assertNotIn("[  SKIPPED ]", self.run_binary())


if __name__ == "__main__":
    unittest.main()
