/* /api/v1/events: the journal after a number. It goes on while a list is read, so rows are found
 * by number each time and the list ends at the number that was the last when it began. What memory
 * no longer holds is read from where it is kept, a page at a time, and waited for meanwhile. */
#pragma once
#include "exporters/json_list.h"

extern const struct json_list_type json_events;
