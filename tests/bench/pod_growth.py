"""How the cost of a pod grows with its Job: 100,000 indexes, 10,000 at a time, run to their end.

Says the rate, the host's memory and cpu, and each tenth of the Job beside the first, on simulated
nodes. The host deletes none of the pods; Kubernetes' own garbage collector does, beyond the 12,500
finished ones that it leaves. Takes half an hour on two cores.
DETENT_BENCH_PODS changes the number of indexes (a tenth of them run at a time), DETENT_BENCH_NODES
that of the nodes.
"""

import json
import os
import sys
import time

from host import report
from pod_tracking import cpu_of, detent, resident_mib

INDEXES = int(os.environ.get("DETENT_BENCH_PODS", "100000"))
TENTH = INDEXES // 10


class Tenths:
    """What had been used when each tenth of the indexes was counted."""

    def __init__(self):
        self.marks = [(0, 0.0, 0.0)]
        self.largest_status = 0

    def look(self, run, status):
        self.largest_status = max(self.largest_status, len(json.dumps(status)))
        counted = status.get("succeeded", 0)
        if counted < len(self.marks) * TENTH:
            return
        self.marks.append((counted, time.monotonic() - run.begin, cpu_of(run.pid) - run.own))
        print(f"{counted} counted after {self.marks[-1][1]:.0f} s, {self.marks[-1][2]:.1f} s of "
              f"cpu, {resident_mib(run.pid):.0f} MiB at most, status {self.largest_status} bytes",
              file=sys.stderr, flush=True)

    def rates(self):
        return [(b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(self.marks, self.marks[1:])]

    def millis(self):
        return [1000 * (b[2] - a[2]) / (b[0] - a[0]) for a, b in zip(self.marks, self.marks[1:])]


def main():
    tenths = Tenths()
    run, writes = detent(INDEXES, TENTH, tenths.look)
    rates, millis = tenths.rates(), tenths.millis()
    report("pod_growth", run.seconds, "s", None,
           f"{INDEXES} indexes, {TENTH} at a time: {INDEXES / run.seconds:.0f} a second; of each "
           f"tenth: {' '.join(f'{rate:.0f}' for rate in rates)}")
    report("pod_growth host cpu", 1000 * run.own / INDEXES, "ms a pod", None,
           f"of each tenth: {' '.join(f'{value:.2f}' for value in millis)}; API server and etcd "
           f"{1000 * run.server / INDEXES:.2f}")
    report("pod_growth host memory", run.memory, "MiB", None,
           f"at its highest; the Job's status at most {tenths.largest_status} bytes")
    counts = {key[0]: int(count) for key, count in writes.items()}
    collected = counts.pop("DELETE", 0)
    report("pod_growth writes", sum(counts.values()) / INDEXES, "a pod", ("<", 2.02),
           f"{counts}; and the cluster's garbage collector deleted {collected}")


if __name__ == "__main__":
    main()
