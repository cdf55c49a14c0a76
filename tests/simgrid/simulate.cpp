/// Proves one statement on a cluster that SimGrid simulates: all ranks in this process, one after the other, each as
/// long as its own work takes on one core of this machine; the network's time is SimGrid's. Prints a JSON object.

#include <mpi.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include "architecture/inference.hpp"
#include "base/errors.hpp"
#include "base/heap.hpp"
#include "cluster/mpi_communicator.hpp"
#include "checkpoints/checkpoint.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/synthesis.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera {
namespace {

namespace s4u = simgrid::s4u;

struct Options {
  std::string shape;
  PassShape pass;
  int ranks = 1, ranks_on_node = 16;
  double gigabits = 100, microseconds = 2;
};

/// What one rank did in one scope: simulated seconds, and those of collective calls in it, in their order.
struct Measured {
  double seconds = 0;
  std::vector<double> calls;
};
using Scopes = std::map<std::string, Measured>;

/// Another communicator, and how long each call takes.
class TimedCommunicator final : public Communicator {
 private:
  template <class Call>
  auto timed(const Call& call) {
    struct Stretch {
      double start = MPI_Wtime();
      std::vector<double>& calls;
      ~Stretch() { calls.push_back(MPI_Wtime() - start); }
    };
    const Stretch stretch{.calls = scopes_[open_].calls};
    return call();
  }

 public:
  explicit TimedCommunicator(Communicator& comm) : comm_(comm) {}
  void begin(std::string_view scope) {
    if (scope.find('/', 1) == std::string_view::npos) {
      open_ = scope;
      began_ = MPI_Wtime();
    }
  }
  void end(std::string_view scope) {
    if (scope == open_) {
      scopes_[open_].seconds += MPI_Wtime() - began_;
      open_.clear();
    }
  }
  [[nodiscard]] const Scopes& scopes() const { return scopes_; }

  [[nodiscard]] int rank() const override { return comm_.rank(); }
  [[nodiscard]] int size() const override { return comm_.size(); }
  void barrier() override { comm_.barrier(); }
  void all_reduce_sum(std::span<E> values) override {
    timed([&] { comm_.all_reduce_sum(values); });
  }
  void all_reduce_sum(std::span<std::int64_t> values) override {
    timed([&] { comm_.all_reduce_sum(values); });
  }
  void all_reduce_max(std::span<std::int64_t> values) override {
    timed([&] { comm_.all_reduce_max(values); });
  }
  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override {
    return timed([&] { return comm_.all_gather_bytes(mine); });
  }
  MessageBytes all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> lengths) override {
    return timed([&] { return comm_.all_gather_known(mine, lengths); });
  }
  SharedBytes gather_shared(std::span<const std::byte> mine) override {
    return timed([&] { return comm_.gather_shared(mine); });
  }
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override {
    return timed([&] { return comm_.all_to_all_bytes(std::move(send)); });
  }
  void broadcast_bytes(MessageBytes& bytes, int root) override {
    timed([&] { comm_.broadcast_bytes(bytes, root); });
  }

 private:
  Communicator& comm_;
  Scopes scopes_;
  std::string open_;
  double began_ = 0;
};

/// What all ranks share: they are of one process.
struct Cluster {
  Options options;
  Model model;
  std::vector<Scopes> scopes;
  std::vector<std::vector<std::uint8_t>> payloads;
};

void prove(Cluster& cluster, Communicator& world) {
  TimedCommunicator comm(world);
  keep_freed_heap();
  omp_set_num_threads(1);
  const Model& model = cluster.model;
  VerifyingKey key = make_verifying_key(model);
  const Division division = cluster.options.pass.division(comm.size());
  const OracleLayout layout = parameter_layout(key, division);
  const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters, comm.rank(), division);
  const std::unique_ptr<CodewordStore> codeword =
      commit_oracle(layout, key.parameter_oracle, parameters.views(), comm, std::size_t{1} << 40);
  key.parameter_root = codeword->root();
  const ModelPlan plan = ModelPlan::of(key, cluster.options.pass, division);
  Statement statement = statement_of(plan.pass);
  for (std::size_t i = 0; i < statement.prompt.size(); ++i) {
    statement.prompt[i] = static_cast<std::uint32_t>((7919 * i + 13) % model.shape.n_vocab);
  }
  const auto in_scope = [&](std::string_view name, const auto& work) {
    comm.barrier();
    comm.begin(name);
    auto result = work();
    comm.end(name);
    return result;
  };
  const Trace trace = in_scope("/inference", [&] {
    return run_inference({key, &model.parameters}, plan, statement.prompt, comm, {}, {});
  });
  statement.generated = trace.generated_tokens();
  ProverOptions options;
  options.listener = {[&](std::string_view path) { comm.begin(path); }, [&](std::string_view path) { comm.end(path); }};
  const Proof proof = prove_inference(plan, key, statement, trace, {parameters, *codeword}, comm, options);
  const bool accepted = in_scope(
      "/check", [&] { return comm.rank() != 0 || verify_inference(plan, key, statement, proof.payload).accepted; });
  if (!accepted) {
    throw JobError("the proof is rejected");
  }
  cluster.scopes[static_cast<std::size_t>(comm.rank())] = comm.scopes();
  cluster.payloads[static_cast<std::size_t>(comm.rank())] = proof.payload;
}

