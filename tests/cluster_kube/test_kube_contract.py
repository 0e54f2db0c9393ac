"""The contract of our API, in C++, held against a real API server that has our kinds as CRDs."""

import os
import subprocess
import unittest

from binary import BinaryTest


class KubeContract(BinaryTest):
    def test_a_real_api_server_keeps_the_contract_that_ours_keeps(self):
        subprocess.run([os.environ["DETENT_BIN"], "install", "--kubeconfig",
                        self.cluster.kubeconfig], check=True, capture_output=True, timeout=120)
        # Objects have owners here that do not exist: nobody may collect them meanwhile.
        self.cluster.component("kill", "controller-manager")
        with subprocess.Popen([*self.cluster.kubectl_command, "--kubeconfig",
                               self.cluster.kubeconfig, "proxy", "--port=0"],
                              stdout=subprocess.PIPE, text=True) as proxy:
            try:
                address = proxy.stdout.readline().split()[-1]
                self.run_binary(DETENT_CONTRACT_SERVER=f"http://{address}")
            finally:
                proxy.kill()


if __name__ == "__main__":
    unittest.main()
