/* What a client accepts, from its headers (RFC 9110, 12.5). NULL: the header is absent. */
#pragma once
#include <stdbool.h>

/* OpenMetrics 1.0 is named, and text/plain is not named with a higher quality. */
bool negotiate_openmetrics(const char *accept);
bool negotiate_gzip(const char *accept_encoding);
