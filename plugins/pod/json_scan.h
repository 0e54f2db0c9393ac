// JsonScan: reads JSON text once, from front to back, and builds nothing. A Pod is some kilobytes
// of which a task's status needs a few hundred bytes, at each of its changes; a tree of all of it
// costs several times as much (detent.json/1 is for documents that are looked at more than once).
//
//   JsonScan scan(text);
//   if (scan.BeginObject()) {
//     for (std::string_view key; scan.NextKey(key);) {
//       if (key == "phase") phase = scan.Text(); else scan.Skip();
//     }
//   }
//   if (!scan.Finish()) ...                               // it was no JSON
//
// Each value is taken by exactly one call: Begin..., Text, Int, Bool, Raw or Skip. A value of
// another kind than the call's is skipped, and the call gives its "nothing". After a mistake in the
// text every call gives nothing, so that loops end. Any bytes at all may be read. One thread;
// borrows.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace detent::pod {

class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // True: the value is an object, and NextKey gives its members until it gives false.
  bool BeginObject() { return Begin('{'); }
  // The key's text as it stands; a key with an escape in it is given with its backslashes.
  bool NextKey(std::string_view& key);

  // True: the value is an array, and NextItem announces its elements until it gives false.
  bool BeginArray() { return Begin('['); }
  bool NextItem();

  std::string Text();  // "": it is no text, or empty
  std::optional<int64_t> Int();
  bool Bool();  // false: it is not `true`
  void Skip();
  std::string_view Raw();  // the value as it stands

  // Whether all of the text was one JSON value, as far as it was looked at. What was skipped is
  // checked for its brackets and quotes only: its writer was a JSON writer.
  bool Finish();

 private:
  bool Begin(char bracket);
  bool Next(char closing);
  void Space();
  char Peek();  // the next byte that is no space; 0 at the end or after a mistake
  bool RawText(std::string_view& raw, bool& escaped);
  void SkipNested();
  void SkipWord();
  bool Fail();

  const char* at_;
  const char* end_;
  bool first_ = false;  // right behind an opening bracket
  bool failed_ = false;
};

// `raw` without its escapes; what is no valid escape becomes U+FFFD.
std::string Unescaped(std::string_view raw);

}  // namespace detent::pod
