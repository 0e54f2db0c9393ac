#!/usr/bin/env python3
"""Checks what the quickstart promises: every slot made exactly one Job or is known to be skipped, every
Job ended, every task's work was done exactly once.

Usage: verify.py DIRECTORY, with jobs.json, tasks.json, requests and record in it.
"""

import collections
import datetime
import json
import pathlib
import sys

work = pathlib.Path(sys.argv[1])
jobs = json.loads((work / "jobs.json").read_text())["items"]
tasks = json.loads((work / "tasks.json").read_text())["items"]
SLOT = "execution.detent.dev/slot"
CONFIG = "execution.detent.dev/job-config"


def fail(sentence):
    print(sentence)
    sys.exit(1)


def slots_of(config):
    slots = [job["metadata"]["annotations"][SLOT] for job in jobs
             if job["metadata"]["labels"].get(CONFIG) == config]
    doubled = [slot for slot, count in collections.Counter(slots).items() if count > 1]
    if doubled:
        fail(f"slot {doubled[0]} of {config} made more than one Job")
    return sorted(datetime.datetime.fromisoformat(slot.replace("Z", "+00:00")) for slot in slots)


for job in jobs:
    if job["status"]["phase"] != "Succeeded":
        fail(f"Job {job['metadata']['name']} is {job['status']['phase']}, not Succeeded")

ticks = slots_of("ticker")
for earlier, later in zip(ticks, ticks[1:]):
    if (later - earlier).total_seconds() != 2:
        fail(f"a slot of ticker between {earlier} and {later} was lost")

# An HTTP task that was on its way when the host was killed is asked again under the next attempt's
# name; the server may have seen both, and the Task that was lost says so.
asked = collections.Counter(json.loads(line.split(" ", 1)[1])["task"]
                            for line in (work / "requests").read_text().splitlines())
http_tasks = {task["metadata"]["name"]: task["status"] for task in tasks if "http" in task["spec"]}
for name, status in http_tasks.items():
    if status["result"] == "Succeeded" and asked[name] != 1:
        fail(f"the server was asked {asked[name]} times for task {name}")
for name in asked:
    if name not in http_tasks:
        fail(f"the server was asked for task {name}, which nobody knows")

ran = collections.Counter((work / "record").read_text().split())
exec_tasks = {task["metadata"]["name"]: task["status"] for task in tasks if "exec" in task["spec"]}
for name, status in exec_tasks.items():
    if status.get("exitCode") != 0 or ran[name] != 1:
        fail(f"process of task {name} ran {ran[name]} times, exit code {status.get('exitCode')}")
if set(ran) - set(exec_tasks):
    fail(f"a process ran that no task knows: {set(ran) - set(exec_tasks)}")

print(f"{len(ticks)} slots of ticker and {len(slots_of('shards'))} of shards, each once; "
      f"{len(http_tasks)} HTTP tasks and {len(exec_tasks)} processes, each exactly once")
