#include "vault/payload-reason.h"

#include <string.h>

#include "base/mem.h"

/* A reason that several kinds have is worded for all of them. */
static const struct {
	const char *reason, *words;
} reasons[] = {
	/* any kind */
	{"empty", "there is nothing in it"},
	{"too_large", "it is larger than 256 KiB"},
	{"name",
		"a name is missing or not allowed (devices, interfaces: at most 64 letters, digits "
		"and . _ -; variables: letters, digits and _, no digit first)"},
	{"path", "the path is not absolute and clean, leads to no directory, or holds a character "
		 "that is not allowed; a line break at its end is one (use printf)"},
	{"forbidden", "this one is never given"},
	{"syntax", "it is not in the form of its kind: lines NAME=SOURCE, or USER:PASSWORD for a "
		   "registry"},
	{"unknown_key", "a key that is not known here"},
	{"type", "a value is not of the type that belongs there"},
	/* lines */
	{"too_many_lines", "more than 256 lines"},
	{"duplicate_name", "this name is there already"},
	{"duplicate_source", "this interface is there already"},
	{"duplicate_target", "this target is there already"},
	{"duplicate_key", "a key is given twice"},
	/* host_device, host_interface */
	{"path_not_dev", "source and target of a device lie below /dev/"},
	{"perm", "the mode of a device is r, rw or rwm"},
	{"ifname", "no name of an interface: 1 to 15 printable characters, none of / : = , %"},
	{"address", "an address is ADDRESS/BITS of one host"},
	{"gateway", "a gateway lies in the network of its address and is another one"},
	{"mtu", "an mtu is a number from 68 to 65536"},
	/* env */
	{"reserved", "names that begin with CLOOP_ are reserved"},
	{"nul", "the value of a variable cannot hold a zero byte"},
	{"too_long", "name, = and value of a variable are longer than 131071 bytes together"},
	{"too_many", "more than 64 variables"},
	{"object",
		"it is no JSON object of variables: names in upper case, once each, with strings"},
	/* registry */
	{"control", "it holds a control character; a line break at its end is one (use printf)"},
	{"json", "it begins like JSON and is none"},
	{"auths", "it is JSON without an object auths"},
	/* kubeconfig */
	{"yaml", "it cannot be read as a kubeconfig"},
	{"contexts", "it has no contexts"},
	{"no_context", "it has none of the granted contexts with a granted namespace"},
	{"cluster", "a context names a cluster that is not there"},
	{"user", "a context names a user that is not there"},
	{"certificate-authority", "certificate-authority names a file: use …-data"},
	{"client-certificate", "client-certificate names a file: use …-data"},
	{"client-key", "client-key names a file: use …-data"},
	{"tokenFile", "tokenFile names a file: use token"},
	{"exec", "exec starts a program, which is not carried into a sandbox"},
	{"auth-provider", "auth-provider starts a program, which is not carried into a sandbox"},
	{"insecure-skip-tls-verify", "insecure-skip-tls-verify is not accepted"},
	{"proxy-url", "proxy-url is not accepted"},
};

const char *payload_reason_words(const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (strcmp(reasons[i].reason, reason) == 0)
			return reasons[i].words;
	return NULL;
}
