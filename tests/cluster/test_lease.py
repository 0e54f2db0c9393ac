"""Hosts that elect a leader by a Lease: killed, stopped, continued, behind a network that fails."""

import os
import signal
import subprocess
import tempfile
import time

from cluster import ClusterTest, leave_out, wait_until

DURATION = 3.0  # Seconds; the rest follows from it as from the defaults.
TAKEOVER = DURATION + 2


class Candidate:
    """A process that stands for leader (lease_candidate.cc)."""

    def __init__(self, kubeconfig, lease, identity):
        self.identity = identity
        self.out = tempfile.TemporaryFile("w+")
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.environ["DETENT_LEASE_CANDIDATE"], kubeconfig, "default", lease, identity,
             str(int(DURATION * 1000))],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.log)

    def told(self, *words):
        """What it said: (seconds of the monotonic clock, word, epoch)."""
        lines = []
        for line in os.pread(self.out.fileno(), 1 << 26, 0).decode().splitlines():
            at, word, epoch = line.split()
            if not words or word in words:
                lines.append((int(at) / 1e9, word, int(epoch)))
        return lines

    def elections(self):
        return self.told("elected", "deposed")

    def leads(self):
        last = self.elections()[-1:]
        return bool(last) and last[0][1] == "elected"

    def send(self, number):
        """The time before it was sent."""
        now = time.monotonic()
        self.process.send_signal(number)
        return now

    def logged(self):
        return os.pread(self.log.fileno(), 1 << 20, 0).decode()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.out.close()
        self.log.close()


class Leases(ClusterTest):
    nodes = "fake:1"
    flags = ("--proxy",)

    @classmethod
    def setUpClass(cls):
        if "DETENT_LEASE_CANDIDATE" not in os.environ:
            leave_out("DETENT_LEASE_CANDIDATE does not name the program; ctest sets it")
        super().setUpClass()

    def setUp(self):
        self.addCleanup(self.cluster.no_rules)
        self.lease = self.id().split(".")[-1].replace("_", "-")
        self.candidates = []

    def stand(self, identity, proxy=False):
        path = self.cluster.kubeconfig + (".proxy" if proxy else "")
        candidate = Candidate(path, self.lease, identity)
        self.candidates.append(candidate)
        self.addCleanup(candidate.close)
        return candidate

    def leader_and_other(self, proxy=False):
        a, b = self.stand("a", proxy), self.stand("b", proxy)
        wait_until(lambda: a.leads() or b.leads(), "one of the two leads")
        return (a, b) if a.leads() else (b, a)

    def assert_never_two(self):
        """All acts of all candidates, in the order of their times, have epochs that never fall, and
        an epoch is one candidate's."""
        acts = sorted((at, epoch, one.identity) for one in self.candidates
                      for at, _, epoch in one.told("acts"))
        self.assertTrue(acts)
        for before, after in zip(acts, acts[1:]):
            self.assertLessEqual(before[1], after[1], f"{before} and then {after}")
            if before[1] == after[1]:
                self.assertEqual(before[2], after[2])

    def test_the_lease_says_who_leads(self):
        leader, _ = self.leader_and_other()
        spec = self.cluster.get("lease", self.lease)["spec"]
        self.assertRegex(spec["holderIdentity"], f"^{leader.identity}_[0-9a-f-]{{36}}$")
        self.assertEqual(spec["leaseDurationSeconds"], 3)
        self.assertEqual(spec["leaseTransitions"], 1)
        self.assertRegex(spec["acquireTime"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        wait_until(lambda: self.cluster.get("lease", self.lease)["spec"]["renewTime"]
                   > spec["renewTime"], "it is renewed")

    def test_a_leader_that_is_killed_is_followed_in_time(self):
        leader, other = self.leader_and_other()
        for _ in range(3):
            killed = leader.send(signal.SIGKILL)
            wait_until(other.leads, "the other leads", TAKEOVER + 10)
            took = other.elections()[-1][0] - killed
            print(f"taken over {took:.2f} s after kill -9, with a duration of {DURATION} s")
            self.assertLess(took, TAKEOVER)
            leader, other = other, self.stand("again")
            wait_until(lambda: "another host leads" in other.logged(), "the new one follows")
        self.assert_never_two()

    def test_a_leader_that_was_stopped_wakes_up_and_changes_nothing(self):
        leader, other = self.leader_and_other()
        for _ in range(3):
            stopped = leader.send(signal.SIGSTOP)
            wait_until(other.leads, "the other leads", TAKEOVER + 10)
            took = other.elections()[-1][0]
            leader.send(signal.SIGCONT)
            wait_until(lambda: not leader.leads(), "it knows that it leads no more")
            wait_until(lambda: other.told("acts")[-1][0] > took + 1, "the other acts")
            self.assertLess(leader.told("acts")[-1][0], took)
            self.assertLess(took - stopped, TAKEOVER)
            leader, other = other, leader
        self.assert_never_two()

    def test_a_leader_that_ends_in_good_order_is_followed_at_once(self):
        leader, other = self.leader_and_other()
        ended = leader.send(signal.SIGTERM)
        wait_until(other.leads, "the other leads", DURATION)
        self.assertLess(other.elections()[-1][0] - ended, 1.5)
        self.assertEqual(leader.process.wait(timeout=10), 0)
        self.assert_never_two()

    def test_a_lease_that_is_deleted_deposes_and_is_made_again(self):
        leader, other = self.leader_and_other()
        epoch = leader.elections()[-1][2]
        self.cluster.kubectl("delete", "lease", self.lease)
        wait_until(lambda: not leader.leads(), "it leads no more")
        wait_until(lambda: leader.leads() or other.leads(), "one of the two leads again")
        again = leader if leader.leads() else other
        self.assertGreater(again.elections()[-1][2], epoch)
        self.assert_never_two()

    def test_there_are_never_two_where_replies_are_lost_and_late(self):
        for seed, action in ((1, "drop-reply"), (2, "drop-request"), (3, "drop-reply")):
            self.cluster.rule(action, path="/leases", probability=0.2, seed=seed)
        self.cluster.rule("delay", path="/leases", probability=0.2, seed=4, delay="900ms")
        self.cluster.rule("answer", path="/leases", probability=0.1, seed=5, status=503)
        candidates = [self.stand(name, proxy=True) for name in ("a", "b", "c")]
        end = time.monotonic() + 8 * DURATION
        turn = 0
        while time.monotonic() < end:
            one = candidates[turn % len(candidates)]
            turn += 1
            one.send(signal.SIGSTOP)
            began = time.monotonic()
            wait_until(lambda: time.monotonic() > began + DURATION * 0.7, "it is stopped a while")
            one.send(signal.SIGCONT)
        self.cluster.no_rules()
        calm = time.monotonic()
        wait_until(lambda: any(one.told("acts") and one.told("acts")[-1][0] > calm
                               for one in candidates), "one leads again")
        self.assert_never_two()
        took = min(at for one in candidates for at, _, _ in one.told("acts") if at > calm) - calm
        print(f"one led {took:.2f} s after the faults; elections: "
              f"{sum(len(one.told('elected')) for one in candidates)}")
        self.assertLess(took, TAKEOVER)
