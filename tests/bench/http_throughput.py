"""HTTP tasks per second, durable, against a bare libcurl loop that makes the same requests to the
same server over as many connections. Runs alternate; the median of the ratios is the figure.

The rate of the host is taken twice: between the first and the last request at the server, and from
the sending of the Job to its finishTime, by when every outcome is stored. The goal is held against
the latter, which is the stricter.
"""

import calendar
import os
import statistics
import time

from host import API, Backend, Host, bare_loop, http_job, report, wait_for, workspace

TASKS = int(os.environ.get("DETENT_BENCH_TASKS", "10000"))
CONNECTIONS = 100
RUNS = int(os.environ.get("DETENT_BENCH_RUNS", "3"))


def wall(text):
    """Seconds since 1970 of an RFC 3339 time with a fraction."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
    return seconds + float("0." + (fraction or "0"))


def rate(stats):
    if stats["requests"] != TASKS:
        raise SystemExit(f"bench: {stats['requests']} requests arrived, not {TASKS}")
    return TASKS / ((stats["last_ns"] - stats["first_ns"]) / 1e9)


def finished_status(client):
    status = client.get(f"{API}/jobs/throughput")["status"]
    return status if "finishTime" in status else None


def run_bare(backend):
    backend.reset()
    answer = bare_loop(backend.url + "/", TASKS, CONNECTIONS)
    return rate(backend.stats()), TASKS / answer["seconds"]


def run_host(backend):
    backend.reset()
    with workspace() as directory, Host(directory, {"maxConnections": CONNECTIONS}) as host:
        client = host.client()
        cpu = host.cpu_seconds()
        sent = time.time()
        client.create("jobs", http_job("throughput", backend.url + "/", TASKS))
        wait_for(lambda: client.metric("detent_jobs_finished_total") > 0, 600,
                 "the Job did not finish", 0.1)
        cpu = host.cpu_seconds() - cpu
        # The metric counts the decision; the Job's status is stored a moment later.
        status = wait_for(lambda: finished_status(client), 60, "the Job's end was not stored")
        if status["succeeded"] != TASKS:
            raise SystemExit(f"bench: {status['succeeded']} of {TASKS} tasks succeeded")
        extra = {"cpu_us": cpu / TASKS * 1e6, "rss": host.resident_bytes(),
                 "commits": client.metric("detent_store_commits_total"),
                 "writes": client.metric("detent_store_writes_total")}
        return rate(backend.stats()), TASKS / (wall(status["finishTime"]) - sent), extra


def main():
    at_server, to_finish, extras = [], [], []
    with Backend() as backend:
        bare_loop(backend.url + "/", TASKS, CONNECTIONS)  # Warms the server.
        for _ in range(RUNS):
            bare_server, bare_total = run_bare(backend)
            host_server, host_total, extra = run_host(backend)
            at_server.append((bare_server, host_server))
            to_finish.append((bare_total, host_total))
            extras.append(extra)
    median = statistics.median
    bare = median(b for b, _ in to_finish)
    host = median(h for _, h in to_finish)
    report("http_throughput ratio", 100 * median(h / b for b, h in to_finish), "%", (">=", 25),
           f"to the Job's finish: {host:.0f} of {bare:.0f} tasks/s")
    bare = median(b for b, _ in at_server)
    host = median(h for _, h in at_server)
    report("http_throughput ratio at the server", 100 * median(h / b for b, h in at_server), "%",
           None, f"first to last request: {host:.0f} of {bare:.0f} tasks/s")
    report("http_throughput cpu", median(e["cpu_us"] for e in extras), "us/task", None,
           f"{median(e['commits'] for e in extras):.0f} commits, "
           f"{median(e['writes'] for e in extras):.0f} writes; RSS after "
           f"{median(e['rss'] for e in extras) / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
