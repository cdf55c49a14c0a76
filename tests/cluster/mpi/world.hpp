#pragma once

#include "cluster/mpi_communicator.hpp"

namespace tessera::test {

/// The ranks of this test run. Every rank runs every test.
MpiCommunicator& world();

}  // namespace tessera::test
