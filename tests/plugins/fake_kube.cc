#include "tests/plugins/fake_kube.h"

#include <algorithm>
#include <utility>

#include "core/plugin/buffer.h"

namespace detent::testing {
namespace {

FakeKube* the_kube = nullptr;

std::string Own(const detent_str& text) {
  return text.len == 0 ? std::string() : std::string(text.ptr, text.len);
}

detent_str Borrow(const std::string& text) {
  return {text.data(), text.size()};
}

// As detent/services/kube.h sorts what a server says.
detent_status CodeOf(uint32_t status, bool create) {
  switch (status) {
    case 404:
    case 410:
      return DETENT_E_NOT_FOUND;
    case 409:
      return create ? DETENT_E_ALREADY_EXISTS : DETENT_E_CONFLICT;
    case 400:
    case 422:
      return DETENT_E_INVALID;
    case 401:
    case 403:
      return DETENT_E_DENIED;
    case 429:
      return DETENT_E_BUSY;
    default:
      return status < 300 ? DETENT_OK : DETENT_E_UNAVAILABLE;
  }
}

// "a=b%20c": the value of the label selector, decoded.
std::string SelectorOf(const std::string& query) {
  const size_t at = query.find("labelSelector=");
  if (at == std::string::npos) return {};
  std::string text;
  for (size_t i = at + 14; i < query.size() && query[i] != '&'; ++i) {
    if (query[i] != '%') {
      text += query[i];
      continue;
    }
    text += static_cast<char>(std::stoi(query.substr(i + 1, 2), nullptr, 16));
    i += 2;
  }
  return text;
}

// As a server answers who accepts PartialObjectMetadata.
std::string MetadataOf(const std::string& body) {
  Json part;
  part.Set("kind", "PartialObjectMetadata");
  part.Set("apiVersion", "meta.k8s.io/v1");
  part.Set("metadata", *ParseJson(body)->Find("metadata"));
  return DumpJson(part);
}

bool IsTracked(const Json& pod) {
  const Json* const labels = pod.At("/metadata/labels");
  return labels != nullptr && labels->Find(kTrackedLabel) != nullptr;
}

}  // namespace

struct FakeKubeTable {
  static detent_status Request(detent_instance, const detent_kube_request* request, detent_cb cb,
                               void* ctx, detent_op* out) {
    const detent_op op = the_kube->next_++;
    if (out != nullptr) *out = op;
    return the_kube->Take(*request, false, {op, cb, ctx});
  }
  static detent_status Ensure(detent_instance, const detent_kube_request* request, detent_cb cb,
                              void* ctx, detent_op* out) {
    const detent_op op = the_kube->next_++;
    if (out != nullptr) *out = op;
    return the_kube->Take(*request, true, {op, cb, ctx});
  }
  static detent_status LetGo(detent_instance, const detent_kube_object* object, detent_cb, void*) {
    return the_kube->LetGo(*object);
  }
  static detent_status Cancel(detent_instance, detent_op) { return DETENT_OK; }
  static detent_status FindKind(detent_instance, const detent_str* api_version,
                                const detent_str* kind, uint32_t fresh, detent_cb cb, void* ctx) {
    KubeAsked asked;
    asked.act = KubeAct::kFindKind;
    asked.ns = Own(*api_version);
    asked.name = Own(*kind);
    if (fresh != 0) asked.query = "fresh";
    the_kube->FindKind(asked, {the_kube->next_++, cb, ctx});
    return DETENT_OK;
  }

