#pragma once

#include <map>
#include <string>

#include "plan/key.hpp"
#include "plan/parameters.hpp"

namespace tessera::test {

/// Values by the names of what inference records: row-major over all indices, every token's, of filler too, and every
/// query's with every key. `excess of` a list's name: what is beyond the limits, 0 elsewhere.
using NaiveValues = std::map<std::string, std::vector<std::int64_t>>;

/// The integers of a model with rotary positions straight from the formulas of src/spec/transformer.md, sections 1 to
/// 3, one value at a time. Shares no code with the library but the key's tables and where parameters lie. `logits`: of
/// the rows from `first_chosen` on, that choose a token, `generated` of them.
NaiveValues naive_family(const VerifyingKey& key, const Parameters& parameters,
                         const std::vector<std::uint32_t>& tokens, std::size_t first_chosen, std::size_t generated);

}  // namespace tessera::test
