#pragma once

#include <functional>

#include "cli/verify_judge.hpp"
#include "cli/verify_request.hpp"

namespace tessera::cli {

/// Reads the key and goes on by its renewals. Throws InputError if a file is unusable or the key not the expected one,
/// Rejected if a renewal is false.
Judge open_key(const Conversation& options);

/// What is expected of each part. Throws InputError if there is another number of expected prompts than of parts, or
/// both texts and ids.
std::vector<std::optional<ExpectedPrompt>> each_of(const ExpectedPrompts& expect, std::size_t parts);

/// The parts of a conversation, up to the first that is not accepted; show() is given each. Throws InputError as
/// each_of() does.
ExitCode judge_conversation(const Judge& judge, const std::vector<ProofSource>& parts, const ExpectedPrompts& expect,
                            const std::function<void(std::size_t, const Judgement&)>& show);

}  // namespace tessera::cli
