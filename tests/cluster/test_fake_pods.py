"""What a fake node does with a pod, as fake/pods.yaml promises it."""

import datetime

from cluster import ClusterTest, pod, wait_until


def instant(text):
    return datetime.datetime.fromisoformat(text)


def now():
    return datetime.datetime.now(datetime.timezone.utc)


class FakePods(ClusterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.apply(pod("always-there", outcome="hang"))

    def run_pod(self, name, until="ended", **fields):
        """Its last state once it has ended, and the events of its life."""
        watch = self.watch("pods")
        # A watch that has told of what was there before misses nothing from then on.
        wait_until(watch.events, "the watch has begun")
        self.cluster.apply(pod(name, **fields))

        def reached():
            events = [event for event in watch.events() if event[1]["metadata"]["name"] == name]
            for kind, seen in events:
                ended = seen["status"].get("phase") in ("Succeeded", "Failed")
                if (until == "gone" and kind == "DELETED") or (until == "ended" and ended):
                    return seen, events
            return None

        return wait_until(reached, f"pod {name} has {until}")

    def terminated(self, seen, container=0):
        return seen["status"]["containerStatuses"][container]["state"]["terminated"]

    def condition(self, seen, kind):
        return next((one for one in seen["status"]["conditions"] if one["type"] == kind), {})

    def test_a_pod_without_annotations_runs_and_then_succeeds(self):
        seen, events = self.run_pod("plain")
        self.assertEqual(seen["status"]["phase"], "Succeeded")
        self.assertEqual(self.terminated(seen)["exitCode"], 0)
        self.assertEqual(self.terminated(seen)["reason"], "Completed")
        self.assertEqual(self.condition(seen, "Ready")["reason"], "PodCompleted")
        running = [one for _, one in events if one["status"]["phase"] == "Running"]
        self.assertTrue(running, "it was never seen running")
        self.assertEqual(self.condition(running[0], "Ready")["status"], "True")
        status = running[0]["status"]["containerStatuses"][0]
        self.assertTrue(status["ready"] and status["started"] and status["state"]["running"])
        self.assertTrue(running[0]["status"]["startTime"] and running[0]["status"]["podIP"])

    def test_a_pod_that_fails_has_its_exit_code_reason_and_message(self):
        seen, _ = self.run_pod("fails", outcome="fail", exit_code="3", reason="OOMKilled",
                               termination_message='it said "no": 1\n2')
        self.assertEqual(seen["status"]["phase"], "Failed")
        ended = self.terminated(seen)
        self.assertEqual((ended["exitCode"], ended["reason"], ended["message"]),
                         (3, "OOMKilled", 'it said "no": 1\n2'))

    def test_of_several_containers_the_one_that_was_named_fails(self):
        two = pod("two", outcome="fail", exit_code="0",
                  **{"exit_code.side": "7", "termination_message.side": "x"})
        two["spec"]["containers"].append({"name": "side", "image": "localhost/busybox:1"})
        self.cluster.apply(two)
        self.cluster.kubectl("wait", "pod/two", "--for=jsonpath={.status.phase}=Failed",
                             "--timeout=30s")
        seen = self.cluster.get("pod", "two")
        self.assertEqual(self.terminated(seen, 0)["exitCode"], 0)
        self.assertEqual(self.terminated(seen, 1)["exitCode"], 7)
        self.assertEqual(self.terminated(seen, 1)["message"], "x")

    def test_a_pod_runs_as_long_as_it_was_told_whatever_changes_meanwhile(self):
        self.cluster.apply(pod("slow", after="5s"))
        self.cluster.kubectl("wait", "pod/slow", "--for=condition=Ready", "--timeout=30s")
        began = instant(self.cluster.get("pod", "slow")["status"]["startTime"])
        wait_until(lambda: (now() - began).total_seconds() >= 3, "it has run for three seconds")
        self.cluster.kubectl("label", "pod/slow", "touched=yes")
        touched = now()
        self.cluster.kubectl("wait", "pod/slow", "--for=jsonpath={.status.phase}=Succeeded",
                             "--timeout=30s")
        ended = instant(self.terminated(self.cluster.get("pod", "slow"))["finishedAt"])
        self.assertGreaterEqual((ended - began).total_seconds(), 5)
        self.assertLess((ended - touched).total_seconds(), 5, "its time has begun anew")

    def test_a_hanging_pod_goes_on_until_it_is_told_otherwise(self):
        self.cluster.apply(pod("hangs", outcome="hang"))
        self.cluster.kubectl("wait", "pod/hangs", "--for=condition=Ready", "--timeout=30s")
        self.run_pod("meanwhile", after="500ms")
        self.assertEqual(self.cluster.get("pod", "hangs")["status"]["phase"], "Running")
        self.cluster.kubectl("annotate", "pod/hangs", "--overwrite",
                             "fake.detent.dev/outcome=succeed")
        self.cluster.kubectl("wait", "pod/hangs", "--for=jsonpath={.status.phase}=Succeeded",
                             "--timeout=30s")

    def test_a_deadline_ends_a_hanging_pod(self):
        late = pod("late", outcome="hang")
        late["spec"]["activeDeadlineSeconds"] = 1
        self.cluster.apply(late)
        self.cluster.kubectl("wait", "pod/late", "--for=jsonpath={.status.phase}=Failed",
                             "--timeout=30s")
        seen = self.cluster.get("pod", "late")
        self.assertEqual(seen["status"]["reason"], "DeadlineExceeded")
        self.assertEqual(self.terminated(seen)["exitCode"], 143)

    def test_a_deadline_that_comes_later_than_the_end_changes_nothing(self):
        early = pod("early", after="100ms")
        early["spec"]["activeDeadlineSeconds"] = 600
        self.cluster.apply(early)
        self.cluster.kubectl("wait", "pod/early", "--for=jsonpath={.status.phase}=Succeeded",
                             "--timeout=30s")

    def test_a_deadline_that_comes_earlier_than_the_end_is_kept(self):
        long = pod("long", after="10m")
        long["spec"]["activeDeadlineSeconds"] = 1
        self.cluster.apply(long)
        self.cluster.kubectl("wait", "pod/long", "--for=jsonpath={.status.phase}=Failed",
                             "--timeout=30s")
        self.assertEqual(self.cluster.get("pod", "long")["status"]["reason"], "DeadlineExceeded")

    def test_an_evicted_pod_says_so(self):
        seen, _ = self.run_pod("evicted", outcome="evicted")
        self.assertEqual((seen["status"]["phase"], seen["status"]["reason"]), ("Failed", "Evicted"))
        self.assertEqual(self.condition(seen, "DisruptionTarget")["reason"],
                         "TerminationByKubelet")
        self.assertEqual(self.terminated(seen)["exitCode"], 137)

    def test_a_pod_whose_node_was_lost_fails_with_running_containers_and_is_gone(self):
        seen, events = self.run_pod("lost", until="gone", outcome="node-lost")
        self.assertEqual(seen["status"]["phase"], "Failed")
        self.assertEqual(self.condition(seen, "DisruptionTarget")["reason"], "DeletionByPodGC")
        self.assertIn("running", seen["status"]["containerStatuses"][0]["state"])
        self.assertIn("MODIFIED", [kind for kind, one in events
                                   if one["status"]["phase"] == "Failed"])

    def test_a_pod_deleted_by_somebody_ends_before_it_is_gone(self):
        seen, events = self.run_pod("deleted", until="gone", outcome="deleted", after="200ms")
        self.assertEqual(self.terminated(seen)["exitCode"], 143)
        going = [one for _, one in events if one["metadata"].get("deletionTimestamp") and
                 one["status"]["phase"] == "Running"]
        self.assertTrue(going, "it was never seen running and about to go")

    def test_a_pod_that_vanishes_has_no_last_word(self):
        seen, _ = self.run_pod("vanishes", until="gone", outcome="vanish")
        self.assertEqual(seen["status"]["phase"], "Running")

    def test_deleting_a_running_pod_ends_it_and_only_then_removes_it(self):
        held = pod("held", outcome="hang")
        held["metadata"]["finalizers"] = ["detent.dev/test"]
        self.cluster.apply(held)
        self.cluster.kubectl("wait", "pod/held", "--for=condition=Ready", "--timeout=30s")
        self.cluster.kubectl("delete", "pod/held", "--wait=false")
        self.cluster.kubectl("wait", "pod/held", "--for=jsonpath={.status.phase}=Failed",
                             "--timeout=30s")
        self.assertEqual(self.terminated(self.cluster.get("pod", "held"))["exitCode"], 143)
        self.cluster.kubectl("patch", "pod/held", "--type=merge",
                             "--patch", '{"metadata": {"finalizers": null}}')
        self.cluster.kubectl("wait", "pod/held", "--for=delete", "--timeout=30s")

    def test_a_pod_that_is_stuck_goes_by_force_alone(self):
        self.cluster.apply(pod("stuck", outcome="stuck-terminating"))
        self.cluster.kubectl("wait", "pod/stuck", "--for=condition=Ready", "--timeout=30s")
        self.cluster.kubectl("delete", "pod/stuck", "--wait=false")
        self.cluster.apply(pod("answered", outcome="hang"))
        self.cluster.kubectl("wait", "pod/answered", "--for=condition=Ready", "--timeout=30s")
        self.cluster.kubectl("delete", "pod/answered")  # So the node does answer, for others.
        stuck = self.cluster.get("pod", "stuck")
        self.assertEqual(stuck["status"]["phase"], "Running")
        self.assertTrue(stuck["metadata"]["deletionTimestamp"])
        self.cluster.kubectl("delete", "pod/stuck", "--force", "--grace-period=0")
        self.cluster.kubectl("wait", "pod/stuck", "--for=delete", "--timeout=30s")

    def test_a_pod_without_its_image_stays_pending_and_can_be_deleted(self):
        self.cluster.apply(pod("imageless", outcome="no-image"))
        reason = "{.status.containerStatuses[0].state.waiting.reason}"
        self.cluster.kubectl("wait", "pod/imageless", f"--for=jsonpath={reason}=ErrImagePull",
                             "--timeout=30s")
        self.assertEqual(self.cluster.get("pod", "imageless")["status"]["phase"], "Pending")
        self.cluster.kubectl("delete", "pod/imageless", "--timeout=30s")

    def test_a_wrong_annotation_fails_the_pod_and_says_which(self):
        rows = [({"outcome": "fial"}, "fake.detent.dev/outcome: fial is none of"),
                ({"after": "5 seconds"}, "fake.detent.dev/after: 5 seconds is not a time"),
                ({"outcome": "fail", "exit_code": "-1"}, "fake.detent.dev/exit-code: -1")]
        for number, (annotations, message) in enumerate(rows):
            seen, _ = self.run_pod(f"wrong-{number}", **annotations)
            self.assertEqual(seen["status"]["reason"], "BadAnnotation")
            self.assertIn(message, seen["status"]["message"])
