#include "probes/counter_delta.h"

#define HALF_RANGE_32 (1ULL << 31)

/* Where a width sticks; 0: nowhere. */
static uint64_t end_of(enum counter_width width)
{
	switch (width) {
	case WIDTH_EITHER:
	case WIDTH_32:
	case WIDTH_64:
		return 0;
	case WIDTH_STICKS_4:
		return 15;
	case WIDTH_STICKS_8:
		return UINT8_MAX;
	case WIDTH_STICKS_16:
		return UINT16_MAX;
	case WIDTH_STICKS_32:
	case WIDTH_64_OR_STICKS_32:
		return UINT32_MAX;
	}
	return 0;
}

bool counter_saturated(enum counter_width width, uint64_t value)
{
	return end_of(width) != 0 && value == end_of(width);
}

/* A value beyond 32 bits proves that they are not the end, whatever the table says. */
static bool may_wrap(enum counter_width width, uint64_t before)
{
	return (width == WIDTH_32 || width == WIDTH_EITHER) && before <= UINT32_MAX;
}

struct counter_delta counter_delta(enum counter_width width, uint64_t before, uint64_t now)
{
	if (now < before) {
		if (may_wrap(width, before) && before - now > HALF_RANGE_32)
			return (struct counter_delta){STEP_WRAPPED, (uint32_t)(now - before)};
		return (struct counter_delta){STEP_RESET, 0};
	}
	return (struct counter_delta){
		.step = counter_saturated(width, now) ? STEP_SATURATED : STEP_GREW,
		.growth = now - before,
	};
}

uint64_t counter_bytes(uint64_t words)
{
	return words > UINT64_MAX / 4 ? UINT64_MAX : words * 4;
}
