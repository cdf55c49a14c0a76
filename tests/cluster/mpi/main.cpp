#include <gtest/gtest.h>

#include <memory>

#include "world.hpp"

namespace tessera::test {
namespace {

std::unique_ptr<MpiCommunicator> communicator;

}  // namespace

MpiCommunicator& world() { return *communicator; }

}  // namespace tessera::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tessera::MpiSession session(argc, argv);
  tessera::test::communicator = std::make_unique<tessera::MpiCommunicator>();
  if (session.world().rank() != 0) {  // one report is enough; failures of other ranks end the job
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
  }
  const int result = RUN_ALL_TESTS();
  tessera::test::communicator.reset();
  return result;
}
