#include "exporters/hello.h"

#define RECORD_HEADER 5
#define RECORD_MAX 16384
#define MESSAGE_HEADER 4
#define TYPE_HANDSHAKE 22
#define TYPE_CLIENT_HELLO 1

size_t hello_need(const uint8_t *p, size_t len)
{
	size_t record, message;

	if ((len > 0 && p[0] != TYPE_HANDSHAKE) || (len > 1 && p[1] != 3))
		return 0;
	if (len < RECORD_HEADER)
		return RECORD_HEADER;
	record = (size_t)p[3] << 8 | p[4];
	if (record < MESSAGE_HEADER || record > RECORD_MAX)
		return 0;
	if (len < HELLO_HEAD)
		return HELLO_HEAD;
	message = (size_t)p[6] << 16 | (size_t)p[7] << 8 | p[8];
	if (p[5] != TYPE_CLIENT_HELLO || message > record - MESSAGE_HEADER)
		return 0;
	return RECORD_HEADER + record;
}
