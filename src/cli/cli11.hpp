#pragma once

// What headers say of CLI11, whose own one costs every unit that reads it seconds: only sources that do something with
// options do.
namespace CLI {
class App;
class Config;
class Error;
class Option;
}  // namespace CLI
