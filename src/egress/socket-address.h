/* Addresses as the kernel's calls take them. Pure. */
#pragma once

#include <sys/socket.h>

#include "net/endpoint.h"

/* How many bytes of *ret count. */
socklen_t socket_address_make(const struct address *a, uint16_t port, struct sockaddr_storage *ret);
/* A mapped address as IPv4. False: it is of another family. */
bool socket_address_read(const struct sockaddr_storage *from, struct endpoint *ret);
