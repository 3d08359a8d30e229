/* librdmacm: what a test tells ids to hear, and what ids tell when asked. */
#include "fake_priv.h"

void fabric_answer(struct fake_device *dev, enum rdma_cm_event_type event, int status,
		   unsigned times, const void *data, uint8_t len)
{
	FAKE_GUARD;

	dev->answer =
		(struct fake_answer){.times = times, .event = event, .status = status, .len = len};
	if (len)
		memcpy(dev->answer.data, data, len);
}

void fabric_cm_event(struct fake_device *dev, enum rdma_cm_event_type event, int status)
{
	FAKE_GUARD;

	for (struct fake_id *id = fabric.ids; id; id = id->next)
		if (id->dev == dev && id->state == ID_CONNECTED) {
			if (event == RDMA_CM_EVENT_DISCONNECTED)
				id->state = ID_CLOSED;
			fake_cm_event(id, event, status, NULL, 0);
		}
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	(void)event;
	return "an event";
}

__be16 rdma_get_src_port(struct rdma_cm_id *ibid)
{
	return htons(((struct fake_id *)ibid)->src_port);
}

__be16 rdma_get_dst_port(struct rdma_cm_id *ibid)
{
	return htons(((struct fake_id *)ibid)->dst_port);
}
