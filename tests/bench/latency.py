"""From the creation of a Job to the arrival of its request, on a host that has nothing else to do.

Jobs are created one at a time over one connection, the next one when the last has arrived. The goal
is held against the stricter of two clocks: the one that starts when the creation is sent. Between
lie two waits for the disk (the Job, then the task's intent); so a bare fsync is measured beside.
"""

import json
import os
import time

from host import (API, Backend, Host, KeptConnection, http_job, percentile, report, wait_for,
                  workspace)

JOBS = 300
WARM_UP = 20
PAUSE = 0.03


def sync_times(directory, append):
    """Milliseconds of a write of 4 KiB with a wait for the disk: behind the end of a file, which
    the file system must note as well, or over what is there, as a database's log does mostly."""
    times = []
    block = os.urandom(4096)
    with open(os.path.join(directory, "sync"), "wb", buffering=0) as file:
        for number in range(JOBS):
            begin = time.monotonic_ns()
            os.pwrite(file.fileno(), block, number * len(block) if append else 0)
            (os.fsync if append else os.fdatasync)(file.fileno())
            times.append((time.monotonic_ns() - begin) / 1e6)
    return times


def request(address, number, url):
    body = json.dumps(http_job(f"latency-{number}", url)).encode()
    return (f"POST {API}/jobs HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def measure(host, backend):
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
        fsync = sync_times(directory, append=True)
        fdatasync = sync_times(directory, append=False)
        with Backend() as backend, Host(directory) as host:
            from_sent, from_ack, commit_ms = measure(host, backend)
    report("latency p99", percentile(from_sent, 0.99), "ms", ("<", 5),
           f"from sending the creation; {JOBS} Jobs")
    report("latency p50", percentile(from_sent, 0.5), "ms", None,
           f"a commit takes {commit_ms:.2f} ms on average")
    report("latency from answer p99", percentile(from_ack, 0.99), "ms", None,
           f"from the creation's answer; p50 {percentile(from_ack, 0.5):.2f}")
    report("fsync of 4 KiB p50", percentile(fsync, 0.5), "ms", None,
           f"appended, p99 {percentile(fsync, 0.99):.2f}; in place, p50 "
           f"{percentile(fdatasync, 0.5):.2f}, p99 {percentile(fdatasync, 0.99):.2f}")


if __name__ == "__main__":
    main()
