#include "cli/generate_requests.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "archive/hdf5.hpp"
#include "arithmetic/range_guard.hpp"
#include "cli/attempt.hpp"
#include "cli/growing_text.hpp"
#include "cli/json_output.hpp"
#include "cli/sampling_options.hpp"
#include "cli/verify_chat.hpp"
#include "cluster/serialization.hpp"
#include "datasets/dataset_file.hpp"
#include "integer_model/integer_model.hpp"
#include "plan/ends.hpp"

namespace tessera::cli {
namespace {

constexpr const char* hex_digits = "0123456789abcdefABCDEF";
constexpr std::size_t most_line = std::size_t{16} << 20U;  // bytes

void write_line(const Json& line) {
  // bytes that belong to no character become U+FFFD
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

struct Request {
  bool last = false;  // there is none any more
  std::vector<std::uint32_t> prompt;
  std::uint32_t generate = 0;
  bool until_end = true;
  double temperature = 0;
  SamplingOptions sampling = {};  // but for the temperature

  template <class Archive>
  void serialize(Archive& archive, unsigned /*version*/) {
    archive& last& prompt& generate& until_end& temperature& sampling.top_k& sampling.top_p& sampling.min_p& sampling
        .seed;
  }
  /// How its tokens are drawn; throws InputError.
  [[nodiscard]] std::optional<Sampling> drawn() const {
    SamplingOptions options = sampling;
    options.temperature = temperature;
    if (options.samples() && (options.seed.size() != 2 * sizeof(Digest) ||
                              options.seed.find_first_not_of(hex_digits) != std::string::npos)) {
      throw InputError("seed: expected 64 hexadecimal digits, found " + std::to_string(options.seed.size()) +
                       " characters");
    }
    return sampling_of(options);
  }
};

/// Throws InputError for a name that is none of the options of sampling, an error of the JSON library for a value of
/// another type.
void read_sampling(const Json& section, Request& request) {
  for (const auto& [name, value] : section.items()) {
    if (name == "temperature") {
      request.temperature = value.get<double>();
    } else if (name == "top_k") {
      request.sampling.top_k = value.get<std::uint32_t>();
    } else if (name == "top_p") {
      request.sampling.top_p = value.get<double>();
    } else if (name == "min_p") {
      request.sampling.min_p = value.get<double>();
    } else if (name == "seed") {
      request.sampling.seed = value.get<std::string>();
    } else {
      throw InputError("sampling: expected temperature, top_k, top_p, min_p and seed, found " + name);
    }
  }
}

Json model_line(const Model& model, const std::string& file) {
  const TokenizerData& tokenizer = model.tokenizer;
  const bool chats = !tokenizer.chat.text.empty();
  return {{"ready", true},
          {"model", to_hex(ReadFile(file).digest())},
          {"positions", model.shape.n_positions},
          {"most", max_generated},
          {"sampling", true},
          {"chat", chats ? Json::parse(chat_request(tokenizer)) : Json()}};
}

/// Throws InputError or an error of the JSON library for what is no good request.
Request parsed_request(const Json& line, const Tokenizer& tokenizer, const ModelShape& shape) {
  Request request;
  for (const auto& [name, value] : line.items()) {
    if (name == "text") {
      const auto marks = line.value("marks", std::vector<std::size_t>());
      const auto& text = value.get_ref<const std::string&>();
      request.prompt =
          line.value("begins", false) ? tokenizer.encode_prompt(text) : tokenizer.encode_marked(text, marks);
    } else if (name == "tokens") {
      request.prompt = value.get<std::vector<std::uint32_t>>();
    } else if (name == "generate") {
      request.generate = value.get<std::uint32_t>();
    } else if (name == "until_end") {
      request.until_end = value.get<bool>();
    } else if (name == "sampling") {
      read_sampling(value, request);
    } else if (name != "id" && name != "marks" && name != "begins" && name != "fits") {
      throw InputError(
          "request: expected id, text, marks, begins, tokens, generate, fits, sampling and until_end, found " + name);
    }
  }
  if (line.value("fits", false) && request.prompt.size() < shape.n_positions) {
    const std::size_t left = shape.n_positions - request.prompt.size();
    request.generate = static_cast<std::uint32_t>(std::min<std::size_t>(request.generate, left));
  }
  if (request.generate == 0 || request.generate > max_generated) {
    throw InputError("generate: expected 1 to " + std::to_string(max_generated) + ", found " +
                     std::to_string(request.generate));
  }
  check_prompt(request.prompt, 0, request.generate, shape);
  (void)request.drawn();
  return request;
}

/// The next good request; others are answered by what is wrong with them. `id` becomes its name.
Request next_request(const Tokenizer& tokenizer, const ModelShape& shape, Json& id) {
  std::string text;
  while (std::getline(std::cin, text)) {
    id = nullptr;
    try {
      if (text.size() > most_line) {
        throw InputError("expected a line of at most " + std::to_string(most_line) + " bytes, found a longer one");
      }
      const Json line = Json::parse(text);
      if (!line.is_object()) {
        throw InputError("expected an object, found " + std::string(line.type_name()));
      }
      id = line.value("id", Json());
      return parsed_request(line, tokenizer, shape);
    } catch (const InputError& error) {
      write_line({{"id", id}, {"error", error.what()}});
    } catch (const Json::exception& error) {
      write_line({{"id", id}, {"error", error.what()}});
    }
  }
  Request last;
  last.last = true;
  return last;
}

/// The answer is on every rank.
void answer(const Request& request, const Json& id, ProverModel& loaded, Communicator& comm) {
  const bool writes = comm.rank() == 0;
  const PassShape pass{.prompt = request.prompt.size(), .generated = request.generate, .sampling = request.drawn()};
  loaded.divide(pass.division(comm.size()));
  const TokenizerData& tokenizer = loaded.model().tokenizer;
  const IntegerModel integers = integer_model(loaded.model());
  const ModelPlan plan = ModelPlan::of(integers.key, pass, pass.division(comm.size()));
  GrowingText text(tokenizer);
  const auto ends = [&](std::uint32_t token) { return request.until_end && is_end(tokenizer, token); };
  // an end token is the answer's end, not its text
  const auto spoken = [&](std::span<const std::uint32_t> ids) {
    return !ids.empty() && ends(ids.back()) ? ids.first(ids.size() - 1) : ids;
  };
  Generation generation;
  if (writes) {
    generation.chosen = [&](std::span<const std::uint32_t> ids) {
      write_line({{"id", id}, {"token", ids.back()}, {"text", text.more(spoken(ids), false)}});
    };
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    const std::vector<std::uint32_t> ids =
        generate(integers, plan, request.prompt, comm, {}, generation,
                 request.until_end ? std::function<bool(std::uint32_t)>(ends) : nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (writes) {
      write_line({{"id", id},
                  {"prompt", request.prompt},
                  {"generated", ids},
                  {"rest", text.more(spoken(ids), true)},
                  {"complete", is_end(tokenizer, ids.back())},
                  {"seconds", seconds}});
    }
  } catch (const RangeError& error) {  // on all ranks
    if (writes) {
      write_line({{"id", id}, {"error", error.what()}});
    }
  }
}

}  // namespace

void answer_requests(ProverModel& loaded, const std::string& file, Communicator& comm) {
  std::optional<Tokenizer> tokenizer;
  if (comm.rank() == 0) {
    tokenizer.emplace(loaded.model().tokenizer);
    write_line(model_line(loaded.model(), file));
  }
  while (true) {
    Json id;
    Request request;
    if (comm.rank() == 0) {
      request = next_request(*tokenizer, loaded.model().shape, id);
    }
    broadcast_object(comm, request);
    if (request.last) {
      return;
    }
    answer(request, id, loaded, comm);
  }
}

}  // namespace tessera::cli
