"""Memory and cpu of a host that has nothing to do: both plugins, one JobConfig due hourly."""

import os
import time

from host import Host, report, workspace

SECONDS = int(os.environ.get("DETENT_BENCH_IDLE_SECONDS", "20"))
SETTLE = 3

HOURLY = {"apiVersion": "execution.detent.dev/v1alpha1", "kind": "JobConfig",
          "metadata": {"name": "hourly"},
          "spec": {"concurrency": {"policy": "Forbid"},
                   "schedule": {"cron": {"expression": "0 * * * *"}},
                   "template": {"spec": {"taskTemplate": {"exec": {"command": ["true"]}}}}}}


def main():
    with workspace() as directory, Host(directory) as host:
        host.client().create("jobconfigs", HOURLY)
        time.sleep(SETTLE)
        cpu = host.cpu_seconds()
        begin = time.monotonic()
        time.sleep(SECONDS)
        share = (host.cpu_seconds() - cpu) / (time.monotonic() - begin)
        memory = host.resident_bytes()
        own = host.resident_bytes("RssAnon:")
        threads = len(os.listdir(f"/proc/{host.process.pid}/task"))
    report("idle memory", memory / 2**20, "MiB", ("<", 20),
           f"VmRSS; {own / 2**20:.1f} MiB of it anonymous, the rest pages of files; "
           f"{threads} threads")
    report("idle cpu", share * 100, "%", ("<", 0.1), f"of one core, over {SECONDS} s")


if __name__ == "__main__":
    main()
