/* /api/v1/status and /api/v1/health: the host in one object. */
#pragma once
#include "core/strbuf.h"
#include "health/snapshot.h"

void json_status_render(struct strbuf *out, const struct snapshot *s, uint64_t now_ns);
void json_health_render(struct strbuf *out, const struct snapshot *s, uint64_t now_ns);
/* {"schema":1,"error":{"code":...,"message":...}} */
void json_error_render(struct strbuf *out, const char *code, const char *message);