  static detent_status Start(detent_instance, const detent_watch_request* request,
                             detent_watch_cb cb, void* ctx, detent_watch* out) {
    if ((request->flags & DETENT_WATCH_TRACKED) == 0) return DETENT_E_UNSUPPORTED;
    *out = 1;
    the_kube->watch_cb_ = cb;
    the_kube->watch_ctx_ = ctx;
    the_kube->SayAll();
    return DETENT_OK;
  }
  static detent_status Stop(detent_instance, detent_watch) {
    the_kube->watch_cb_ = nullptr;
    the_kube->events_.clear();
    return DETENT_OK;
  }
  static constexpr detent_kube kKube{
      sizeof(detent_kube), 0, &Request, &Ensure, &LetGo, &Cancel, &FindKind};
  static constexpr detent_watches kWatches{sizeof(detent_watches), 0, &Start, &Stop};
};

FakeKube::FakeKube() {
  the_kube = this;
  server_.on_change = [this](const PodChange& change) { OnChange(change); };
}

FakeKube::~FakeKube() {
  the_kube = nullptr;
}

void FakeKube::Attach(FakeHost& host) {
  host_ = &host;
  host.AddService(DETENT_SVC_KUBE, &FakeKubeTable::kKube, [this] { EndHost(); });
  host.AddService(DETENT_SVC_WATCH, &FakeKubeTable::kWatches);
}

// The callbacks that are owed come with E_CLOSING; what is on its way to the server arrives there.
void FakeKube::EndHost() {
  for (Answer& answer : std::exchange(answers_, {})) {
    answer.code = DETENT_E_CLOSING;
    Give(answer);
  }
  for (Held& held : held_) {
    Answer answer = std::exchange(held.answer, {});
    answer.code = DETENT_E_CLOSING;
    Give(answer);
  }
  events_.clear();
  watch_cb_ = nullptr;
  host_ = nullptr;
}

Json FakeKube::WithMarks(const std::string& body, detent_task task) const {
  Json pod = *ParseJson(body);
  Json& meta = *pod.Find("metadata");
  if (meta.Find("labels") == nullptr) meta.Set("labels", Json(Json::Object{}));
  meta.Find("labels")->Set(kTrackedLabel, "host-1").Set(kKeyLabel, host_->key(task));
  if (meta.Find("finalizers") == nullptr) meta.Set("finalizers", Json(Json::Array{}));
  meta.Find("finalizers")->Append(kFinalizer);
  return pod;
}

detent_status FakeKube::Take(const detent_kube_request& request, bool ensure, Answer answer) {
  if (answers_.size() + held_.size() >= capacity) return DETENT_E_BUSY;
  KubeAsked asked;
  asked.ns = Own(request.namespace_);
  asked.name = Own(request.name);
  asked.query = Own(request.query);
  asked.body.assign(reinterpret_cast<const char*>(request.body.ptr), request.body.len);
  const bool log = Own(request.gvr) == "v1/pods/log";
  std::function<void(Answer&)> effect;
  switch (request.verb) {
    case DETENT_KUBE_CREATE: {
      if ((request.flags & DETENT_KUBE_DRY_RUN) != 0) {
        if (ensure || request.task != 0) return DETENT_E_UNSUPPORTED;
        asked.act = KubeAct::kTryOut;
        effect = [=, this](Answer& out) {
          out.response = server_.TryOut(asked.ns, *ParseJson(asked.body));
        };
        break;
      }
      if (!ensure || request.name.len > 0) return DETENT_E_UNSUPPORTED;
      asked.act = KubeAct::kCreate;
      const Json pod = WithMarks(asked.body, request.task);
      asked.name = TextAt(pod, "/metadata/name");
      const bool metadata_only = (request.flags & DETENT_KUBE_METADATA) != 0;
      effect = [=, this](Answer& out) {
        Ensure(asked, pod, out);
        const bool created = out.code == DETENT_OK && out.response.status == 201;
        if (created && metadata_only) out.response.body = MetadataOf(out.response.body);
      };
      break;
    }
    case DETENT_KUBE_GET:
      asked.act = log ? KubeAct::kLog : KubeAct::kGet;
      effect = [=, this](Answer& out) {
        out.response = log ? server_.Log(asked.ns, asked.name, asked.query)
                           : server_.Get(asked.ns, asked.name);
      };
      break;
    case DETENT_KUBE_LIST:
      asked.act = KubeAct::kList;
      effect = [=, this](Answer& out) {
        out.response = server_.List(asked.ns, SelectorOf(asked.query));
      };
      break;
    case DETENT_KUBE_PATCH:
      if (Own(request.content_type) != "application/merge-patch+json") return DETENT_E_INVALID;
      asked.act = KubeAct::kPatch;
      effect = [=, this](Answer& out) {
        out.response = server_.Annotate(asked.ns, asked.name, asked.body);
      };
      break;
    case DETENT_KUBE_DELETE:
      asked.act = KubeAct::kDelete;
      effect = [=, this](Answer& out) {
        out.response = server_.Delete(asked.ns, asked.name, asked.body);
      };
      break;
    default:
      return DETENT_E_UNSUPPORTED;
  }
  asked_.push_back(asked);
  Act(asked, std::move(answer), std::move(effect));
  return DETENT_OK;
}

void FakeKube::Act(const KubeAsked& asked, Answer answer, std::function<void(Answer&)> effect) {
  const KubeAct act = asked.act;
  if (held_act_ == act) {
    held_.push_back({std::move(answer), std::move(effect), asked.name});
    return;
  }
  const auto fault = std::find_if(faults_.begin(), faults_.end(),
                                  [&](const KubeFault& each) { return each.act == act; });
  if (fault == faults_.end() || fault->with_effect) {
    effect(answer);
    if (answer.code == DETENT_OK) {
      answer.code = CodeOf(answer.response.status, act == KubeAct::kCreate);
    }
  }
  if (fault != faults_.end()) {
    answer.code = fault->code;
    answer.response = {fault->http_status, fault->reason, fault->message, fault->body};
    answer.retry_after_ms = fault->retry_after_ms;
    if (--fault->times == 0) faults_.erase(fault);
  }
  answers_.push_back(std::move(answer));
}

void FakeKube::Arrive() {
  held_act_.reset();
  for (Held& held : std::exchange(held_, {})) {
    held.act(held.answer);
    if (held.answer.cb == nullptr) {  // Nobody waits for it any more.
      late_.insert(held.name);
      continue;
    }
    if (held.answer.code == DETENT_OK) held.answer.code = CodeOf(held.answer.response.status, true);
    answers_.push_back(std::move(held.answer));
  }
}

void FakeKube::ArriveLate() {
  std::deque<Held> kept;
  for (Held& held : std::exchange(held_, {})) {
    if (held.answer.cb != nullptr) {
      kept.push_back(std::move(held));
      continue;
    }
    late_.insert(held.name);
    held.act(held.answer);
  }
  held_ = std::move(kept);
}

void FakeKube::Ensure(const KubeAsked& asked, Json pod, Answer& answer) {
  answer.response = server_.Create(asked.ns, pod);
  if (answer.response.status != 409) return;
  const std::string name = TextAt(pod, "/metadata/name");
  const KubeResponse there = server_.Get(asked.ns, name);
  const std::string key = pod.At("/metadata/labels")->Find(kKeyLabel)->as_string();
  const Json found = *ParseJson(there.body);
  const Json* const labels = found.At("/metadata/labels");
  const Json* const label = labels == nullptr ? nullptr : labels->Find(kKeyLabel);
  if (label != nullptr && label->as_string() == key) {
    answer.response = there;
    answer.value = 1;
    return;
  }
  answer.code = DETENT_E_ALREADY_EXISTS;
  answer.response.reason = "NameTaken";
}

detent_status FakeKube::LetGo(const detent_kube_object& object) {
  KubeAsked asked{KubeAct::kLetGo,
                  Own(object.namespace_),
                  Own(object.name),
                  "",
                  "",
                  Own(object.uid),
                  (object.flags & DETENT_KUBE_REMOVE) != 0,
                  (object.flags & DETENT_KUBE_ENDED) != 0};
  asked_.push_back(asked);
  // Repeated until it succeeds: whatever happens on the way, this is what comes of it.
  const auto effect = [this, asked](Answer&) {
    if (asked.remove) {
      server_.Delete(asked.ns, asked.name,
                     R"({"gracePeriodSeconds":0,"preconditions":{"uid":")" + asked.uid + "\"}}");
    }
    server_.LetGo(asked.ns, asked.name, asked.uid, kTrackedLabel, kFinalizer);
  };
  Answer nobody;
  if (held_act_ == KubeAct::kLetGo) {
    held_.push_back({nobody, effect, ""});
  } else {
    effect(nobody);
  }
  return DETENT_OK;
}

