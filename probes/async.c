#include "probes/async.h"

#include <assert.h>

#include "probes/facts.h"

/* async_event_names stands in the order of enum ibv_event_type, which is kernel ABI and only grows:
 * rdma-core after v44 added device_speed_change behind wq_fatal. */
static_assert(IBV_EVENT_CQ_ERR == 0, "async_event_names begins with cq_err");
static_assert(IBV_EVENT_QP_LAST_WQE_REACHED == 16, "async_event_names[16]");
static_assert(IBV_EVENT_WQ_FATAL == 19, "async_event_names[19]");

unsigned async_event_index(enum ibv_event_type type)
{
	return (unsigned)type < ASYNC_EVENT_COUNT - 1 ? (unsigned)type : ASYNC_EVENT_COUNT - 1;
}
