/* /api/v1/findings: what is wrong, with its evidence. */
#pragma once
#include "exporters/json_list.h"

extern const struct json_list_type json_findings;
