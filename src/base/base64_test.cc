#include "base/base64.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

TEST(Base64, VectorsOfTheRfc) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(ToBase64(bytes), text);
    std::string back;
    EXPECT_TRUE(FromBase64(text, &back));
    EXPECT_EQ(back, bytes);
  }
  EXPECT_EQ(ToBase64(std::string_view("\xff\x00", 2)), "/wA=");
}

TEST(Base64, RefusesWhatIsNone) {
  std::string out;
  EXPECT_FALSE(FromBase64("Zg!=", &out));
  EXPECT_FALSE(FromBase64("Zm9vZ", &out));
  EXPECT_FALSE(FromBase64("Z=g=", &out));
  EXPECT_TRUE(FromBase64("Zg", &out));  // padding may be missing
  EXPECT_EQ(out, "f");
}

}  // namespace
}  // namespace kafscope
