#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "archive/confinement.hpp"
#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/image_file.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"
#include "files/child.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

// what a child has sent, in the last byte
constexpr std::uint8_t is_content = 0;
constexpr std::uint8_t is_message = 1;  // of an InputError
constexpr std::uint8_t is_failure = 2;  // message of a JobError
constexpr std::ptrdiff_t max_message = 4096;
constexpr std::size_t max_content = std::size_t{1} << 28;

using Image = std::span<const std::uint8_t>;

/// In the child, which ends where it cannot send: the reader is gone, or a file in memory has become shorter meanwhile.
void send(int to, Image bytes, std::uint8_t kind) {
  if (!write_all(to, bytes) || !write_all(to, {&kind, 1})) {
    _exit(1);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
/// Bounds the address space; MPI and the like have some of it already.
void limit_memory(std::uint64_t bytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t total = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit memory{total, total};
  setrlimit(RLIMIT_AS, &memory);
}
#else
void limit_memory(std::uint64_t /*bytes*/) {}  // the sanitizer reserves terabytes
#endif

void send_error(int to, std::string_view text, std::uint8_t kind = is_message) {
  text = text.substr(0, max_message);
  send(to, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, kind);
}

/// What a child does: `open` before it is confined, `answer` after.
struct Task {
  std::function<Image()> open;
  std::function<void(Image, int to)> answer;
};

/// Sends what `read` makes of the image, or which part of it it returns.
template <class Read>
std::function<void(Image, int to)> sends(const Read& read) {
  return [&read](Image image, int to) { send(to, read(image), is_content); };
}

/// The child's whole life; its exit status.
int read_in_child(const std::filesystem::path& path, int to, const Task& task, const IsolationLimits& limits) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(limits.seconds);
  try {
    const Image image = task.open();
    limit_memory(limits.memory);
    try {
      confine(to);
    } catch (const JobError& error) {
      send_error(to, path.string() + ": " + error.what(), is_failure);
      return 0;
    }
    task.answer(image, to);
  } catch (const std::bad_alloc&) {
    send_error(to, path.string() + ": expected a file to read in " + std::to_string(limits.memory >> 20U) +
                       " MiB of memory, found one that needs more");
  } catch (const std::exception& error) {
    send_error(to, error.what());
  }
  return 0;
}

/// What the end of a child that did not answer says about the file.
std::string describe_end(const ProcessEnd& end, bool late, const IsolationLimits& limits) {
  const int signal = late ? SIGALRM : end.signal();
  return signal == SIGALRM  ? "one that takes longer than " + std::to_string(limits.seconds) + " s"
         : signal == SIGSYS ? "one with which the reader does more than read"
                            : "one that breaks the reader";
}

/// What the child said; its error, or its end, is thrown.
Bytes content_of(const std::filesystem::path& path, Answer& answer, const ProcessEnd& end,
                 const IsolationLimits& limits) {
  Bytes& bytes = answer.bytes;
  if (!answer.ended || !end.good() || bytes.empty() || bytes.size() > max_content) {
    throw InputError(path.string() + ": expected a readable file, found " + describe_end(end, answer.late, limits));
  }
  const std::uint8_t kind = bytes.back();
  bytes.pop_back();
  if (kind == is_content) {
    return std::move(bytes);
  }
  const std::string message(bytes.begin(), bytes.begin() + std::min(std::ssize(bytes), max_message));
  if (kind == is_failure) {
    throw JobError(message);
  }
  throw InputError(message);
}

/// Starts a child for a file.
Child start(const std::filesystem::path& path, const Task& task, const IsolationLimits& limits) {
  try {
    return Child([&](int to) { return read_in_child(path, to, task, limits); });
  } catch (const std::system_error& error) {
    throw JobError(path.string() + ": " + error.what());
  }
}

/// The content that a child sends.
Bytes finish(Child child, const std::filesystem::path& path, const IsolationLimits& limits) {
  // The child's own alarm() is the rule; one that a file has taken over can ignore that.
  constexpr std::chrono::seconds grace{1};
  Answer answer = child.listen(Child::Clock::now() + std::chrono::seconds(limits.seconds) + grace, max_content);
  if (!answer.ended) {
    child.kill();
  }
  const ProcessEnd end = child.wait();
  return content_of(path, answer, end, limits);
}

Bytes run_isolated(const std::filesystem::path& path, const Task& task, const IsolationLimits& limits) {
  return finish(start(path, task, limits), path, limits);
}

}  // namespace

IsolationLimits IsolationLimits::for_whole(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  IsolationLimits limits;
  if (!error) {
    limits.seconds += static_cast<unsigned>(std::min<std::uint64_t>(size >> 24U, 1U << 20U));  // 16 MiB/s: slow disks
    limits.memory += 3 * size;  // a dataset twice beside what was read before
  }
  return limits;
}

Bytes read_isolated(const std::filesystem::path& path, const ImageReader& read, const IsolationLimits& limits,
                    const std::function<void()>& prepare) {
  const auto open = [&] {
    if (prepare) {
      prepare();
    }
    return map_file(path);
  };
  return run_isolated(path, {open, sends(read)}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, Image image, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[image] { return image; }, sends(read)}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, const FilePart& part, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[&] { return map_part(part, name); }, sends(read)}, limits);
}

