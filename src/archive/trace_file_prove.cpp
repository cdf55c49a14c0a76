#include <algorithm>
#include "archive/trace_file.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t max_tokens = max_positions;  // a power of two

/// Shape and ownership of a tensor as the file has them.
struct Layout {
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint32_t> log_chunks;
  std::uint8_t presence = 0;
  std::uint64_t ownership = 0;
  std::vector<std::uint64_t> chunks;
  Extents values;

  template <class T>
  static Layout of(const ChunkedTensor<T>& tensor) {
    Layout layout;
    for (const Dimension& dimension : tensor.shape().dimensions()) {
      layout.lengths.push_back(dimension.length);
      layout.log_chunks.push_back(dimension.log_chunk);
    }
    layout.presence = static_cast<std::uint8_t>(tensor.shape().presence());
    layout.ownership = tensor.ownership().dimension;  // what of it: chunks
    layout.chunks.assign(tensor.held().begin(), tensor.held().end());
    layout.values = {tensor.held().size(), tensor.held().empty() ? 0 : tensor.shape().chunk_size()};
    return layout;
  }
};

template <class T>
void write_tensor(WriteFile& file, const std::string& name, const ChunkedTensor<T>& tensor) {
  const std::string group = "tensors/" + name + "/";
  const Layout layout = Layout::of(tensor);
  file.write(group + "lengths", layout.lengths);
  file.write(group + "log_chunks", layout.log_chunks);
  file.write_scalar(group + "presence", layout.presence);
  file.write_scalar(group + "ownership", layout.ownership);
  file.write(group + "chunks", layout.chunks);
  file.write(group + "values", std::span<const T>(tensor.values()), layout.values);
}

/// The values of a tensor, which says what the file must have: element type, shape, ownership, chunks.
template <class T>
void read_tensor(const ReadFile& file, const std::string& name, ChunkedTensor<T>& tensor) {
  const std::string group = "tensors/" + name + "/";
  const Layout layout = Layout::of(tensor);
  const auto require = [&]<class N>(const char* field, const std::vector<N>& expected) {
    if (file.read<N>(group + field, {expected.size()}) != expected) {
      file.fail(group + field, "those of this job and rank", "others");
    }
  };
  require("lengths", layout.lengths);
  require("log_chunks", layout.log_chunks);
  require("chunks", layout.chunks);
  if (file.read_scalar<std::uint8_t>(group + "presence") != layout.presence ||
      file.read_scalar<std::uint64_t>(group + "ownership") != layout.ownership) {
    file.fail(group + "presence, ownership", "those of this job", "others");
  }
  file.read_into(group + "values", layout.values, std::span<T>(tensor.values()));
}

std::string exceptions_group(const std::string& name) { return "exceptions/" + name + "/"; }

void write_exceptions(WriteFile& file, const std::string& name, const std::vector<Exception>& list) {
  std::vector<std::uint64_t> places;
  std::vector<std::int64_t> excess;
  for (const Exception& entry : list) {
    places.push_back(entry.place);
    excess.push_back(entry.excess);
  }
  file.write(exceptions_group(name) + "places", places);
  file.write(exceptions_group(name) + "excess", excess);
}

std::vector<Exception> read_exceptions(const ReadFile& file, const ClampedTensor& tensor, std::size_t limit) {
  const std::string places_field = exceptions_group(tensor.name) + "places";
  const std::vector<std::uint64_t> places = file.read_list<std::uint64_t>(places_field, limit);
  const std::vector<std::int64_t> excess =
      file.read<std::int64_t>(exceptions_group(tensor.name) + "excess", {places.size()});
  std::vector<Exception> list;
  for (std::size_t i = 0; i < places.size(); ++i) {
    list.push_back({places[i], excess[i]});
    if (const char* const fault = fault_of(tensor, list.back())) {
      file.fail(places_field, "places of " + tensor.name, fault);
    }
    if (i > 0 && places[i] <= places[i - 1]) {
      file.fail(places_field, "ascending places", "others");
    }
  }
  return list;
}

}  // namespace

