#include <algorithm>
#include <tessera/archive/trace_file.hpp>
#include <tessera/protocol/limits.hpp>

namespace tessera {
namespace {

constexpr std::size_t max_dimensions = 8;
constexpr std::size_t max_chunks = std::size_t{1} << 24;
constexpr std::uint64_t max_tokens = max_positions;

std::uint64_t to_file(const Ownership& ownership) { return static_cast<std::uint64_t>(ownership.dimension); }

/// The shape that the file declares; bounded before Shape enumerates its chunks.
Shape read_shape(const ReadFile& file, const std::string& group) {
  const auto lengths = file.read_list<std::uint64_t>(group + "lengths", max_dimensions);
  const auto log_chunks = file.read<std::uint32_t>(group + "log_chunks", {lengths.size()});
  const auto presence = file.read_scalar<std::uint8_t>(group + "presence");
  const bool causal = presence == static_cast<std::uint8_t>(Presence::causal);
  std::vector<Dimension> dimensions;
  std::size_t cube = 1;
  bool bounded = presence <= 1 && (!causal || lengths.size() >= 2);
  for (std::size_t i = 0; i < lengths.size() && bounded; ++i) {
    bounded = lengths[i] >= 1 && lengths[i] <= max_chunks && log_chunks[i] <= 24;
    if (bounded) {
      dimensions.push_back({lengths[i], log_chunks[i]});
      cube *= dimensions.back().chunk_count();
      bounded = cube <= max_chunks;
    }
  }
  if (!bounded) {
    file.fail(group, "a shape of at most " + std::to_string(max_chunks) + " chunks", "another one");
  }
  return Shape(std::move(dimensions), causal ? Presence::causal : Presence::all);
}

/// Calls visit(name, tensor) for all tensors of a trace.
template <class AnyTrace, class Visitor>
void for_each_tensor(AnyTrace& trace, Visitor&& visit) {
  const auto layer_norm = [&](const std::string& name, auto& norm) {
    visit(name + "/mu", norm.mu);
    visit(name + "/sigma", norm.sigma);
    visit(name + "/inverse", norm.inverse);
    visit(name + "/u", norm.u);
    visit(name + "/u_remainder", norm.u_remainder);
  };
  visit("x_in", trace.x_in);
  visit("x_mid", trace.x_mid);
  visit("x_end", trace.x_end);
  layer_norm("ln1", trace.ln1);
  layer_norm("ln2", trace.ln2);
  layer_norm("lnf", trace.lnf);
  visit("q", trace.q);
  visit("k", trace.k);
  visit("v", trace.v);
  visit("q_remainder", trace.q_remainder);
  visit("k_remainder", trace.k_remainder);
  visit("v_remainder", trace.v_remainder);
  visit("score", trace.score);
  visit("score_remainder", trace.score_remainder);
  visit("row_max", trace.row_max);
  visit("exponential", trace.exponential);
  visit("row_sum", trace.row_sum);
  visit("row_inverse", trace.row_inverse);
  visit("value_sum", trace.value_sum);
  visit("y", trace.y);
  visit("y_remainder", trace.y_remainder);
  visit("o_remainder", trace.o_remainder);
  visit("mlp", trace.mlp);
  visit("mlp_remainder", trace.mlp_remainder);
  visit("gelu", trace.gelu);
  visit("mlp_out_remainder", trace.mlp_out_remainder);
  visit("logits", trace.logits);
}

TraceHeader read_header(const ReadFile& file) {
  TraceHeader header;
  std::ranges::copy(file.read<std::uint8_t>("model", {header.model.size()}), header.model.begin());
  header.rank = file.read_scalar<std::uint32_t>("rank");
  header.ranks = file.read_scalar<std::uint32_t>("ranks");
  header.prompt_length = file.read_scalar<std::uint64_t>("prompt_length");
  header.generated = file.read_scalar<std::uint64_t>("generated");
  header.tokens = file.read_list<std::uint32_t>("tokens", max_tokens);
  if (header.rank >= header.ranks || header.ranks > (1U << 30)) {
    file.fail("rank", "below ranks = " + std::to_string(header.ranks), std::to_string(header.rank));
  }
  if (header.prompt_length > header.tokens.size() || header.generated > header.tokens.size() - header.prompt_length) {
    file.fail("prompt_length, generated", "a sum of at most " + std::to_string(header.tokens.size()), "more");
  }
  return header;
}

}  // namespace

Digest save_tensors(const std::filesystem::path& path, const TraceHeader& header,
                    const std::map<std::string, IntegerTensor>& tensors) {
  WriteFile file(path, trace_format);
  file.write("model", std::span<const std::uint8_t>(header.model), {header.model.size()});
  file.write_scalar("rank", header.rank);
  file.write_scalar("ranks", header.ranks);
  file.write_scalar("prompt_length", header.prompt_length);
  file.write_scalar("generated", header.generated);
  file.write("tokens", header.tokens);
  for (const auto& [name, any] : tensors) {
    const std::string group = "tensors/" + name + "/";
    std::visit(
        [&]<class T>(const ChunkedTensor<T>* tensor) {
          std::vector<std::uint64_t> lengths;
          std::vector<std::uint32_t> log_chunks;
          for (const Dimension& dimension : tensor->shape().dimensions()) {
            lengths.push_back(dimension.length);
            log_chunks.push_back(dimension.log_chunk);
          }
          file.write(group + "lengths", lengths);
          file.write(group + "log_chunks", log_chunks);
          file.write_scalar(group + "presence", static_cast<std::uint8_t>(tensor->shape().presence()));
          file.write_scalar(group + "ownership", to_file(tensor->ownership()));
          file.write(group + "chunks", std::vector<std::uint64_t>(tensor->held().begin(), tensor->held().end()));
          file.write(group + "values", std::span<const T>(tensor->values()),
                     {tensor->held().size(), tensor->held().empty() ? 0 : tensor->shape().chunk_size()});
        },
        any);
  }
  return file.commit();
}

TraceFile::TraceFile(const std::filesystem::path& path) : file_(path, trace_format), header_(read_header(file_)) {}

template <class T>
ChunkedTensor<T> TraceFile::read(const std::string& name) const {
  const std::string group = "tensors/" + name + "/";
  Shape shape = read_shape(file_, group);
  if (shape.dimensions().empty()) {
    return {};
  }
  const auto dimension = static_cast<std::size_t>(file_.read_scalar<std::uint64_t>(group + "ownership"));
  if (dimension != Ownership::replicated && dimension >= shape.dimensions().size()) {
    file_.fail(group + "ownership", "a dimension of the tensor", std::to_string(dimension));
  }
  const auto held = file_.read_list<std::uint64_t>(group + "chunks", shape.chunk_count());
  const Extents extents{held.size(), held.empty() ? 0 : shape.chunk_size()};
  std::vector<T> values = file_.read<T>(group + "values", extents);
  const auto rank = static_cast<int>(header_.rank);
  const auto ranks = static_cast<int>(header_.ranks);
  const Ownership ownership{dimension};
  std::vector<std::uint64_t> owned;
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (dimension == Ownership::replicated || ownership.owner(shape, chunk, ranks) == rank) {
      owned.push_back(chunk);
    }
  }
  if (owned != held) {  // compared first: the tensor allocates what it owns
    file_.fail(group + "chunks", "the chunks of rank " + std::to_string(rank), "others");
  }
  ChunkedTensor<T> tensor(std::move(shape), ownership, rank, ranks);
  tensor.values() = std::move(values);
  return tensor;
}

