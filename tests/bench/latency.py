"""From the creation of a Job to the arrival of its request, on a host that has nothing else to do.

Jobs are created one at a time over one connection, the next one when the last has arrived. The goal
is held against the stricter of two clocks: the one that starts when the creation is sent. Between
lie two waits for the disk (the Job, then the task's intent); so a bare fsync is measured beside.
"""

import json
import os
import time

from host import API, Backend, Host, KeptConnection, http_job, percentile, report, wait_for, workspace

JOBS = 300
WARM_UP = 20


def fsync_times(directory):
    times = []
    block = os.urandom(4096)
    with open(os.path.join(directory, "fsync"), "wb", buffering=0) as file:
        for _ in range(JOBS):
            begin = time.monotonic_ns()
            file.write(block)
            os.fsync(file.fileno())
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
        # Idle again: the outcome is stored, too.
        wait_for(lambda: client.metric("detent_jobs_finished_total") > number, 10,
                 f"Job {number} did not finish", 0.01)
    connection.close()
    arrivals = backend.stats()["arrivals"]
    if len(arrivals) != WARM_UP + JOBS:
        raise SystemExit(f"bench: {len(arrivals)} requests of {WARM_UP + JOBS} Jobs arrived")
    from_sent = [(a - s) / 1e6 for a, s in zip(arrivals, sent)][WARM_UP:]
    from_ack = [(a - s) / 1e6 for a, s in zip(arrivals, acknowledged)][WARM_UP:]
    return from_sent, from_ack


def main():
    with workspace() as directory:
        fsync = fsync_times(directory)
        with Backend() as backend, Host(directory) as host:
            from_sent, from_ack = measure(host, backend)
    report("latency p99", percentile(from_sent, 0.99), "ms", ("<", 5),
           f"from sending the creation; {JOBS} Jobs")
    report("latency p50", percentile(from_sent, 0.5), "ms")
    report("latency from answer p99", percentile(from_ack, 0.99), "ms", None,
           f"from the creation's answer; p50 {percentile(from_ack, 0.5):.2f}")
    report("fsync of 4 KiB p50", percentile(fsync, 0.5), "ms", None,
           f"p99 {percentile(fsync, 0.99):.2f}")


if __name__ == "__main__":
    main()
