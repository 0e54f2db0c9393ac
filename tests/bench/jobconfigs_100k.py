"""Start-up with 100,000 JobConfigs, each with a cron schedule, and what each costs in memory beyond
the YAML that its user wrote."""

import os
import time

from host import API, Host, bare_loop, report, workspace

COUNT = int(os.environ.get("DETENT_BENCH_JOBCONFIGS", "100000"))
CONNECTIONS = 32
SETTLE = 3

YAML = """\
apiVersion: execution.detent.dev/v1alpha1
kind: JobConfig
metadata: {name: nightly-@N@, namespace: default, labels: {team: bench}}
spec:
  concurrency: {policy: Forbid}
  schedule: {cron: {expression: "H H * * *", timezone: Europe/Berlin}}
  template:
    spec:
      maxAttempts: 3
      taskTemplate:
        http:
          request: {method: POST, url: "http://127.0.0.1:9/run/@N@"}
          idempotent: true
"""


def yaml_bytes():
    """The average over all; the number stands in it as often as @N@ does."""
    digits = sum(len(str(n)) for n in range(COUNT)) / COUNT
    return len(YAML.replace("@N@", "")) + YAML.count("@N@") * digits


def settled_memory(host):
    time.sleep(SETTLE)
    return host.resident_bytes()


def main():
    with workspace() as directory:
        host = Host(directory)
        with host:
            idle = settled_memory(host)
            body = os.path.join(directory, "jobconfig.yaml")
            with open(body, "w", encoding="utf-8") as file:
                file.write(YAML)
            load = bare_loop(f"{host.url}{API}/jobconfigs", COUNT, CONNECTIONS, body,
                             "application/yaml")
            loaded = host.resident_bytes()
        try:
            seconds = host.start()
            cpu = host.cpu_seconds()
            memory = settled_memory(host)
        finally:
            host.stop()
    each = (memory - idle) / COUNT - yaml_bytes()
    report("jobconfigs_100k start", seconds, "s", ("<", 3),
           f"{COUNT} JobConfigs, until ready; {cpu:.2f} s of cpu")
    report("jobconfigs_100k memory", each / 1024, "KiB each", ("<", 2),
           f"beyond {yaml_bytes():.0f} bytes of YAML; VmRSS {memory / 2**20:.0f} MiB, idle "
           f"{idle / 2**20:.0f} MiB, before the restart {loaded / 2**20:.0f} MiB")
    report("jobconfigs_100k creation", COUNT / load["seconds"], "JobConfigs/s", None,
           f"through the API over {CONNECTIONS} connections")


if __name__ == "__main__":
    main()