Bytes encode_proof(const StoredProof& proof) {
  Bytes bytes;
  append_list(bytes, proof.statement.prompt);
  append_list(bytes, proof.statement.generated);
  const std::array<std::uint8_t, 3> flags{proof.statement.start.has_value(), proof.statement.keeps,
                                          proof.statement.sampling.has_value()};
  append_bytes(bytes, flags.data(), flags.size());
  const ConversationState start = proof.statement.start.value_or(ConversationState{});
  append_bytes(bytes, start.root.data(), start.root.size());
  append_bytes(bytes, &start.length, sizeof start.length);
  append_bytes(bytes, &start.last_token, sizeof start.last_token);
  append_bytes(bytes, &proof.statement.pass_length, sizeof proof.statement.pass_length);
  const Sampling sampling = proof.statement.sampling.value_or(Sampling{});
  for (const std::uint32_t number : {sampling.inverse_temperature, sampling.top_k, sampling.top_p, sampling.cutoff}) {
    append_bytes(bytes, &number, sizeof number);
  }
  append_bytes(bytes, sampling.seed.data(), sampling.seed.size());
  append_list(bytes, proof.payload);
  append_bytes(bytes, proof.key_digest.data(), proof.key_digest.size());
  return bytes;
}

StoredProof decode_proof(std::span<const std::uint8_t> bytes) {
  Taker taker(bytes);
  StoredProof proof;
  proof.statement.prompt = taker.list<std::vector<std::uint32_t>>();
  proof.statement.generated = taker.list<std::vector<std::uint32_t>>();
  std::array<std::uint8_t, 3> flags{};
  ConversationState start;
  taker.take(flags.data(), flags.size());
  taker.take(start.root.data(), start.root.size());
  taker.take(&start.length, sizeof start.length);
  taker.take(&start.last_token, sizeof start.last_token);
  taker.take(&proof.statement.pass_length, sizeof proof.statement.pass_length);
  Sampling sampling;
  for (std::uint32_t* const number :
       {&sampling.inverse_temperature, &sampling.top_k, &sampling.top_p, &sampling.cutoff}) {
    taker.take(number, sizeof *number);
  }
  taker.take(sampling.seed.data(), sampling.seed.size());
  if (flags[0] != 0) {
    proof.statement.start = start;
  }
  if (flags[2] != 0) {
    proof.statement.sampling = sampling;
  }
  proof.statement.keeps = flags[1] != 0;
  proof.payload = taker.list<Bytes>();
  taker.take(proof.key_digest.data(), proof.key_digest.size());
  taker.finish();
  return proof;
}

namespace {

/// A key's bytes, sent from where they lie in the file.
IdentifiedKey load_key(const std::filesystem::path& name, const std::function<Image()>& open) {
  const auto part = [&](Image image) {
    return key_bytes_in(ImageFile(name.string(), image, key_format, max_key_file_bytes));
  };
  return naming(name, [&] { return IdentifiedKey::decode(run_isolated(name, {open, sends(part)}, {})); });
}

ImageReader proof_reader(const std::filesystem::path& name) {
  return [name](Image image) {
    ProofArchive proof = read_proof(ImageFile(name.string(), image, proof_format, max_proof_file_bytes));
    return encode_proof({std::move(proof.statement), std::move(proof.payload), proof.key_digest});
  };
}

}  // namespace

IdentifiedKey load_key_isolated(const std::filesystem::path& path) {
  return load_key(path, [&] { return map_file(path); });
}

IdentifiedKey load_key_isolated(const std::filesystem::path& name, Image image) {
  return load_key(name, [&] { return image; });
}

ProofBeside::ProofBeside(std::filesystem::path path) : path_(std::move(path)) {
  const ImageReader reader = proof_reader(path_);
  try {
    child_ = std::make_unique<Child>(start(path_, {[this] { return map_file(path_); }, sends(reader)}, {}));
  } catch (const JobError&) {  // said by whoever reads it again
  }
}

ProofBeside::~ProofBeside() = default;
ProofBeside::ProofBeside(ProofBeside&& other) noexcept = default;

std::optional<StoredProof> ProofBeside::take() {
  if (!child_) {
    return std::nullopt;
  }
  try {
    return decode_proof(finish(std::move(*std::exchange(child_, nullptr)), path_, {}));
  } catch (const InputError&) {  // as above: the caller may also have come too late
    return std::nullopt;
  } catch (const JobError&) {
    return std::nullopt;
  }
}

StoredProof load_proof_isolated(const std::filesystem::path& path) {
  return naming(path, [&] { return decode_proof(read_isolated(path, proof_reader(path))); });
}

StoredProof load_proof_isolated(const std::filesystem::path& name, const FilePart& part) {
  return naming(name, [&] { return decode_proof(read_isolated(name, part, proof_reader(name))); });
}

StoredProof load_proof_isolated(const std::filesystem::path& name, Image image) {
  return naming(name, [&] { return decode_proof(read_isolated(name, image, proof_reader(name))); });
}

}  // namespace tessera
