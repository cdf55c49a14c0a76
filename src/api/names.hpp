#pragma once

namespace tessera {

/// What errors call files that are given as bytes.
inline constexpr const char* key_name = "key";
inline constexpr const char* proof_name = "proof";
inline constexpr const char* renewal_name = "renewal";

}  // namespace tessera
