/* Asynchronous events of verbs, by our own numbers (async_event_names of facts.h). */
#pragma once
#include <infiniband/verbs.h>

/* Index into async_event_names; the last one (`other`) for what this version does not know. */
unsigned async_event_index(enum ibv_event_type type);
