#pragma once

#include <gtest/gtest.h>

#include "hiding_job.hpp"

namespace tessera::test {

/// Messages of layers are the same, whatever is listed; of look-up and opening there may be other numbers.
inline void expect_same_layers(std::vector<Message> messages, std::vector<Message> expected) {
  for (std::vector<Message>* all : {&messages, &expected}) {
    std::erase_if(*all, [](const Message& message) {
      return message.label == "places" || message.path.starts_with("/opening") || message.path.starts_with("/lookup");
    });
  }
  ASSERT_EQ(messages.size(), expected.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].path, expected[i].path);
    EXPECT_EQ(messages[i].label, expected[i].label);
    EXPECT_EQ(messages[i].length, expected[i].length);
  }
}

}  // namespace tessera::test
