// hydro/base/catalogue_rows.h — the parts of the error catalogue, in the order of their ids; a
// part is one file.
#pragma once

#include <span>
#include <string_view>

#include "hydro/base/catalogue.h"
#include "hydro/base/result.h"

namespace hydro {

constexpr CatalogueRow row(std::string_view id,
                           ErrorCode code,
                           ExitCode exit,
                           std::string_view title,
                           std::string_view meaning,
                           std::string_view remedy) {
  return {.id = id,
          .code = code,
          .exit = exit,
          .title = title,
          .meaning = meaning,
          .remedy = remedy};
}

[[nodiscard]] std::span<const CatalogueRow> job_rows();
[[nodiscard]] std::span<const CatalogueRow> export_rows();
[[nodiscard]] std::span<const CatalogueRow> model_rows();
[[nodiscard]] std::span<const CatalogueRow> shrink_rows();
[[nodiscard]] std::span<const CatalogueRow> data_rows();
[[nodiscard]] std::span<const CatalogueRow> study_rows();
[[nodiscard]] std::span<const CatalogueRow> program_rows();

}  // namespace hydro
