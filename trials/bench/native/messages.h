// The messages of a ping-pong: RC SENDs, each into a receive of the other end.
#pragma once

#include "queue_pair.h"

enum { kMessageDepth = 16 };

// Posted receives. The first `size` bytes of the buffer are sent; messages are received into the next `size`.
void messages_begin(struct queue_pair* pair, uint32_t size);

void send_message(struct queue_pair* pair, uint32_t size);

// Waits for the other end's message and posts a new receive for the completed one.
void take_message(struct queue_pair* pair, uint32_t size);
