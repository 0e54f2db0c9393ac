// Picks some parts out of a JSON text and steps over the rest, without building values: for texts
// that come by the thousand in a second and are kept as the texts that they are.
//
// The caller's function sees each member in the order of the text; what it does not look into costs
// next to nothing. Of the text as a whole a scan checks that it is UTF-8 and that its strings end;
// of what it steps over it checks nothing else but that brackets close. One thread; memory is kept
// for the next text.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/base/result.h"

namespace detent {

class JsonScan {
 public:
  // A value at which the scan stands, valid during the call that it is given to. It is read by one
  // of Text, Int, IsTrue, Members and Items, once; or by none. Views are valid until the next Read.
  // Where the text turns out to be malformed, all of them answer "nothing" from there on.
  class Value {
   public:
    bool IsObject() const;
    bool IsArray() const;
    bool IsNull() const;

    // The value as it is written in the text that is read. Before anything else of this value.
    std::string_view Raw();
    // The same with its name in front: "name": value. Empty for what is no member.
    std::string_view RawMember();

    std::optional<std::string_view> Text();  // Unescaped; nullopt: no string.
    std::optional<int64_t> Int();            // nullopt: no integer of 64 bits.
    bool IsTrue();

    // Calls visit(std::string_view name, Value& member) for each member, visit(Value& item) for
    // each item, until it answers false. Nothing of what is no object, no array.
    template <typename Visit>
    void Members(Visit&& visit) {
      EachMember(&CallMember<std::remove_reference_t<Visit>>, Address(visit));
    }
    template <typename Visit>
    void Items(Visit&& visit) {
      EachItem(&CallItem<std::remove_reference_t<Visit>>, Address(visit));
    }

    struct State;
    explicit Value(State& state) : state_(state) {}
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;

   private:
    friend class JsonScan;
    using MemberCall = bool (*)(void* visit, std::string_view name, Value& value);
    using ItemCall = bool (*)(void* visit, Value& value);
    template <typename Visit>
    static void* Address(Visit& visit) {
      return const_cast<void*>(static_cast<const void*>(&visit));  // Const functions are cast back.
    }
    template <typename Visit>
    static bool CallMember(void* visit, std::string_view name, Value& value) {
      return (*static_cast<Visit*>(visit))(name, value);
    }
    template <typename Visit>
    static bool CallItem(void* visit, Value& value) {
      return (*static_cast<Visit*>(visit))(value);
    }
    bool EachMember(MemberCall call, void* visit);  // True: it came to the end.
    void EachItem(ItemCall call, void* visit);

    State& state_;
  };

  JsonScan();
  ~JsonScan();
  JsonScan(const JsonScan&) = delete;
  JsonScan& operator=(const JsonScan&) = delete;

  // Scans one JSON object, which is all of the text; `visit` as in Members. kInvalid: no object, or
  // malformed where it was looked at (the message says where). What was visited before that, was
  // visited.
  template <typename Visit>
  Result<void> Read(std::string_view text, Visit&& visit) {
    return Run(text, &Value::CallMember<std::remove_reference_t<Visit>>, Value::Address(visit));
  }

 private:
  struct Core;
  Result<void> Run(std::string_view text, Value::MemberCall call, void* visit);

  std::unique_ptr<Core> core_;
};

}  // namespace detent
