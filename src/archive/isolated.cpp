#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <new>
#include <system_error>

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

constexpr std::uint8_t content_follows = 0;
constexpr std::uint8_t message_follows = 1;  // of an InputError
constexpr std::uint8_t failure_follows = 2;  // message of a JobError
constexpr std::size_t max_message = 4096;
constexpr std::size_t max_content = std::size_t{1} << 28;

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

void send_error(int to, std::string_view text, std::uint8_t kind = message_follows) {
  text = text.substr(0, max_message);
  write_all(to, Bytes{kind});
  write_all(to, Bytes(text.begin(), text.end()));
}

using Image = std::span<const std::uint8_t>;

/// What a child does: `open` before it is confined, `read` after.
struct Task {
  std::function<Image()> open;
  const ImageReader& read;
};

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
      send_error(to, path.string() + ": " + error.what(), failure_follows);
      return 0;
    }
    const Bytes content = task.read(image);
    write_all(to, Bytes{content_follows});
    write_all(to, content);
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
  const bool ended = answer.ended && end.good();
  Bytes& bytes = answer.bytes;
  if (!ended || bytes.empty() || bytes.size() > max_content) {
    throw InputError(path.string() + ": expected a readable file, found " + describe_end(end, answer.late, limits));
  }
  if (bytes.front() != content_follows) {
    const std::size_t length = std::min(bytes.size() - 1, max_message);
    const std::string message(bytes.begin() + 1, bytes.begin() + 1 + static_cast<std::ptrdiff_t>(length));
    if (bytes.front() == failure_follows) {
      throw JobError(message);
    }
    throw InputError(message);
  }
  bytes.erase(bytes.begin());
  return std::move(bytes);
}

/// Starts a child for a file.
Child start(const std::filesystem::path& path, const Task& task, const IsolationLimits& limits) {
  try {
    return Child([&](int to) { return read_in_child(path, to, task, limits); });
  } catch (const std::system_error& error) {
    throw JobError(path.string() + ": " + error.what());
  }
}

Bytes run_isolated(const std::filesystem::path& path, const Task& task, const IsolationLimits& limits) {
  Child child = start(path, task, limits);
  // The child's own alarm() is the rule; one that a file has taken over can ignore that.
  constexpr std::chrono::seconds grace{1};
  Answer answer = child.listen(Child::Clock::now() + std::chrono::seconds(limits.seconds) + grace, max_content);
  if (!answer.ended) {
    child.kill();
  }
  const ProcessEnd end = child.wait();
  return content_of(path, answer, end, limits);
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
  return run_isolated(path, {open, read}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, Image image, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[image] { return image; }, read}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, const FilePart& part, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[&] { return map_part(part, name); }, read}, limits);
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

ImageReader key_reader(const std::filesystem::path& name) {
  return
      [name](Image image) { return read_key_bytes(ImageFile(name.string(), image, key_format, max_key_file_bytes)); };
}

ImageReader proof_reader(const std::filesystem::path& name) {
  return [name](Image image) {
    ProofArchive proof = read_proof(ImageFile(name.string(), image, proof_format, max_proof_file_bytes));
    return encode_proof({std::move(proof.statement), std::move(proof.payload), proof.key_digest});
  };
}

}  // namespace

IdentifiedKey load_key_isolated(const std::filesystem::path& path) {
  return naming(path, [&] { return IdentifiedKey::decode(read_isolated(path, key_reader(path))); });
}

IdentifiedKey load_key_isolated(const std::filesystem::path& name, Image image) {
  return naming(name, [&] { return IdentifiedKey::decode(read_isolated(name, image, key_reader(name))); });
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
