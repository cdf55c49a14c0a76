# Read by ctest after all tests: those with the label "quick", which together touch every folder of src/ and take half a
# minute on 2 cores. Beside each suite is room for about a second; what takes longer stays out.
set(quick_suites
  # base, memory, field, hash, cluster, tensor, tokenizer, transcript
  base/.* memory/BlockBuffer field/Extension field/Goldilocks field/IntegerProducts.* field/ScaledIntegers hash/.*
  cluster/.*Communicator cluster/ContributionRecord tensor/ChunkedFactor tensor/ChunkedTensor tensor/Dimension tensor/Factor
  tensor/Multilinear tensor/Redistribute tensor/Shape tokenizer/AddedTokens tokenizer/Fields tokenizer/HostileTokenizer
  tokenizer/Normalize tokenizer/Ties transcript/.*
  # sumcheck, lookup, words, opening, parameters, plan, arithmetic
  sumcheck/.*Sumcheck sumcheck/RoundPolynomial lookup/FractionTree lookup/Lookup.* lookup/Mutations opening/Degree
  opening/Opening words/OracleLayout opening/SmallOpening opening/Soundness parameters/.* plan/Builder plan/Passes
  plan/Sampling.* plan/Witness arithmetic/ExpTable arithmetic/Instructions arithmetic/IntegerProduct arithmetic/RotaryTable
  # layers, subprotocols, architecture, protocol, and lies about whole proofs
  layers/Attention layers/Cache layers/Embedding layers/GatedStack layers/GroupedQkv layers/HeadPadding layers/Layers
  layers/Logits layers/MatrixProduct layers/Mlp layers/Relations layers/Requantization layers/Rotary architecture/Draft
  architecture/Inference architecture/Witness protocol/ProofStatement protocol/Seed soundness/Account soundness/Binding
  soundness/Claims hiding/HidingOpening hiding/Pads
  # model, archive, datasets, cost, report, cli
  model/Bounds model/Checkpoint model/Gguf model/LlamaConfig model/Quantization model/Rope model/TokenizerFolderTest
  archive/DamagedFile archive/Hdf5 archive/ImageFileTest archive/Isolated archive/ProofFile archive/VerifyingKey archive/WriteFile files/.*
  cost/Rates cost/ShapeKey report/Axis report/BarsFigure report/Scopes report/Tables report/Template report/Text cli/Paths)
list(JOIN quick_suites "|" quick_suites)
foreach(part base memory tokenizer field hash cluster tensor transcript sumcheck lookup words opening parameters plan arithmetic layers
    architecture protocol model files archive cost report soundness hiding)
  foreach(test IN LISTS test_${part}_fast)
    if(test MATCHES "^(${quick_suites})\\.")
      set_tests_properties("${test}" PROPERTIES LABELS "fast;quick")
    endif()
  endforeach()
endforeach()
foreach(test IN LISTS test_cli_TESTS)
  if(test MATCHES "^(${quick_suites})\\.")
    set_tests_properties("${test}" PROPERTIES LABELS "fast;quick")
  endif()
endforeach()