void FakeKube::FindKind(const KubeAsked& asked, Answer answer) {
  asked_.push_back(asked);
  Act(asked, std::move(answer), [this, asked](Answer& out) {
    out.response.status = 0;  // It may come from what the host has learned before.
    const auto found = kinds.find(asked.ns + " " + asked.name);
    if (found != kinds.end()) {
      out.response.body = found->second;
      return;
    }
    out.code = DETENT_E_NOT_FOUND;
    out.response.message = "the server has no kind '" + asked.name + "' in " + asked.ns;
  });
}

void FakeKube::OnChange(const PodChange& change) {
  if (watch_cb_ == nullptr) return;
  const bool now = change.kind != PodChange::Kind::kDeleted && IsTracked(change.pod);
  const bool was = change.kind == PodChange::Kind::kDeleted
                       ? IsTracked(change.pod)
                       : change.before != nullptr && IsTracked(*change.before);
  if (now) {
    events_.push_back({DETENT_WATCH_UPSERT, DumpJson(change.pod), ""});
  } else if (was) {
    const Json& last = change.before == nullptr ? change.pod : *change.before;
    events_.push_back({DETENT_WATCH_DELETE, DumpJson(last), ""});
  }
}

void FakeKube::SayAll() {
  for (const auto& [key, pod] : server_.pods()) {
    if (IsTracked(pod)) events_.push_back({DETENT_WATCH_UPSERT, DumpJson(pod), ""});
  }
  if (syncs) Sync();
}

