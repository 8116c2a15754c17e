#include "hydro/tune/event_json.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/tune/event_fields.h"  // IWYU pragma: keep: the FieldsOf of every event
#include "hydro/tune/events.h"
#include "hydro/tune/json_fields.h"

namespace hydro::tune {
namespace {

struct TypeRow {
  std::string_view type;
  Result<EventBody> (*read)(const Json& body);
};

template <class Body>
Result<EventBody> read_body(const Json& json) {
  Body body;
  const std::string problem = json_fields::read(json, body);
  if (!problem.empty()) {
    return make_error("H0644", "event `" + std::string(Body::kType) + "`: body" + problem);
  }
  return EventBody(std::move(body));
}

template <std::size_t... Index>
constexpr auto make_type_rows(std::index_sequence<Index...> /*indices*/) {
  return std::array{
      TypeRow{.type = std::variant_alternative_t<Index, EventBody>::kType,
              .read = &read_body<std::variant_alternative_t<Index, EventBody>>}...};
}

constexpr auto kTypes =
    make_type_rows(std::make_index_sequence<std::variant_size_v<EventBody>>());

// The envelope, read before the body's type is known.
struct Envelope {
  std::int64_t seq = 0;
  std::string type;
  int version = 0;
  std::int64_t wall_ns = 0;
  std::int64_t mono_ns = 0;
  std::string reason;
};

}  // namespace

template <>
struct FieldsOf<Envelope> {
  static void visit(auto& field, auto& x) {
    field("seq", x.seq);
    field("type", x.type);
    field("version", x.version);
    field("wall_ns", x.wall_ns);
    field("mono_ns", x.mono_ns);
    field("reason", x.reason);
  }
};

std::string_view event_type(const EventBody& body) {
  return std::visit([](const auto& held) { return std::remove_cvref_t<decltype(held)>::kType; },
                    body);
}

Json body_to_json(const EventBody& body) {
  return std::visit([](const auto& held) { return json_fields::write(held); }, body);
}

Json to_json(const Event& event) {
  Json json = json_fields::write(Envelope{.seq = event.seq,
                                          .type = std::string(event_type(event.body)),
                                          .version = kEventVersion,
                                          .wall_ns = event.wall_ns,
                                          .mono_ns = event.mono_ns,
                                          .reason = event.reason});
  json["body"] = body_to_json(event.body);
  return json;
}

Result<EventBody> body_from_json(std::string_view type, int version, const Json& body) {
  const auto* const row = std::ranges::find(kTypes, type, &TypeRow::type);
  if (row == kTypes.end() || version != kEventVersion) {
    return make_error("H0643",
                      "event `" + std::string(type) + "` version " + std::to_string(version) +
                          " is not known to this program");
  }
  return row->read(body);
}

Result<Event> event_from_json(const Json& json) {
  Envelope envelope;
  if (const std::string problem = json_fields::read(json, envelope); !problem.empty()) {
    return make_error("H0644", "an event" + problem);
  }
  if (!json.contains("body")) {
    return make_error("H0644", "event " + std::to_string(envelope.seq) + " has no body");
  }
  HYDRO_TRY(EventBody body, body_from_json(envelope.type, envelope.version, json["body"]));
  return Event{.seq = envelope.seq,
               .wall_ns = envelope.wall_ns,
               .mono_ns = envelope.mono_ns,
               .reason = envelope.reason,
               .body = std::move(body)};
}

}  // namespace hydro::tune
