#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

/// A file that may hold a proof, or what cannot be one.
struct ProofFile {
  std::string path;
  std::string name;     // below the directory that was named, or the file's own
  std::string problem;  // empty: none known yet
};

/// What the arguments name: files as they are, and of a directory every *.h5 in it and in the directories below, sorted
/// by name; links to directories are not followed there. A directory that cannot be read or has no such file is a
/// problem with a place of its own. A file that is named again is left out.
std::vector<ProofFile> find_proof_files(const std::vector<std::string>& arguments);

}  // namespace tessera::cli
