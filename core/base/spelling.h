// "Did you mean ...?": the nearest known word to a mistyped one. Pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace detent {

// The candidate with the least Levenshtein distance to `word`, case ignored, if it is near enough
// to be meant (at most a third of the word's length, at least 1); otherwise empty.
std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates);

// " (did you mean 'x'?)", or empty.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace detent
