/* /api/v1/peers: one row per session that this host opened. */
#pragma once
#include "exporters/json_list.h"

extern const struct json_list_type json_peers;
