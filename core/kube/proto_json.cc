#include "core/kube/proto_json.h"

#include <chrono>
#include <protozero/pbf_reader.hpp>

#include "core/base/clock.h"
#include "core/base/json_writer.h"
#include "core/kube/proto_types.h"
#include "core/kube/watch_shape.h"

namespace detent {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// In front of every object that is no part of another.
constexpr std::string_view kMagic("k8s\0", 4);

// Of the years 1 to 9999, as RFC 3339 can say them.
constexpr int64_t kFirstSecond = -62'135'596'800;
constexpr int64_t kLastSecond = 253'402'300'799;

struct Malformed {
  const char* why;
};

std::string_view ViewOf(pbf_reader& in) {
  if (in.wire_type() != pbf_wire_type::length_delimited) throw Malformed{"a length is missing"};
  const protozero::data_view view = in.get_view();
  return {view.data(), view.size()};
}

pbf_reader MessageOf(pbf_reader& in) {
  const std::string_view view = ViewOf(in);
  return pbf_reader(view.data(), view.size());
}

int64_t NumberOf(pbf_reader& in) {
  if (in.wire_type() != pbf_wire_type::varint) throw Malformed{"a number is none"};
  return in.get_int64();  // One of 32 bits has its sign extended.
}

void AppendTime(pbf_reader in, JsonWriter& out) {
  int64_t seconds = 0;
  while (in.next()) {
    if (in.tag() == 1) {
      seconds = NumberOf(in);
    } else {
      in.skip();  // No API object tells fractions of a second.
    }
  }
  if (seconds < kFirstSecond || seconds > kLastSecond) throw Malformed{"a time is none"};
  if (seconds == 0) {
    out.Raw("null");
  } else {
    out.Value(FormatTime(WallTime(std::chrono::seconds(seconds))));
  }
}

// The members 1 and 2 of a message, empty where they are missing: all that its envelopes have that
// is of use, and all that an entry of a map has.
struct FirstTwo {
  explicit FirstTwo(std::string_view message) {
    pbf_reader in(message.data(), message.size());
    while (in.next()) {
      if (in.tag() == 1) {
        first = ViewOf(in);
      } else if (in.tag() == 2) {
        second = ViewOf(in);
      } else {
        in.skip();
      }
    }
  }

  std::string_view first, second;
};

void AppendMembers(const ProtoMessage& message, pbf_reader in, JsonWriter& out);

// One value, with its name if it is of no list.
void AppendValue(const ProtoMember& member, pbf_reader& in, JsonWriter& out) {
  using Form = ProtoMember::Form;
  const bool says_zero = member.zero == ProtoMember::Zero::kSaid;
  const auto name = [&] {
    if (!member.repeated) out.Key(member.name);
  };
  if (member.form == Form::kText) {
    const std::string_view text = ViewOf(in);
    if (text.empty() && !says_zero) return;
    name();
    out.Value(text);
  } else if (member.form == Form::kNumber || member.form == Form::kTruth) {
    const int64_t number = NumberOf(in);
    if (number == 0 && !says_zero) return;
    name();
    member.form == Form::kTruth ? out.Value(number != 0) : out.Value(number);
  } else if (member.form == Form::kTime) {
    name();
    AppendTime(MessageOf(in), out);
  } else {
    name();
    out.BeginObject();
    AppendMembers(*member.message, MessageOf(in), out);
    out.EndObject();
  }
}

// All of a list or a map, of which `first` is the first item.
void AppendAll(const ProtoMember& member, pbf_reader first, JsonWriter& out) {
  const bool is_map = member.form == ProtoMember::Form::kTextMap;
  out.Key(member.name);
  is_map ? out.BeginObject() : out.BeginArray();
  do {
    if (is_map) {
      const FirstTwo entry(ViewOf(first));
      out.Member(entry.first, entry.second);
    } else {
      AppendValue(member, first, out);
    }
  } while (first.next(member.number));
  is_map ? out.EndObject() : out.EndArray();
}

void AppendMembers(const ProtoMessage& message, pbf_reader in, JsonWriter& out) {
  uint64_t said = 0;  // Bits of the members: nothing is said twice.
  while (in.next()) {
    size_t i = 0;
    while (i < message.members.size() && message.members[i].number != in.tag()) ++i;
    if (i == message.members.size() || (said >> i & 1) != 0) {
      in.skip();
      continue;
    }
    said |= uint64_t{1} << i;
    const ProtoMember& member = message.members[i];
    if (member.repeated || member.form == ProtoMember::Form::kTextMap) {
      AppendAll(member, in, out);
      in.skip();
    } else {
      AppendValue(member, in, out);
    }
  }
}

void AppendObject(std::string_view body, std::string& json) {
  if (!IsProto(body)) throw Malformed{"it does not begin as one"};
  const FirstTwo unknown(body.substr(kMagic.size()));  // runtime.Unknown: typeMeta, raw.
  const FirstTwo type_meta(unknown.first);             // apiVersion, kind.
  const bool is_pod = type_meta.second == "Pod" && type_meta.first == "v1";
  if (!is_pod && type_meta.second != "Status") throw Malformed{"it is neither a Pod nor a Status"};
  JsonWriter out(json);
  out.BeginObject().Member("kind", type_meta.second).Member("apiVersion", type_meta.first);
  const std::string_view raw = unknown.second;
  AppendMembers(is_pod ? kProtoPod : kProtoStatus, pbf_reader(raw.data(), raw.size()), out);
  out.EndObject();
}

void AppendEvent(std::string_view frame, std::string& json) {
  const FirstTwo event(frame);             // type, object.
  const FirstTwo extension(event.second);  // raw.
  json += "{\"type\":";
  AppendJsonString(json, event.first);
  json += ",\"object\":";
  AppendObject(extension.first, json);
  json += '}';
}

template <typename Append>
Result<void> Guarded(const Append& append) {
  const auto malformed = [](const char* why) {
    return Error(Code::kInvalid, std::string("no object in protobuf: ") + why);
  };
  try {
    append();
  } catch (const Malformed& error) {
    return malformed(error.why);
  } catch (const protozero::exception& error) {
    return malformed(error.what());
  }
  return {};
}

}  // namespace

bool IsReadAsProto(const KubeResource& resource, std::string_view members) {
  if (members.empty() || resource != KubeResource{"", "v1", "pods", ""}) return false;
  return EachMemberPath(members, [](std::string_view path) { return HasMember(kProtoPod, path); });
}

bool IsProto(std::string_view body) {
  return body.starts_with(kMagic);
}

Result<void> AppendProtoObject(std::string_view body, std::string& json) {
  return Guarded([&] { AppendObject(body, json); });
}

Result<void> AppendProtoEvent(std::string_view frame, std::string& json) {
  return Guarded([&] { AppendEvent(frame, json); });
}

}  // namespace detent