template ChunkedTensor<std::int16_t> TraceFile::read(const std::string&) const;
template ChunkedTensor<std::uint16_t> TraceFile::read(const std::string&) const;
template ChunkedTensor<std::int32_t> TraceFile::read(const std::string&) const;
template ChunkedTensor<std::int64_t> TraceFile::read(const std::string&) const;

Digest save_trace(const std::filesystem::path& path, const Digest& model, int rank, int ranks, const Trace& trace) {
  const TraceHeader header{model,
                           static_cast<std::uint32_t>(rank),
                           static_cast<std::uint32_t>(ranks),
                           trace.prompt_length,
                           trace.generated,
                           trace.tokens};
  std::map<std::string, IntegerTensor> tensors;
  for_each_tensor(trace, [&](const std::string& name, const auto& tensor) { tensors[name] = &tensor; });
  return save_tensors(path, header, tensors);
}

Trace load_trace(const std::filesystem::path& path, const Digest& model, int rank, int ranks) {
  const TraceFile file(path);
  const TraceHeader& header = file.header();
  const TraceHeader wanted{model,
                           static_cast<std::uint32_t>(rank),
                           static_cast<std::uint32_t>(ranks),
                           header.prompt_length,
                           header.generated,
                           header.tokens};
  if (header != wanted) {
    throw InputError(path.string() + ": model, rank, ranks: expected those of this run, found another run's trace");
  }
  Trace trace;
  trace.tokens = header.tokens;
  trace.prompt_length = header.prompt_length;
  trace.generated = header.generated;
  for_each_tensor(trace,
                  [&]<class T>(const std::string& name, ChunkedTensor<T>& tensor) { tensor = file.read<T>(name); });
  return trace;
}

}  // namespace tessera
