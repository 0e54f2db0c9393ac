"""From the creation of a Job to the arrival of its request, on a host that has nothing else to do.

Jobs are created one at a time over one connection, the next one when the last has arrived. The goal
is held against the stricter of two clocks: the one that starts when the creation is sent. Between
lies one wait for the disk, for the Job with its first task; so that is measured beside, bare.
"""

import json
import os
import time

from host import (API, Backend, Host, KeptConnection, http_job, percentile, report, wait_for,
                  workspace)

JOBS = 300
WARM_UP = 20
PAUSE = 0.03


class DiskWait:
    """Milliseconds of a bare write of 16 KiB over what is there, with the wait for the disk: what
    one commit costs at the least on this machine, at the same pace as the Jobs."""

    def __init__(self, directory):
        self.file = open(os.path.join(directory, "sync"), "w+b", buffering=0)
        self.file.write(b"0" * (8 << 20))
        os.fsync(self.file.fileno())
        self.block = os.urandom(16384)
        self.times = []

    def measure(self):
        begin = time.monotonic_ns()
        os.pwrite(self.file.fileno(), self.block, len(self.times) * len(self.block))
        os.fdatasync(self.file.fileno())
        self.times.append((time.monotonic_ns() - begin) / 1e6)


def request(address, number, url):
    body = json.dumps(http_job(f"latency-{number}", url)).encode()
    return (f"POST {API}/jobs HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def measure(host, backend, disk):
    client = host.client()
    connection = KeptConnection(client.address)
    sent, acknowledged = [], []
    for number in range(WARM_UP + JOBS):
        text = request(client.address, number, backend.url + "/")
        sent.append(time.monotonic_ns())
        connection.exchange(text)
        acknowledged.append(time.monotonic_ns())
        # Asking earlier would disturb what is measured. Once the end is stored, the host still lets
        # the task go, which is one more commit: the second pause lets it become idle again.
        time.sleep(PAUSE)
        wait_for(lambda: client.metric("detent_jobs_finished_total") > number, 10,
                 f"Job {number} did not finish", 0.01)
        time.sleep(PAUSE)
        disk.measure()
        time.sleep(PAUSE)
    connection.close()
    arrivals = backend.stats()["arrivals"]
    if len(arrivals) != WARM_UP + JOBS:
        raise SystemExit(f"bench: {len(arrivals)} requests of {WARM_UP + JOBS} Jobs arrived")
    from_sent = [(a - s) / 1e6 for a, s in zip(arrivals, sent)][WARM_UP:]
    from_ack = [(a - s) / 1e6 for a, s in zip(arrivals, acknowledged)][WARM_UP:]
    commit_ms = 1e3 * (client.metric("detent_store_commit_seconds_sum") /
                       client.metric("detent_store_commit_seconds_count"))
    return from_sent, from_ack, commit_ms


def main():
    with workspace() as directory:
        disk = DiskWait(directory)
        with Backend() as backend, Host(directory) as host:
            from_sent, from_ack, commit_ms = measure(host, backend, disk)
    report("latency p99", percentile(from_sent, 0.99), "ms", ("<", 5),
           f"from sending the creation; {JOBS} Jobs")
    report("latency p50", percentile(from_sent, 0.5), "ms", None,
           f"a commit takes {commit_ms:.2f} ms on average")
    report("latency from answer p99", percentile(from_ack, 0.99), "ms", None,
           f"from the creation's answer; p50 {percentile(from_ack, 0.5):.2f}")
    report("bare disk wait p99", percentile(disk.times, 0.99), "ms", None,
           "a write of 16 KiB and fdatasync, at the same pace; "
           f"p50 {percentile(disk.times, 0.5):.2f}")


if __name__ == "__main__":
    main()
