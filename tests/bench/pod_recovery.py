"""A host is killed (SIGKILL) while 10,000 pods of it live, and started again.

Tracking again means that it has found every one of them: it then sees each end as before. The clock
runs from the start of the new process. DETENT_BENCH_PODS and DETENT_BENCH_NODES as in pod_tracking.
"""

import signal
import time

from host import report, wait_for, workspace
from pod_tracking import PODS, POD, Cluster, detent_job, host_on


def hanging_job():
    job = detent_job("hang")
    job["spec"]["template"]["taskTemplate"]["pod"] = {
        "metadata": {"annotations": {"fake.detent.dev/outcome": "hang"}}, "spec": POD}
    return job


def main():
    path = "/apis/execution.detent.dev/v1alpha1/namespaces/default/jobs/hang"
    with Cluster("recovery", "--no-job-controller") as cluster, workspace() as directory:
        with host_on(cluster, directory) as (process, client):
            client.create("jobs", hanging_job())
            wait_for(lambda: client.get(path).get("status", {}).get("runningTasks") == PODS, 900,
                     "not all pods run", 0.5)
            process.send_signal(signal.SIGKILL)
            process.wait()
        begin = time.monotonic()
        with host_on(cluster, directory) as (process, client):
            serving = time.monotonic() - begin
            wait_for(lambda: client.metric("detent_tasks_adopted_total") >= PODS, 120,
                     "not all pods were found", 0.01)
            seconds = time.monotonic() - begin
            status = client.get(path)["status"]
            if status["createdTasks"] != PODS or status.get("failed"):
                raise SystemExit(f"bench: something was lost or doubled: {status}")
    report("pod_recovery", seconds, "s", ("<", 3),
           f"{PODS} live pods; serving after {serving:.2f} s")


if __name__ == "__main__":
    main()
