#include "api/prover_model.hpp"

namespace tessera {

void ProverModel::divide(const Division& division) {
  if (!division.same(division_, model_.shape)) {
    tensors_.reset();
    model_ = {};
    model_ = load_model(path_, rank_, division);
  }
  division_ = division;
}

const ParameterTensors& ProverModel::tensors() {
  if (!tensors_) {
    tensors_ = lasting_ ? ParameterTensors::of(model_.shape, model_.parameters, rank_, division_)
                        : ParameterTensors::of(model_.shape, std::move(model_.parameters), rank_, division_);
  }
  return *tensors_;
}

void ProverModel::release_tensors() {
  if (!lasting_) {
    tensors_.emplace();
  }
}

}  // namespace tessera
