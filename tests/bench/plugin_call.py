"""A call from the host into a plugin and its answer, in one process: plugin_call.cc."""

import json
import subprocess

from host import program, report


def main():
    done = subprocess.run(
        [program("plugin_call"), "--benchmark_format=json", "--benchmark_repetitions=5"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    rows = json.loads(done.stdout)["benchmarks"]
    times = [row["real_time"] for row in rows if row["run_type"] == "iteration"]
    median = next(row for row in rows if row.get("aggregate_name") == "median")
    report("plugin_call", median["real_time"], "ns", ("<", 50),
           f"op slab, observe, op_complete; best {min(times):.1f}")


if __name__ == "__main__":
    main()
