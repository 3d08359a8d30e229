/* Where the first message of a TLS client ends (RFC 8446 5.1 and 4: a record of type handshake that
 * holds a ClientHello). Pure. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define HELLO_HEAD 9 /* bytes that tell: the record's header and the message's */

/* p: the first len bytes of a connection, HELLO_HEAD of them are enough. How many bytes there must
 * be for the whole hello, more than len while that is open; 0: it is none, or none in one record.
 */
size_t hello_need(const uint8_t *p, size_t len);
