// hydro/job/testing.h — small jobs as text, and what a refused one says.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"
#include "hydro/job/job.h"

namespace hydro::job::testing {

/// The sections of a good job; a test changes one.
struct JobText {
  std::string model =
      "model:\n"
      "  export: torchvision.models:resnet18\n"
      "  kwargs: {num_classes: 10}\n"
      "  input: float32[*, 3, 28, 28]\n";
  std::string data =
      "data:\n"
      "  train: {format: idx, images: a.gz, labels: b.gz}\n"
      "  val_share: 0.1\n";
  std::string train =
      "train:\n"
      "  task: classification\n"
      "  epochs: 2\n"
      "  batch_size: 64\n"
      "  optimizer: {name: sgd, lr: 0.1}\n";
  std::string tune = "tune:\n  num_samples: 1\n";

  [[nodiscard]] std::string text() const { return model + data + train + tune; }
};

/// The good job with these lines added to a section.
inline std::string with_model(const std::string& lines) {
  JobText job;
  job.model += lines;
  return job.text();
}

inline std::string with_data(const std::string& lines) {
  JobText job;
  job.data += lines;
  return job.text();
}

inline std::string with_train(const std::string& lines) {
  JobText job;
  job.train += lines;
  return job.text();
}

inline std::string with_tune(const std::string& lines) {
  JobText job;
  job.tune += lines;
  return job.text();
}

inline std::string with_optimizer(const std::string& optimizer) {
  JobText job;
  job.train = "train:\n  task: classification\n  epochs: 2\n  batch_size: 64\n  optimizer: " +
              optimizer + "\n";
  return job.text();
}

inline Result<Job> parse(const std::string& text) {
  return parse_job(text, "job.yaml", {.folder = "/jobs", .overrides = {}});
}

/// A job that must parse.
inline Job good(const std::string& text) {
  auto job = parse(text);
  if (!job) {
    ADD_FAILURE() << render(job.error()) << text;
    return {};
  }
  return *std::move(job);
}

/// The error of a job that must not parse; id "none" when it does.
inline Error refused(const std::string& text) {
  auto job = parse(text);
  if (job) {
    ADD_FAILURE() << "this parses:\n" << text;
    return {.id = "none",
            .what = {},
            .where = {},
            .why = {},
            .remedy = {},
            .kept = {},
            .excerpt = {}};
  }
  return std::move(job).error();
}

}  // namespace hydro::job::testing