TraceHeader read_trace_header(const ReadFile& file) {
  TraceHeader header;
  std::ranges::copy(file.read<std::uint8_t>("model", {header.model.size()}), header.model.begin());
  header.rank = file.read_scalar<std::uint32_t>("rank");
  header.ranks = file.read_scalar<std::uint32_t>("ranks");
  header.prompt_length = file.read_scalar<std::uint64_t>("prompt_length");
  header.generated = file.read_scalar<std::uint64_t>("generated");
  header.past = file.read_scalar<std::uint64_t>("past");
  std::ranges::copy(file.read<std::uint8_t>("state", {header.state.size()}), header.state.begin());
  header.last_token = file.read_scalar<std::uint32_t>("last_token");
  header.tokens = file.read_list<std::uint32_t>("tokens", max_tokens);
  if (header.rank >= header.ranks || header.ranks > (1U << 30)) {
    file.fail("rank", "below ranks = " + std::to_string(header.ranks), std::to_string(header.rank));
  }
  if (header.prompt_length > header.tokens.size() ||
      header.generated > header.tokens.size() + 1 - header.prompt_length) {
    file.fail("prompt_length, generated", "a sum of at most " + std::to_string(header.tokens.size() + 1), "more");
  }
  return header;
}

Digest save_trace(const std::filesystem::path& path, const Digest& model, const Communicator& comm, const Plan& plan,
                  const Trace& trace, const std::optional<ConversationState>& start) {
  WriteFile file(path, trace_format);
  file.write("model", std::span<const std::uint8_t>(model), {model.size()});
  file.write_scalar("rank", static_cast<std::uint32_t>(comm.rank()));
  file.write_scalar("ranks", static_cast<std::uint32_t>(comm.size()));
  file.write_scalar<std::uint64_t>("prompt_length", trace.prompt_length);
  file.write_scalar<std::uint64_t>("generated", trace.generated);
  const Digest state = start ? start->root : Digest{};
  file.write_scalar<std::uint64_t>("past", plan.past);
  file.write("state", std::span<const std::uint8_t>(state), {state.size()});
  file.write_scalar("last_token", trace.last_token);
  file.write("tokens", trace.tokens);
  for (std::size_t list = 0; list < plan.clamped.size(); ++list) {
    write_exceptions(file, plan.clamped[list].name, trace.exceptions[list]);
  }
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    std::visit([&](const auto& tensor) { write_tensor(file, plan.recorded[i].name, tensor); }, trace.tensors[i]);
  }
  return file.commit();
}

Trace load_trace(const std::filesystem::path& path, const Digest& model, const Communicator& comm, const Plan& plan,
                 std::span<const std::uint32_t> prompt, std::size_t n_vocab,
                 const std::optional<ConversationState>& start) {
  const ReadFile file(path, trace_format);
  const TraceHeader header = read_trace_header(file);
  const auto require = [&file](bool same, const char* field) {
    if (!same) {
      file.fail(field, "that of this job", "another job's");
    }
  };
  require(header.model == model, "model");
  require(
      header.rank == static_cast<std::uint32_t>(comm.rank()) && header.ranks == static_cast<std::uint32_t>(comm.size()),
      "rank, ranks");
  require(header.prompt_length == plan.prompt_length && header.generated == plan.generated, "prompt_length, generated");
  require(header.past == plan.past && header.state == (start ? start->root : Digest{}), "past, state");
  require(header.tokens.size() == plan.rows, "tokens");
  require(header.last_token < n_vocab, "last_token");
  for (std::size_t i = 0; i < header.tokens.size(); ++i) {
    const bool given = i < prompt.size();
    const bool chosen = !given && i < plan.tokens;
    require(chosen ? header.tokens[i] < n_vocab : header.tokens[i] == (given ? prompt[i] : plan.filler), "tokens");
  }
  Trace trace(plan, comm.rank(), comm.size());
  trace.tokens = header.tokens;
  trace.last_token = header.last_token;
  for (std::size_t list = 0; list < plan.clamped.size(); ++list) {
    trace.exceptions[list] = read_exceptions(file, plan.clamped[list], plan.exception_limit);
  }
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    std::visit([&](auto& tensor) { read_tensor(file, plan.recorded[i].name, tensor); }, trace.tensors[i]);
  }
  return trace;
}

}  // namespace tessera
