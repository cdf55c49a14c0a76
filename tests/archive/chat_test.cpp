#include <gmock/gmock.h>

#include "archive/model_file.hpp"
#include "base/errors.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

ChatTemplate sample_chat() {
  ChatTemplate chat;
  chat.text = "{{ messages }}";
  chat.tokens[1] = "</s>";
  chat.special = {29};
  return chat;
}

TEST(ModelFile, chat_templates_round_trip_and_bad_ones_are_named) {
  const TemporaryDirectory directory;
  const auto load_with = [&](const ChatTemplate& chat) {
    Model model = small_model();
    model.tokenizer.chat = chat;
    save_model(directory / "m.h5", model);
    return load_model(directory / "m.h5").tokenizer.chat;
  };
  EXPECT_EQ(load_with({}), ChatTemplate());
  EXPECT_EQ(load_with(sample_chat()), sample_chat());
  const std::pair<std::function<void(ChatTemplate&)>, const char*> bad[] = {
      {[](ChatTemplate& chat) { chat.text = "\x80"; }, "chat_template: expected UTF-8"},
      {[](ChatTemplate& chat) { chat.tokens[0] = "\x80"; }, "bos_token: expected UTF-8"},
      {[](ChatTemplate& chat) { chat.special = {3}; }, "special: expected ascending ids of added tokens, found 3"},
      {[](ChatTemplate& chat) {
         chat.special = {29, 29};
       },
       "special: expected ascending ids of added tokens"}};
  for (const auto& [change, message] : bad) {
    ChatTemplate chat = sample_chat();
    change(chat);
    try {
      (void)load_with(chat);
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace tessera::test
