#pragma once

#include <tessera/communicator.hpp>

#include "field/extension.hpp"
