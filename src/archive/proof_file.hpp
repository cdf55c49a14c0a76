#pragma once

#include <filesystem>
#include "datasets/proof_archive.hpp"

namespace tessera {

/// Writes a proof file: payload (uint8), statement/{prompt,generated} (uint32), of a continuation
/// statement/start/{root,length,last_token}, where a state is kept statement/keeps, where passes have
/// a length statement/pass_length, where tokens are sampled
/// statement/sampling/{seed,inverse_temperature,top_k,top_p,cutoff}, key_digest (32 uint8) and, under
/// information/, text (uint8), configuration (string), soundness/{scope,reason,bits},
/// timings/{scope,seconds,peak_memory,memory_measure}, machine/{ranks,threads,peak_memory,host},
/// communication/{scope,calls,sent,received}, ownership/{name,tensors,length,chunk,first},
/// ranks/{processor,seconds,peak_memory}, which are left out if they take more than load_proof() would read.
Digest save_proof(const std::filesystem::path& path, const ProofArchive& proof);

/// Reads a proof file that may come from anyone, as read_proof() does.
ProofArchive load_proof(const std::filesystem::path& path);

}  // namespace tessera
