"""Slots: each runs once or says why not, also across an outage of the host."""

import datetime
import time

from harness import HostTest, wait_until


class Slots(HostTest):
    def jobs_of(self, name):
        return [job for job in self.items("jobs") if job["metadata"]["name"].startswith(name + "-")]

    def test_forbid_skips_with_a_reason(self):
        self.start_host()
        self.apply(self.config("busy", "* * * * * * *", "sleep 60"))
        status = wait_until(
            lambda: (self.object("jobconfigs/busy") or {}).get("status", {}).get("lastSkipped"),
            "a slot is skipped")
        self.assertEqual(status["reason"], "Forbid")
        self.assertEqual(len(self.jobs_of("busy")), 1)
        why = self.cli("why", "jobconfig/busy")
        self.assertIn("last slot skipped", why)
        self.assertIn("Forbid", why)
        self.assertIn("is Running", why)

    def test_a_scaled_config_runs_as_many_as_it_was_scaled_to(self):
        self.start_host()
        self.apply(self.config("wide", "* * * * * * *", "sleep 60"))
        path = "jobconfigs/wide/scale"
        wait_until(lambda: self.object(path)["status"]["replicas"] == 1, "one is active")
        self.assertEqual(self.object(path)["spec"], {"replicas": 1})
        told = self.request("PATCH", path, {"spec": {"replicas": 2}},
                            "application/merge-patch+json")
        self.assertEqual(told[0], 200, told)
        wait_until(lambda: self.object(path)["status"]["replicas"] == 2, "two are active")
        wait_until(lambda: "with maxConcurrency 2" in self.cli("why", "jobconfig/wide"),
                   "no third is made, and it says why")
        self.assertEqual(len(self.jobs_of("wide")), 2)

    def test_slots_of_an_outage_are_caught_up_and_none_is_doubled(self):
        self.start_host()
        self.apply(self.config("tick", "* * * * * * *",
                               f"echo ${{job.schedule_time}} >> {self.path('tick')}",
                               policy="Allow"))
        wait_until(lambda: len(self.lines("tick")) >= 2, "two slots ran")
        self.kill_host()
        before = len(self.lines("tick"))
        outage = time.monotonic()
        wait_until(lambda: time.monotonic() - outage > 3.2, "three slots fall due meanwhile")
        self.start_host()
        wait_until(lambda: len(self.lines("tick")) >= before + 5, "slots are caught up and go on")
        slots = sorted(self.lines("tick"))
        self.assertEqual(len(slots), len(set(slots)), f"a slot ran twice: {slots}")
        at = [datetime.datetime.fromisoformat(slot.replace("Z", "+00:00")) for slot in slots]
        gaps = {(later - earlier).total_seconds() for earlier, later in zip(at, at[1:])}
        # The newest may be under way in an order of its own; what lies before it has no gap.
        self.assertEqual(gaps, {1.0}, f"a slot is missing: {slots}")

    def test_a_disabled_schedule_makes_no_job(self):
        self.start_host()
        config = self.config("off", "* * * * * * *", "true")
        config["spec"]["schedule"]["disabled"] = True
        self.apply(config)
        self.apply(self.config("on", "* * * * * * *", "true", policy="Allow"))
        wait_until(lambda: len(self.jobs_of("on")) >= 2, "the other one has run twice")
        self.assertEqual(self.jobs_of("off"), [])
        self.assertIn("disabled", self.cli("why", "jobconfig/off"))
