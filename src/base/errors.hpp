#pragma once

#include <tessera/errors.hpp>
