#pragma once

#include <functional>

#include "cli/verify_judge.hpp"
#include "cli/verify_request.hpp"

namespace tessera::cli {

/// Reads the key. Throws InputError if it is unusable or not the expected one.
Judge open_key(const Conversation& options);

/// The parts of a conversation, up to the first that is not accepted; show() is given each. Throws InputError if there
/// is another number of expected prompts than of parts.
ExitCode judge_conversation(const Judge& judge, const std::vector<ProofSource>& parts,
                            const std::vector<std::string>& expect_prompt,
                            const std::function<void(std::size_t, const Judgement&)>& show);

}  // namespace tessera::cli
