// Cuts what the stream of a watch brings into its events: lines of JSON, or protobuf with the
// length of each event in front. Which of them it is, the first byte tells: JSON begins with a
// bracket or a blank, and an event whose length begins with one would have over 150 MiB.
//
// One thread. Source: Kubernetes API concepts, "Kubernetes Protobuf encoding" (watches are
// length-delimited, with four bytes of length, the highest first).

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace detent {

class WatchPieces {
 public:
  // An event that goes on for longer is none: the largest object that etcd takes is 1.5 MiB.
  static constexpr size_t kEventBytes = 32u << 20;

  enum class Fed : uint8_t { kAll, kGivenUp, kTooLong };

  // For a new stream: what came of an event of the last one is dropped.
  void Begin();

  // Calls take(std::string_view event, bool is_proto) for each event that is whole with this piece,
  // until it answers false (kGivenUp). Of kTooLong and kGivenUp nothing may follow but Begin.
  template <typename Take>
  Fed Feed(std::string_view piece, Take&& take) {
    while (!piece.empty()) {
      std::string_view event;
      const Cut cut = Next(piece, event);
      if (cut == Cut::kTooLong) return Fed::kTooLong;
      if (cut == Cut::kNotYet) break;
      const bool goes_on = take(event, form_ == Form::kProto);
      partial_.clear();
      if (!goes_on) return Fed::kGivenUp;
    }
    return Fed::kAll;
  }

 private:
  enum class Form : uint8_t { kUnknown, kJson, kProto };
  enum class Cut : uint8_t { kWhole, kNotYet, kTooLong };

  // Takes from the front of `piece` what belongs to the present event.
  Cut Next(std::string_view& piece, std::string_view& event);
  Cut NextLine(std::string_view& piece, std::string_view& event);
  Cut NextFrame(std::string_view& piece, std::string_view& event);

  Form form_ = Form::kUnknown;
  std::string partial_;  // The beginning of an event whose end has not come yet.
};

}  // namespace detent
