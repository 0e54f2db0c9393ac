#include <algorithm>
#include <ostream>

#include "core/api/admission.h"
#include "core/api/codec.h"
#include "core/cli/command.h"
#include "core/cli/input_files.h"
#include "core/cli/mistakes.h"
#include "core/cli/object_args.h"
#include "core/cli/slots.h"
#include "core/cli/table_view.h"

namespace detent {
namespace {

constexpr int64_t kDefaultCount = 5;
constexpr int64_t kMostSlots = 10'000;

struct Asked {
  std::string title;  // What the slots are of, where there are several; or empty.
  ScheduleSpec schedule;
  std::string hash_id;
};

bool IsExpression(const std::string& word) {
  return word.starts_with("@") || word.find(' ') != word.npos;
}

Result<Asked> OfConfig(const Json& config, const std::string& absent_ns) {
  std::string ns = TextAt(config, "/metadata/namespace");
  if (ns.empty()) ns = absent_ns;
  Asked asked;
  asked.hash_id = ns + "/" + TextAt(config, "/metadata/name");
  asked.title = "jobconfig " + asked.hash_id;
  const Json* spec = config.Find("spec");
  const JobConfigSpec decoded = TRY(DecodeJobConfigSpec(spec != nullptr ? DumpJson(*spec) : "{}"));
  if (!decoded.schedule) {
    return Error(Code::kInvalid, asked.title +
                                     " has no spec.schedule, so no slot will come; "
                                     "'detent run' starts it by hand");
  }
  asked.schedule = *decoded.schedule;
  return asked;
}

Result<std::vector<Asked>> OfFiles(CommandContext& context) {
  std::vector<Asked> all;
  const auto manifests = TRY(ReadInputManifests(context.flags.Texts("filename"), *context.io.in));
  for (const Manifest& manifest : manifests) {
    if (manifest.kind != Kind::kJobConfig) continue;
    const Findings findings = CheckOffline(manifest, context.clock.Now());
    if (!findings.mistakes.empty()) return Error(Code::kInvalid, findings.mistakes[0]);
    AdmissionContext admission;
    admission.now = context.clock.Now();
    // Admission has brought older spellings to the one that the decoder knows.
    const Object object = AdmitNew(manifest.kind, manifest.document, admission).object;
    const Result<Json> document = ParseJson(EncodeObject(object));
    if (!document) return document.error();
    const Result<Asked> asked = OfConfig(*document, context.ns());
    if (asked) all.push_back(*asked);
  }
  if (all.empty()) {
    return Error(Code::kInvalid, "--filename: there is no JobConfig with a spec.schedule in it");
  }
  return all;
}

Result<int> Print(CommandContext& context, const std::vector<Asked>& all) {
  const auto count = static_cast<size_t>(context.flags.Number("count").value_or(kDefaultCount));
  const auto from = ParseTime(context.flags.Text("from")).value_or(context.clock.Now());
  for (const Asked& asked : all) {
    ScheduleSpec schedule = asked.schedule;
    if (context.flags.Has("timezone")) schedule.timezone = context.flags.Text("timezone");
    const NextSlots next = TRY(SlotsAfter(schedule, asked.hash_id, from, count));
    if (all.size() > 1) context.out() << asked.title << ":\n";
    if (schedule.disabled) {
      context.err() << "note: " << asked.title << " is disabled (spec.schedule.disabled)\n";
    }
    if (next.slots.empty()) context.err() << "No slot will come before the year 2100.\n";
    Rows rows;
    for (const WallTime slot : next.slots) {
      const auto wait = std::chrono::duration_cast<std::chrono::seconds>(slot - from);
      rows.push_back({FormatLocal(slot, next.zone), FormatTime(slot), "in " + FormatAge(wait)});
    }
    std::vector<size_t> widths;
    PrintRows(context.out(), rows, widths);
  }
  return kExitOk;
}

// What a host may be told otherwise, if it makes a difference to this schedule.
void NoteGuesses(CommandContext& context, const ScheduleSpec& schedule) {
  if (schedule.timezone.empty() && !context.flags.Has("timezone")) {
    context.err() << "note: the schedule has no time zone, and the cluster does not say which one "
                     "its host takes; this is with UTC\n";
  }
  const auto& all = schedule.expressions;
  const auto hashes = [](const std::string& text) { return text.find('H') != text.npos; };
  if (std::any_of(all.begin(), all.end(), hashes)) {
    context.err() << "note: H differs by JobConfig here; a host with hashNames: false has other "
                     "slots\n";
  }
}

Result<int> Next(CommandContext& context) {
  const bool files = context.flags.Has("filename");
  if (context.words.empty() != files) {
    return context.Usage(files ? "--filename: cannot be combined with an argument"
                               : "needs a JobConfig, an expression in quotes, or --filename");
  }
  const int64_t count = context.flags.Number("count").value_or(kDefaultCount);
  if (count < 1 || count > kMostSlots) return context.Usage("--count: must be 1 to 10000");
  if (context.flags.Has("from") && !ParseTime(context.flags.Text("from"))) {
    return context.Usage("--from: must be a time such as 2026-11-21T10:00:00Z");
  }
  // Nothing is asked of a cluster for a file, but which namespace is meant.
  if (files && (context.flags.Has("kubeconfig") || context.flags.Has("context"))) {
    TRY(context.connect());
  }
  if (files) return Print(context, TRY(OfFiles(context)));
  if (IsExpression(context.words[0])) {
    Asked asked;
    asked.title = "the expression";
    asked.schedule.expressions = {context.words[0]};
    asked.hash_id = context.flags.Text("hash-id");
    return Print(context, {asked});
  }
  std::vector<std::string> words = context.words;
  if (words[0].find('/') == std::string::npos) words[0] = "jobconfig/" + words[0];
  const Result<ObjectArg> object = ParseObject(words);
  if (!object) return context.Usage(object.error().message());
  if (object->kind != Kind::kJobConfig) return context.Usage("only a JobConfig has slots");
  ApiClient* api = TRY(context.connect());
  const Json config = TRY(api->Read({Kind::kJobConfig, context.ns(), object->name}));
  Asked asked = TRY(OfConfig(config, context.ns()));
  // What the JobConfig leaves open is the host's to say.
  const ApiClient::CronDefaults defaults = TRY(api->ReadCronDefaults());
  if (!defaults.known) NoteGuesses(context, asked.schedule);
  if (asked.schedule.timezone.empty()) asked.schedule.timezone = defaults.timezone;
  if (!defaults.hash_names) asked.hash_id = "-";
  return Print(context, {asked});
}

}  // namespace

Command NextCommand() {
  return {.name = "next",
          .arguments = "JOBCONFIG | EXPRESSION | -f FILE",
          .summary = "show when a schedule is due next",
          .description =
              "Slots are shown in the schedule's zone and in UTC. An expression or a file\n"
              "needs no host; what only a host can say is then taken to be as it comes: UTC\n"
              "for schedules without a zone, and H differing by JobConfig.",
          .examples = {"detent next nightly --count 3",
                       "detent next '0 9 * * mon-fri' --timezone Europe/Berlin",
                       "detent next 'H H * * *' --hash-id default/nightly"},
          .flags = {FileFlag(),
                    {"count", 0, FlagType::kNumber, "N", "How many slots. Default: 5."},
                    {"timezone", 0, FlagType::kText, "ZONE",
                     "Instead of the schedule's, or the host's."},
                    {"from", 0, FlagType::kText, "TIME", "Slots after this time. Default: now."},
                    {"hash-id", 0, FlagType::kText, "NAMESPACE/NAME",
                     "What H in an expression depends on."}},
          .words_max = 1,
          .offline = true,
          .run = Next};
}

}  // namespace detent
