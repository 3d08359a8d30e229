/* /api/v1/events: the journal after a number. It goes on while a list is read, so rows are found
 * by number each time and the list ends at the number that was the last when it began. */
#pragma once
#include "exporters/json_list.h"

extern const struct json_list_type json_events;
