#include "tests/kube/proto_frames.h"

#include <protozero/pbf_writer.hpp>

namespace detent::testing {

using protozero::pbf_writer;

std::string ProtoObject(const std::string& api_version, const std::string& kind,
                        const std::string& raw) {
  std::string type_meta, body("k8s\0", 4);
  pbf_writer type(type_meta);
  type.add_string(1, api_version);
  type.add_string(2, kind);
  pbf_writer unknown(body);
  unknown.add_message(1, type_meta);
  unknown.add_bytes(2, raw);
  unknown.add_string(3, "");
  unknown.add_string(4, "");
  return body;
}

std::string ProtoEvent(const std::string& type, const std::string& object) {
  std::string extension, event;
  pbf_writer(extension).add_bytes(1, object);
  pbf_writer writer(event);
  writer.add_string(1, type);
  writer.add_message(2, extension);
  return event;
}

std::string ProtoFrame(const std::string& event) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(event.size() >> shift & 0xFF);
  }
  return frame + event;
}

std::string ProtoPod(const std::string& name, const std::string& version,
                     const std::string& phase) {
  std::string metadata, status, pod;
  pbf_writer meta(metadata);
  meta.add_string(1, name);
  meta.add_string(3, "ns");
  meta.add_string(5, "uid-" + name);
  meta.add_string(6, version);
  pbf_writer(status).add_string(1, phase);
  pbf_writer writer(pod);
  writer.add_message(1, metadata);
  writer.add_message(3, status);
  return pod;
}

std::string ProtoStatus(int code, const std::string& reason, const std::string& message) {
  std::string details, text;
  pbf_writer(details).add_int32(5, 7);
  pbf_writer status(text);
  status.add_message(1, std::string());
  status.add_string(2, "Failure");
  status.add_string(3, message);
  status.add_string(4, reason);
  status.add_message(5, details);
  status.add_int32(6, code);
  return text;
}

}  // namespace detent::testing
