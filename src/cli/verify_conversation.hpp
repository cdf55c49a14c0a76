#pragma once

#include <functional>

#include "cli/verify_judge.hpp"
#include "cli/verify_request.hpp"

namespace tessera::cli {

/// Reads the key and goes on by its renewals. Throws InputError if a file is unusable or the key not the expected one,
/// Rejected if a renewal is false.
Judge open_key(const Conversation& options);

/// The parts of a conversation, up to the first that is not accepted; show() is given each. Throws InputError if there
/// is another number of expected prompts than of parts.
ExitCode judge_conversation(const Judge& judge, const std::vector<ProofSource>& parts,
                            const std::vector<std::string>& expect_prompt,
                            const std::function<void(std::size_t, const Judgement&)>& show);

}  // namespace tessera::cli
