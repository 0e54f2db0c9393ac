// The server's API, as the commands use it: paths, parameters and errors of HTTP on one side,
// documents and Results on the other. The server is a host; what differs where it is the API server
// of a cluster, ClusterClient (core/cli/cluster_client.h) does in its own way.
//
// One thread. Errors are sentences for the user: a server that is not there, or the server's own
// words.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/object.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/cli/transport.h"

namespace detent {

// What a list or a watch is about.
struct Selection {
  Kind kind = Kind::kJob;
  std::string ns;  // Empty: all namespaces.
  std::string label_selector;
  std::string field_selector;
  bool whole_rows = false;  // Of a Table: each row with its object, not its metadata alone.
};

// A mistake that the server found in one field: "spec.a[0]" and what is wrong with it.
struct FieldMistake {
  std::string field;
  std::string message;
};

struct DeleteRequest {
  std::string propagation;  // "Background", "Foreground", "Orphan"; empty: the server's default.
  bool dry_run = false;
};

class ApiClient {
 public:
  // `shown` is the server's address as the user knows it.
  ApiClient(std::unique_ptr<ClientTransport> transport, std::string shown)
      : transport_(std::move(transport)), shown_(std::move(shown)) {}
  virtual ~ApiClient() = default;
  ApiClient(const ApiClient&) = delete;
  ApiClient& operator=(const ApiClient&) = delete;

  Result<Json> Read(const ObjectKey& key);
  // All pages of a List as one.
  virtual Result<Json> List(const Selection& selection);
  // The same as Tables, as a person reads them.
  Result<Json> ReadTable(const ObjectKey& key);
  virtual Result<Json> ListTable(const Selection& selection);

  // Unknown fields are refused.
  virtual Result<Json> Create(Kind kind, const std::string& ns, const Json& document, bool dry_run);
  virtual Result<Json> Patch(const ObjectKey& key, const Json& merge_patch, bool dry_run);
  // The object that still is there, or a Status where it is gone.
  Result<Json> Delete(const ObjectKey& key, const DeleteRequest& request);

  // The fields behind the last error of Create or Patch.
  const std::vector<FieldMistake>& mistakes() const { return mistakes_; }

  // Calls `on_event` with each event's type and object until it returns false or the server ends
  // the stream, after `limit` at the latest. `request.version` moves along, by bookmarks too, which
  // are no events. kExpired: list again.
  struct WatchRequest {
    Selection selection;
    std::string version;  // What to watch from.
    bool table = false;
    std::chrono::seconds limit{300};
  };
  using OnEvent = std::function<bool(const std::string& type, const Json& object)>;
  virtual Result<void> Watch(WatchRequest& request, const OnEvent& on_event);

  virtual Result<std::vector<std::string>> Why(const ObjectKey& key);
  // Whose output: a Task's, or that of a Job's attempt of which no Task is stored.
  struct LogPlace {
    ObjectKey key;
    int64_t index = 0, attempt = 1;  // Of a Job.
  };
  // The lines of the stored output from byte `offset` on, in CRI format. kUnsupported: it is not
  // kept here; kExpired: it is gone.
  virtual Result<void> Log(const LogPlace& place, int64_t offset,
                           const HttpClient::OnLine& on_line);
  virtual Result<Json> Plugins();
  virtual Result<void> ReloadPlugin(const std::string& kind);
  Result<Json> Version();

  // How the host reads schedules. A host that does not say so is taken to have the defaults.
  struct CronDefaults {
    std::string timezone = "UTC";
    bool hash_names = true;
    bool known = true;  // False: nobody here can say; these are what a host has unless it is told.
  };
  virtual Result<CronDefaults> ReadCronDefaults();

  // Whether the server has ever answered, other than by an error of its own.
  bool has_answered() const { return has_answered_; }
  // Whether the last call got a whole reply; its error is in the server's words then.
  bool was_replied() const { return was_replied_; }

  // The server in a sentence, what it is called without an address, and what to do when it is away.
  virtual std::string Named() const { return "`detent serve` at " + shown_; }
  virtual const char* Holder() const { return "host"; }
  virtual const char* Remedy() const { return "start it again"; }
  // How long to wait before the output of so many tasks is asked for again.
  virtual std::chrono::milliseconds LogPause(size_t tasks) const;

  void Pause(std::chrono::milliseconds time) { transport_->Pause(time); }

  // Called with each warning that a reply carries.
  void set_on_warning(std::function<void(const std::string&)> on_warning) {
    on_warning_ = std::move(on_warning);
  }

 protected:
  // A reply of any status; the errors are sentences.
  Result<ClientReply> Fetch(const ClientRequest& request);
  Result<Json> Call(const ClientRequest& request);
  // Why there was no reply.
  virtual Error Unreachable(const Error& error) const;
  // What the server's Status says, and what to do about it; of a reply that is none.
  virtual Error Advised(const Json& status, Error error) const;
  virtual Error Unreadable(const ClientReply& reply) const;
  Error Refusal(const ClientReply& reply);
  void Warn(const std::string& warning) const {
    if (on_warning_) on_warning_(warning);
  }
  void set_mistakes(std::vector<FieldMistake> mistakes) { mistakes_ = std::move(mistakes); }
  const std::string& shown() const { return shown_; }  // The address as the user knows it.

 private:
  Result<Json> ListPages(const Selection& selection, bool table);
  Result<Json> Write(ClientRequest request, const Json& body, const char* type);
  Result<ClientReply> Heard(Result<ClientReply> reply);
  void ReportWarnings(const ClientReply& reply) const;

  std::unique_ptr<ClientTransport> transport_;
  std::string shown_;
  std::vector<FieldMistake> mistakes_;
  bool has_answered_ = false;
  bool was_replied_ = false;
  std::function<void(const std::string&)> on_warning_;
};

// The code for an HTTP status, and the reason that a Status has beside it.
Code CodeFor(int status, const std::string& reason);

// Text for a URL's path or query (RFC 3986): all but unreserved characters is escaped.
std::string EscapeUrl(std::string_view text);

// The string at `pointer`, or empty.
std::string TextAt(const Json& value, std::string_view pointer);
int64_t NumberAt(const Json& value, std::string_view pointer);

}  // namespace detent
