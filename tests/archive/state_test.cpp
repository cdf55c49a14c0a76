#include <gtest/gtest.h>

#include "archive/state_file.hpp"
#include "base/errors.hpp"
#include "cluster/thread_communicator.hpp"
#include "words/compact_codeword.hpp"
#include "hash/merkle_tree.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

std::int16_t value_at(std::size_t tensor, std::size_t row, std::size_t position) {
  return static_cast<std::int16_t>(1 + tensor * 10000 + row * 100 + position);
}

/// Keys and values that have different dimensions: one head is in one file, whatever the ranks.
TEST(StateFile, keeps_keys_and_values_of_heads_with_dimensions_of_their_own) {
  const VerifyingKey key = small_key();
  const Dimension block = Dimension::outer(2);
  const Dimension head = Dimension::outer(3);
  const Dimension position = Dimension::whole(8);
  const StateShapes shapes{Shape({block, head, Dimension{2, 1}, Dimension::whole(5), position}),
                           Shape({block, head, Dimension::whole(10), position})};
  constexpr std::size_t rows = 30;
  const PackedOracle oracle = pack_state({shapes.begin(), shapes.end()});
  const std::size_t count = compact_nodes(oracle.layout, oracle.parameters);
  const std::vector<Digest> nodes(count, Digest{5});
  const ConversationState state{merkle_levels(TreeLevel(nodes.begin(), nodes.end())).back().front(), 6, 1};
  const TemporaryDirectory directory;
  for (const int ranks : {1, 2, 3}) {
    const std::filesystem::path kept = directory / std::to_string(ranks);
    std::filesystem::create_directory(kept);
    run_ranks(ranks, [&](Communicator& comm) {
      Past past{state, {}, nodes};
      for (std::size_t tensor = 0; tensor < shapes.size(); ++tensor) {
        auto& values = past.tensors.emplace_back(shapes[tensor], Ownership{1}, comm.rank(), comm.size());
        const Range own = owned_rows(shapes[tensor], comm.rank(), comm.size());
        for (std::size_t b = 0; b < 2; ++b) {
          for (std::size_t row = own.first; row < own.last; ++row) {
            const RowPlace place = row_place(shapes[tensor], b, row);
            for (std::size_t t = 0; t < state.length; ++t) {
              values.chunk(place.chunk)[place.row * 8 + t] = value_at(tensor, b * rows + row, t);
            }
          }
        }
      }
      save_state(kept, key.digest(), past, comm);
    });
    for (const int readers : {1, 3}) {
      run_ranks(readers, [&](Communicator& comm) {
        const Past past = load_state(kept, key, shapes, comm);
        EXPECT_EQ(past.state, state);
        for (std::size_t tensor = 0; tensor < shapes.size(); ++tensor) {
          const Range own = owned_rows(shapes[tensor], comm.rank(), comm.size());
          for (std::size_t b = 0; b < 2; ++b) {
            for (std::size_t row = own.first; row < own.last; ++row) {
              const RowPlace place = row_place(shapes[tensor], b, row);
              for (std::size_t t = 0; t < 8; ++t) {
                EXPECT_EQ(past.tensors.at(tensor).chunk(place.chunk)[place.row * 8 + t],
                          t < state.length ? value_at(tensor, b * rows + row, t) : 0);
              }
            }
          }
        }
      });
    }
  }
  run_ranks(2, [&](Communicator& comm) {
    Past past{state, {}, {nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count / 2)}};
    for (const Shape& shape : shapes) {
      past.tensors.emplace_back(shape, Ownership{1}, comm.rank(), comm.size());
    }
    save_state(directory / "1", key.digest(), past, comm);
    EXPECT_THROW(load_state(directory / "1", key, shapes, comm), InputError);
  });
}

}  // namespace
}  // namespace tessera::test
