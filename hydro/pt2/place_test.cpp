#include "hydro/pt2/place.h"

#include <gtest/gtest.h>

namespace hydro::pt2 {
namespace {

TEST(UserPlace, IsTheInnermostFrameOutsideTorch) {
  EXPECT_EQ(user_place("File \"/home/me/net.py\", line 12, in forward\n    x = self.fc(x)\n"
                       "  File \"/v/lib/python3.11/site-packages/torch/nn/modules/linear.py\", "
                       "line 134, in forward\n"),
            "net.py:12");
  EXPECT_EQ(
      user_place("File \"/a/net.py\", line 1, in f\n  File \"/a/block.py\", line 2, in g\n"),
      "block.py:2");
}

TEST(UserPlace, KeepsPackagesAndRelativePaths) {
  EXPECT_EQ(
      user_place("File \"/v/site-packages/torchvision/models/resnet.py\", line 92, in forward\n"
                 "  File \"torch/nn/modules/conv.py\", line 3, in forward\n"),
      "torchvision/models/resnet.py:92");
  EXPECT_EQ(user_place("File \"models/net.py\", line 7, in forward"), "models/net.py:7");
}

TEST(UserPlace, FallsBackToTorchAndToNothing) {
  EXPECT_EQ(
      user_place("File \"/v/site-packages/torch/nn/modules/linear.py\", line 134, in forward"),
      "torch/nn/modules/linear.py:134");
  EXPECT_EQ(user_place(""), "");
  EXPECT_EQ(user_place("File \"x"), "");
}

TEST(OwningModule, IsTheInnermostName) {
  EXPECT_EQ(
      owning_module(
          "L__self__,,a.Net;L__self__layer1,layer1,b.Block;L__self__layer1.0,layer1.0,c.Conv"),
      "layer1.0");
  EXPECT_EQ(owning_module("L__self__,,a.Net"), "");
  EXPECT_EQ(owning_module(""), "");
}

}  // namespace
}  // namespace hydro::pt2
