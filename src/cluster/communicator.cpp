#include <tessera/cluster/communicator.hpp>
