#pragma once

#include "checkpoints/gguf/file.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// The tokenizer in a GGUF file's metadata: byte-level BPE (tokenizer.ggml.model gpt2) with the split that
/// tokenizer.ggml.pre names, gpt-2, llama-bpe, qwen2 or smollm; or SentencePiece's BPE with byte fallback (llama),
/// whose merges follow from the scores as the tokenizers library derives them, with a space before each text. The same
/// as of the tokenizer.json that it was made from. Control and user-defined tokens are cut out of a text first; ids of
/// unused ones get an empty entry. The token of bos_token_id stands in front of a prompt if add_bos_token says so (if
/// it is absent: with llama and llama-bpe). Throws InputError naming file, key, expected and found for anything else.
TokenizerData read_gguf_tokenizer(const GgufFile& file);

/// The end of text: tokenizer.ggml.eos_token_id, below `vocabulary`.
std::uint32_t gguf_end_of_text(const GgufFile& file, std::size_t vocabulary);
/// Tokens after which the model says no more: tokenizer.ggml.eos_token_id and eot_token_id, those that there are.
std::vector<std::uint32_t> gguf_ends(const GgufFile& file, std::size_t vocabulary);

}  // namespace tessera