void FakeKube::Sync() {
  events_.push_back({DETENT_WATCH_SYNCED, "", ""});
}

// What was not delivered yet is lost.
void FakeKube::RestartWatch() {
  events_.clear();
  events_.push_back({DETENT_WATCH_RESTARTED, "", ""});
  SayAll();
}

void FakeKube::FailWatch(const std::string& message) {
  events_.push_back({DETENT_WATCH_FAILED, "", message});
}

void FakeKube::Give(const Answer& answer) {
  if (answer.cb == nullptr) return;
  detent_result result{};
  result.size = sizeof(result);
  result.code = answer.code;
  result.reason = Borrow(answer.response.reason);
  result.message = Borrow(answer.response.message);
  result.http_status = answer.code == DETENT_E_CLOSING ? 0 : answer.response.status;
  result.retry_after_ms = answer.retry_after_ms;
  result.value = answer.value;
  if (answer.code != DETENT_E_CLOSING && !answer.response.body.empty()) {
    result.body = NewBuffer(answer.response.body);
  }
  answer.cb(answer.ctx, &result);
  if (result.body != 0) ReleaseBuffer(result.body);
}

void FakeKube::Tell(const Event& event) {
  if (watch_cb_ == nullptr) return;
  std::string ns, name, uid, version;
  detent_watch_event raw{};
  raw.size = sizeof(raw);
  raw.kind = event.kind;
  if (!event.object.empty()) {
    const Json object = *ParseJson(event.object);
    ns = TextAt(object, "/metadata/namespace");
    name = TextAt(object, "/metadata/name");
    uid = TextAt(object, "/metadata/uid");
    version = TextAt(object, "/metadata/resourceVersion");
    raw.object = NewBuffer(event.object);
  }
  raw.namespace_ = Borrow(ns);
  raw.name = Borrow(name);
  raw.uid = Borrow(uid);
  raw.resource_version = Borrow(version);
  raw.message = Borrow(event.message);
  watch_cb_(watch_ctx_, &raw);
  if (raw.object != 0) ReleaseBuffer(raw.object);
}

void FakeKube::DeliverOne() {
  const Answer answer = std::move(answers_.front());
  answers_.pop_front();
  Give(answer);
}

void FakeKube::DeliverAnswers() {
  while (!answers_.empty()) DeliverOne();
}

void FakeKube::DeliverEvents() {
  while (!events_.empty()) {
    const Event event = std::move(events_.front());
    events_.pop_front();
    Tell(event);
  }
}

void FakeKube::Deliver() {
  while (!idle()) {
    DeliverAnswers();
    DeliverEvents();
  }
}

size_t FakeKube::count(KubeAct act) const {
  return static_cast<size_t>(std::count_if(asked_.begin(), asked_.end(),
                                           [&](const KubeAsked& each) { return each.act == act; }));
}

}  // namespace detent::testing
