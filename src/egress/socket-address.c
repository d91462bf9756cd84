#include "egress/socket-address.h"

#include <netinet/in.h>

socklen_t socket_address_make(const struct address *a, uint16_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	*ret = (struct sockaddr_storage){.ss_family = (sa_family_t)a->family};
	if (a->family == AF_INET) {
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, a->bytes, sizeof(v4->sin_addr));
		return sizeof(*v4);
	}
	v6->sin6_port = htons(port);
	memcpy(&v6->sin6_addr, a->bytes, sizeof(v6->sin6_addr));
	return sizeof(*v6);
}

bool socket_address_read(const struct sockaddr_storage *from, struct endpoint *ret)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
	struct address a = {.family = from->ss_family};

	if (a.family != AF_INET && a.family != AF_INET6)
		return false;
	if (a.family == AF_INET)
		memcpy(a.bytes, &v4->sin_addr, sizeof(v4->sin_addr));
	else
		memcpy(a.bytes, &v6->sin6_addr, sizeof(v6->sin6_addr));
	*ret = (struct endpoint){
		address_unmapped(&a), ntohs(a.family == AF_INET ? v4->sin_port : v6->sin6_port)};
	return true;
}
