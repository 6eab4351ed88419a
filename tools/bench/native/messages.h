// The messages of a ping-pong: RC SENDs, each into a receive of the other end.
#pragma once

#include "queue_pair.h"

enum { kMessageDepth = 16 };

// Receives that wait. The first `size` bytes of the buffer are sent, the next `size` received into.
void messages_begin(struct queue_pair* pair, uint32_t size);

void send_message(struct queue_pair* pair, uint32_t size);

// Waits for the other end's message and puts a new receive in the place of the one it took.
void take_message(struct queue_pair* pair, uint32_t size);
