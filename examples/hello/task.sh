#!/bin/sh
# The task of the demo: shows what a sandbox can do and what is out of its reach. Exits with 7, so
# that the record has something to tell.
wrong=0
expect_refused() {
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then
		echo "  $what: POSSIBLE, and it should not be"
		wrong=1
	else
		echo "  $what: refused"
	fi
}

echo "hello from user $(id -u), group $(id -g), in $(pwd)"

echo "the workspace can be written:"
echo "written by the sandbox" >result.txt && echo "  result.txt: written"

echo "the network is out of reach:"
echo "  interfaces: $(ls /sys/class/net | tr '\n' ' ')"
expect_refused "connect to 192.0.2.1" nc -w 2 192.0.2.1 80
expect_refused "resolve a name" nslookup debian.org

echo "the root filesystem is read-only:"
expect_refused "write /etc/passwd" sh -c 'echo x >>/etc/passwd'
expect_refused "write /bin" touch /bin/x
expect_refused "mount a filesystem" mount -t tmpfs none /tmp

echo "other users and the host are out of reach:"
echo "  processes seen: $(ps -o pid,args | grep -c '[0-9]')"
expect_refused "give a file to root" chown 0:0 result.txt
expect_refused "read the host's memory" head -c 1 /dev/mem
expect_refused "see home directories" ls /home /root
expect_refused "change the project's own rules" sh -c 'echo x >>.cloop/sandbox.yaml'

[ "$wrong" -eq 0 ] || exit 1
echo "done; this task ends with 7 on purpose" >&2
exit 7
