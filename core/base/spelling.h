// "Did you mean ...?": the nearest known word to a mistyped one. Pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace detent {

// The candidate that takes the fewest slips to become `word` (a letter too many, missing or wrong,
// or two neighbours swapped; case ignored), if it is near enough to be meant: at most a third of
// the word's length, at least 1. Otherwise empty.
std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates);

// " (did you mean 'x'?)", or empty.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace detent
