#include "base/url.h"

#include <gtest/gtest.h>

namespace kafscope {
namespace {

TEST(ParseTarget, DecodesPathAndParameters) {
  const auto target = ParseTarget("/a%20b?topic=x&headers=a%2Cb&empty&plus=a+b&topic=y");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a b");
  EXPECT_EQ(target->Find("topic"), "y");
  EXPECT_EQ(target->Find("headers"), "a,b");
  EXPECT_EQ(target->Find("empty"), "");
  EXPECT_EQ(target->Find("plus"), "a b");
  EXPECT_FALSE(target->Find("other"));
}

TEST(ParseTarget, RefusesWhatIsMalformedOrTooMuch) {
  for (const std::string& text :
       {std::string(""), std::string("x"), std::string("/%"), std::string("/%zz"), std::string("/%00"),
        std::string("/?a=%f"), std::string("/?a=%ff"), std::string(kMaxTargetBytes + 1, '/')}) {
    EXPECT_FALSE(ParseTarget(text)) << text.substr(0, 20);
  }
  std::string many = "/?";
  for (size_t i = 0; i <= kMaxParameters; ++i) many += "a&";
  EXPECT_FALSE(ParseTarget(many));
}

}  // namespace
}  // namespace kafscope
