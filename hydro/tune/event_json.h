// hydro/tune/event_json.h — events as JSON and back:
//   {"seq": 7, "type": "command_done", "version": 2, "wall_ns": 0, "mono_ns": 0, "reason": "",
//   "body": {...}}
#pragma once

#include <string_view>

#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/tune/events.h"

namespace hydro::tune {

/// Of every event type that this program writes.
constexpr int kEventVersion = 2;

[[nodiscard]] std::string_view event_type(const EventBody& body);
[[nodiscard]] Json to_json(const Event& event);
/// The part that depends on the type, for stores that keep the rest in columns.
[[nodiscard]] Json body_to_json(const EventBody& body);

/// Errors: H0643 a type or version that this program does not know, H0644 a field missing or of
/// the wrong type
[[nodiscard]] Result<Event> event_from_json(const Json& json);
[[nodiscard]] Result<EventBody> body_from_json(std::string_view type,
                                               int version,
                                               const Json& body);

}  // namespace hydro::tune
