"""A host is killed (SIGKILL) with 10,000 tasks in hand that have no end, and started again.

All of them have been handed to the plugin; as many as have a connection have sent their request,
which is never answered. Recovered means that each of them has an answer that is stored: since HTTP
tasks do not outlive their host, they have ended as Lost. They may be repeated, so the host starts
second attempts meanwhile. The clock runs from the start of the new process.
"""

import collections
import json
import signal
import time

from host import API, Backend, Host, http_job, report, wait_for, workspace

TASKS = 10_000
CONNECTIONS = 1000


def state(task):
    status = task.get("status", {})
    return status.get("result") or status.get("state", "")


def states(client, attempt):
    """How many tasks of that attempt are in which state, and when that was known to be so: one page
    shows one moment, which is over when the first byte of the answer comes."""
    label = f"labelSelector=execution.detent.dev/attempt%3D{attempt}&limit={TASKS}"
    client.connection.request("GET", f"{API}/tasks?{label}")
    response = client.connection.getresponse()
    seen = time.monotonic()
    return dict(collections.Counter(map(state, json.load(response)["items"]))), seen


def seems_ended(client):
    """Some tasks from the first to the last: cheap to ask for, again and again."""
    sample = range(0, TASKS, TASKS // 20 - 1)
    return all(state(client.get(f"{API}/tasks/recovery-{i}-1")) == "Lost" for i in sample)


def start_all(host, backend):
    client = host.client()
    client.create("jobs", http_job("recovery", backend.url + "/hang", TASKS,
                                   timeout={"totalTimeout": 0, "readTimeout": 0}))
    wait_for(lambda: client.metric("detent_tasks_started_total") >= TASKS and
             backend.stats()["requests"] >= CONNECTIONS, 120, "not all tasks were started")
    time.sleep(1)
    return states(client, 1)[0]


def recover(host):
    """Seconds from the start of the process until it serves, all have ended, all run anew."""
    begin = time.monotonic()
    ready = host.start()
    client = host.client()
    wait_for(lambda: client.metric("detent_tasks_finished_total") >= TASKS, 120,
             "not all tasks were answered", 0.01)
    found = {}
    while found != {"Lost": TASKS}:
        wait_for(lambda: seems_ended(client), 120, "not all answers were stored", 0.01)
        found, seen = states(client, 1)
    wait_for(lambda: client.metric("detent_tasks_started_total") >= TASKS, 120,
             "not all tasks were started anew", 0.01)
    return ready, seen - begin, states(client, 2)[0]


def main():
    config = {"maxConnections": CONNECTIONS, "maxQueued": TASKS}
    with Backend() as backend, workspace() as directory, Host(directory, config) as host:
        before = start_all(host, backend)
        host.stop(signal.SIGKILL)
        ready, ended, again = recover(host)
    report("recovery", ended, "s", ("<", 2),
           f"serving after {ready:.2f} s; tasks before {before}, all Lost, second attempts {again}")


if __name__ == "__main__":
    main()