/// Nodes around one switch that blocks nothing; ranks of a node have its memory between them.
void start_ranks(const Options& options, const std::function<void()>& body) {
  constexpr double core = 1e9;  // the same as smpi/host-speed: simulated cores are this machine's
  s4u::NetZone* const zone = s4u::create_star_zone("cluster");
  const int nodes = (options.ranks + options.ranks_on_node - 1) / options.ranks_on_node;
  std::vector<s4u::Host*> hosts;
  for (int node = 0; node < nodes; ++node) {
    const std::string name = "node" + std::to_string(node);
    s4u::Host* const host = zone->create_host(name, core)->set_core_count(options.ranks_on_node)->seal();
    const auto* const cable = zone->create_split_duplex_link(name + "-link", options.gigabits * 1e9 / 8)
                                  ->set_latency(options.microseconds * 1e-6 / 2)
                                  ->seal();
    const auto* const memory = zone->create_link(name + "-memory", 10e9)->set_latency(0.4e-6)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{cable, s4u::LinkInRoute::Direction::UP}}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(memory)}, false);
    hosts.push_back(host);
  }
  zone->seal();
  for (int rank = 0; rank < options.ranks; ++rank) {
    const s4u::ActorPtr actor =
        s4u::Actor::init("rank" + std::to_string(rank), hosts[static_cast<std::size_t>(rank / options.ranks_on_node)]);
    actor->set_property("instance_id", "tessera");
    actor->set_property("rank", std::to_string(rank));
    actor->start(body);
  }
}

/// By scope: the slowest rank's seconds; and those of the network, which no rank waits for another in: of each call the
/// time of the rank that came last.
nlohmann::ordered_json summary(const Cluster& cluster) {
  nlohmann::ordered_json scopes = nlohmann::ordered_json::array();
  double total = 0;
  for (const auto& [name, first] : cluster.scopes.front()) {
    if (name.empty()) {
      continue;
    }
    double seconds = 0, network = 0;
    for (const Scopes& rank : cluster.scopes) {
      seconds = std::max(seconds, rank.at(name).seconds);
    }
    for (std::size_t call = 0; call < first.calls.size(); ++call) {
      double least = first.calls[call];
      for (const Scopes& rank : cluster.scopes) {
        least = std::min(least, rank.at(name).calls.at(call));
      }
      network += least;
    }
    total += seconds;
    scopes.push_back({{"scope", name}, {"seconds", seconds}, {"network", network}, {"calls", first.calls.size()}});
  }
  return {{"ranks", cluster.options.ranks},
          {"ranks_on_node", cluster.options.ranks_on_node},
          {"seconds", total},
          {"proof_bytes", cluster.payloads.front().size()},
          {"scopes", scopes}};
}

int simulate(int argc, char** argv) {
  xbt_log_control_set("root.threshold:warning");
  s4u::Engine engine(&argc, argv);
  Cluster cluster;
  Options& options = cluster.options;
  CLI::App program;
  program.add_option("--shape", options.shape)->required();
  program.add_option("--prompt", options.pass.prompt)->required();
  program.add_option("--generate", options.pass.generated)->required();
  program.add_option("--ranks", options.ranks)->check(CLI::Range(1, 1024));
  program.add_option("--ranks-on-node", options.ranks_on_node)->check(CLI::Range(1, 1024));
  program.add_option("--gigabits", options.gigabits)->check(CLI::PositiveNumber);
  program.add_option("--microseconds", options.microseconds)->check(CLI::NonNegativeNumber);
  CLI11_PARSE(program, argc, argv);
  for (const char* const setting :
       {"smpi/host-speed:1e9f", "smpi/cpu-threshold:0", "network/latency-factor:1", "network/bandwidth-factor:0.97",
        "contexts/factory:raw", "contexts/stack-size:65536"}) {
    s4u::Engine::set_config(setting);
  }
  cluster.model = synthesize_model(read_checkpoint_config(options.shape), 1);
  cluster.scopes.resize(static_cast<std::size_t>(options.ranks));
  cluster.payloads.resize(static_cast<std::size_t>(options.ranks));
  SMPI_app_instance_register("tessera", nullptr, options.ranks);
  SMPI_init();
  s4u::Engine::set_config("smpi/coll-selector:ompi");  // which SMPI_init declares
  start_ranks(options, [&cluster] {
    MPI_Init(nullptr, nullptr);  // SimGrid's has no MPI_Init_thread for threads, which a simulated rank does not use
    {
      MpiCommunicator world;
      prove(cluster, world);
    }
    MPI_Finalize();
  });
  engine.run();
  SMPI_finalize();
  for (const std::vector<std::uint8_t>& payload : cluster.payloads) {
    if (payload.empty() || payload != cluster.payloads.front()) {
      throw JobError("the ranks of one job differ");
    }
  }
  std::cout << summary(cluster).dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  try {
    return tessera::simulate(argc, argv);
  } catch (const tessera::InputError& error) {
    std::cerr << "simulate_cluster: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "simulate_cluster: " << error.what() << '\n';
    return 3;
  }
}
