/*
 * Every error once: ERROR(enum suffix, code, HTTP status, exit status of `cloop run`, default
 * remedy). Codes are stable (sandbox-spec.md §15, container-driver.md §10.4 and §21, image-trust.md
 * §2.2).
 */
// clang-format off
ERROR(USAGE, "usage", 400, 125,
	"see cloop help")
ERROR(INTERNAL, "internal", 500, 125,
	"this is a bug in cloop: report it with the message above")
ERROR(IO, "io", 500, 125,
	"look at the path and the error of the system named in the message")
ERROR(OUT_OF_MEMORY, "out_of_memory", 500, 125,
	"free memory on this host, or lower what runs at the same time")
ERROR(CONFIG_INVALID, "config_invalid", 409, 125,
	"mend the lines named above; cloop config check shows the same list")
ERROR(CONFIG_UNSAFE, "config_unsafe", 409, 125,
	"the file must belong to root or you and must not be writable by others: chown and chmod go-w")
ERROR(CONFIG_EXISTS, "config_exists", 409, 125,
	"use --force to replace it")
ERROR(HOME_UNUSABLE, "home_unusable", 409, 125,
	"make the directory writable for this user, or choose another with --home DIR")
ERROR(STORE_FAILED, "store_failed", 500, 125,
	"look at the file and the error named in the message")
ERROR(STORE_BUSY, "store_busy", 503, 125,
	"another cloop keeps the store locked: try again")
ERROR(STORE_CORRUPT, "store_corrupt", 500, 125,
	"move state.db away and keep it")
ERROR(STORE_NEWER, "store_newer", 409, 125,
	"use that newer cloop, or another home: --home DIR")
ERROR(FILE_EXISTS, "file_exists", 409, 125,
	"edit it, or remove it first")
ERROR(EXECUTOR_UNAVAILABLE, "executor_unavailable", 409, 125,
	"cloop executor test shows what is missing")
ERROR(NOT_A_PROJECT, "not_a_project", 400, 125,
	"name a directory with -C DIR")
ERROR(PROJECT_UNKNOWN, "project_unknown", 404, 125,
	"cloop project list shows those of this home")
ERROR(EXECUTOR_UNKNOWN, "executor_unknown", 404, 125,
	"cloop executor list shows the executors of this host")
ERROR(NOT_AVAILABLE_YET, "not_available_yet", 409, 125,
	"this version of cloop does not have it: remove the key or the option")
ERROR(SANDBOX_INVALID_SPEC, "sandbox_invalid_spec", 400, 125,
	"mend .cloop/sandbox.yaml; cloop sandbox check shows every error")
ERROR(SANDBOX_FILE_IO, "sandbox_file_io", 500, 125,
	"look at the file system that holds the project")
ERROR(INTERFACES_WITHOUT_NETWORK, "interfaces_without_network", 400, 125,
	"name a grant in capabilities.network, or write interfaces: []")
ERROR(EGRESS_NO_RESOLVERS, "egress_no_resolvers", 400, 125,
	"set resolvers for the egress filter in config.yaml")
ERROR(MOUNT_ESCAPES, "mount_escapes", 400, 125,
	"let mounts.source name a path that stays inside the project, links included")
ERROR(MOUNT_SOURCE_TYPE, "mount_source_type", 400, 125,
	"a mount source is a directory or a regular file")
ERROR(MOUNT_SOURCE_PROTECTED, "mount_source_protected", 400, 125,
	"mount it read-only, or name a directory below it")
ERROR(MOUNT_SOURCE_UNREADABLE, "mount_source_unreadable", 400, 125,
	"give the user that runs cloop access to the source")
ERROR(MOUNT_TARGET_MISSING, "mount_target_missing", 400, 125,
	"make the target below the workspace first, without links on the way")
ERROR(HOST_EXECUTION_DENIED, "host_execution_denied", 409, 125,
	"bind the project to an isolated executor: cloop executor list, cloop run --executor ID")
ERROR(SANDBOX_UNSUPPORTED, "sandbox_unsupported", 409, 125,
	"bind the project to an executor that can do it, or remove the key")
ERROR(NO_PLACEMENT, "no_placement", 409, 125,
	"cloop executor list shows what the executors can do")
ERROR(SANDBOX_GRANT_DENIED, "sandbox_grant_denied", 409, 125,
	"a grant ID is wanted: cloop egress list shows those of the project, cloop egress grant makes one")
ERROR(SANDBOX_DEVICE_NOT_GRANTED, "sandbox_device_not_granted", 409, 125,
	"cloop secret grant SECRET --subject project:PATH --devices NAME")
ERROR(SANDBOX_INTERFACE_NOT_GRANTED, "sandbox_interface_not_granted", 409, 125,
	"cloop secret grant SECRET --subject project:PATH --interfaces NAME")
ERROR(SANDBOX_EGRESS_UNAVAILABLE, "sandbox_egress_unavailable", 409, 125,
	"remove capabilities.network, or let the operator set up the egress proxy")
ERROR(SANDBOX_IMAGE_DENIED, "sandbox_image_denied", 409, 125,
	"ask the operator which images are allowed: cloop image check REF")
ERROR(SANDBOX_IMAGE_LACKS_HARNESS, "sandbox_image_lacks_harness", 409, 125,
	"use an image that carries the program")
ERROR(EXECUTOR_UNSUPPORTED, "executor_unsupported", 409, 125,
	"use another executor, or remove what it cannot do")
ERROR(LIMITS_CONFIGURATION, "limits_configuration", 409, 125,
	"mend executors.limits in config.yaml: cloop config check")
ERROR(EXECUTOR_ID_INVALID, "executor_id_invalid", 400, 125,
	"1-64 letters, digits, dots, dashes and underscores, beginning with a letter or digit")
ERROR(HANDLE_INVALID, "handle_invalid", 400, 125,
	"a handle is c- and 12 hexadecimal digits; cloop ps lists them")
ERROR(CONTAINER_NAME_EMPTY, "container_name_empty", 400, 125,
	"give the container a name")
ERROR(CONTAINER_NAME_TOO_LONG, "container_name_too_long", 400, 125,
	"at most 63 bytes")
ERROR(CONTAINER_NAME_INVALID, "container_name_invalid", 400, 125,
	"letters, digits, _ . - only, beginning with a letter or digit")
ERROR(RUNTIME_UNSUPPORTED, "runtime_unsupported", 400, 125,
	"runtime: podman, docker, or the absolute path of one of them")
ERROR(OCI_RUNTIME_TOO_LONG, "oci_runtime_too_long", 400, 125,
	"at most 64 bytes")
ERROR(OCI_RUNTIME_DASH, "oci_runtime_dash", 400, 125,
	"a runtime name does not begin with a dash")
ERROR(OCI_RUNTIME_PATH, "oci_runtime_path", 400, 125,
	"name a runtime that the engine knows, not a path: register it in containers.conf or daemon.json")
ERROR(OCI_RUNTIME_INVALID, "oci_runtime_invalid", 400, 125,
	"letters, digits, dot, dash and underscore only")
ERROR(GROUP_ADD_INVALID, "group_add_invalid", 400, 125,
	"at most 16 group ids from 1 to 2147483647")
ERROR(NETWORK_HOST, "network_host", 400, 125,
	"use none, bridge, or a network that the operator made: host would share every service of this machine")
ERROR(NETWORK_MODE_REFUSED, "network_mode_refused", 400, 125,
	"use none, bridge, or the name of a network")
ERROR(NETWORK_NAME_TOO_LONG, "network_name_too_long", 400, 125,
	"at most 128 bytes")
ERROR(NETWORK_NAME_INVALID, "network_name_invalid", 400, 125,
	"letters, digits, _ . - only, beginning with a letter or digit")
ERROR(CPUS_INVALID, "cpus_invalid", 400, 125,
	"a number of cores from 0 to 1024 with at most 3 decimals")
ERROR(MEMORY_INVALID, "memory_invalid", 400, 125,
	"0, or 64m to 1t")
ERROR(PIDS_INVALID, "pids_invalid", 400, 125,
	"-1 for no limit, 0 for the default, at most 4194304")
ERROR(SELINUX_LABEL_INVALID, "selinux_label_invalid", 400, 125,
	"z, Z, or empty")
ERROR(EGRESS_FILTER_NETWORK_NONE, "egress_filter_network_none", 400, 125,
	"an egress filter needs a network: set network, or switch the filter off")
ERROR(ALLOW_HOSTS_WITHOUT_NETWORK, "allow_hosts_without_network", 400, 125,
	"allow_hosts needs a network other than none")
ERROR(ADD_HOST_INVALID, "add_host_invalid", 400, 125,
	"HOST:ADDRESS with a plain host name")
ERROR(ADD_HOST_ADDRESS, "add_host_address", 400, 125,
	"HOST:ADDRESS with an IPv4 or IPv6 address of one machine")
ERROR(OPTION_OUT_OF_RANGE, "option_out_of_range", 400, 125,
	"see cloop.yaml(5) for the range")
ERROR(OUT_OF_RANGE, "out_of_range", 400, 125,
	"cloop config show --defaults lists the keys; the reference has their ranges")
ERROR(OPTION_INVALID, "option_invalid", 400, 125,
	"see cloop.yaml(5) for the type")
ERROR(OPTION_UNKNOWN, "option_unknown", 400, 125,
	"see cloop.yaml(5) for the keys")
ERROR(USER_MISSING, "user_missing", 400, 125,
	"UID:GID")
ERROR(USER_NOT_NUMERIC, "user_not_numeric", 400, 125,
	"UID:GID in decimal")
ERROR(USER_GID_MISSING, "user_gid_missing", 400, 125,
	"UID:GID: without the group docker would add the root group")
ERROR(USER_OUT_OF_RANGE, "user_out_of_range", 400, 125,
	"at most 2147483647")
ERROR(ROOT_USER, "root_user", 409, 125,
	"chown the project directory to an ordinary user, use rootless podman, or set allow_root_user: true")
ERROR(EXTRA_ARGS_TOO_MANY, "extra_args_too_many", 400, 125,
	"at most 32")
ERROR(EXTRA_ARG_EMPTY, "extra_arg_empty", 400, 125,
	"remove the empty argument")
ERROR(EXTRA_ARG_CONTROL, "extra_arg_control", 400, 125,
	"no control characters and no blank at either end")
ERROR(EXTRA_ARG_NOT_FLAG, "extra_arg_not_flag", 400, 125,
	"write the flag as --flag=value")
ERROR(EXTRA_ARG_SHORT, "extra_arg_short", 400, 125,
	"write the long form --flag=value")
ERROR(EXTRA_ARG_NOT_ALLOWED, "extra_arg_not_allowed", 400, 125,
	"only the flags listed in cloop.yaml(5) are allowed; limits and mounts have keys of their own")
ERROR(EXTRA_ARG_NEEDS_VALUE, "extra_arg_needs_value", 400, 125,
	"write --flag=value in one word")
ERROR(EXTRA_ARG_BAD_VALUE, "extra_arg_bad_value", 400, 125,
	"see cloop.yaml(5) for the values of this flag")
ERROR(EXTRA_ARG_DUPLICATE, "extra_arg_duplicate", 400, 125,
	"give this flag once")
ERROR(EXTRA_ARG_ENGINE, "extra_arg_engine", 400, 125,
	"this engine does not have the flag")
ERROR(EXTRA_ARG_RESERVED_LABEL, "extra_arg_reserved_label", 400, 125,
	"choose a label key of your own: this prefix steers the engine or belongs to cloop")
ERROR(LABEL_KEY_INVALID, "label_key_invalid", 400, 125,
	"1-128 letters, digits, . _ / - and no leading dash")
ERROR(LABELS_TOO_MANY, "labels_too_many", 400, 125,
	"at most 32")
ERROR(LABEL_COLLISION, "label_collision", 400, 125,
	"choose label keys that differ in letters, digits, dots, dashes and underscores")
ERROR(ENV_NAME_EMPTY, "env_name_empty", 400, 125,
	"give the variable a name")
ERROR(ENV_NAME_TOO_LONG, "env_name_too_long", 400, 125,
	"at most 256 bytes")
ERROR(ENV_NAME_INVALID, "env_name_invalid", 400, 125,
	"letters, digits and underscore, not beginning with a digit")
ERROR(ENV_ENTRY_INVALID, "env_entry_invalid", 400, 125,
	"write NAME=VALUE")
ERROR(ENV_TOO_MANY, "env_too_many", 400, 125,
	"at most 512 variables")
ERROR(ENV_VALUE_NUL, "env_value_nul", 400, 125,
	"a value cannot hold NUL")
ERROR(ENV_VALUE_TOO_LARGE, "env_value_too_large", 400, 125,
	"put large values into a file")
ERROR(ENV_RESERVED_MULTILINE, "env_reserved_multiline", 400, 125,
	"a variable that programs of the host read cannot hold a line break: put the value into a file")
ERROR(ENV_RESERVED_ENCODING, "env_reserved_encoding", 400, 125,
	"a variable that programs of the host read must be UTF-8: put the value into a file")
ERROR(DEVICE_NAME_INVALID, "device_name_invalid", 400, 125,
	"1-64 letters, digits, dots, dashes, underscores")
ERROR(DEVICE_PATH_INVALID, "device_path_invalid", 400, 125,
	"an absolute, clean path below /dev")
ERROR(DEVICE_OUTSIDE_DEV, "device_outside_dev", 400, 125,
	"a device path lies below /dev")
ERROR(DEVICE_FORBIDDEN, "device_forbidden", 400, 125,
	"this device gives control over the host")
ERROR(DEVICE_PERMISSIONS_INVALID, "device_permissions_invalid", 400, 125,
	"r, rw or rwm")
ERROR(DEVICES_TOO_MANY, "devices_too_many", 400, 125,
	"at most 16")
ERROR(DEVICE_DUPLICATE, "device_duplicate", 400, 125,
	"name each device once")
ERROR(INTERFACE_NAME_INVALID, "interface_name_invalid", 400, 125,
	"1-64 letters, digits, dots, dashes, underscores")
ERROR(INTERFACE_SOURCE_INVALID, "interface_source_invalid", 400, 125,
	"a kernel interface name of 1-15 bytes")
ERROR(INTERFACE_TARGET_INVALID, "interface_target_invalid", 400, 125,
	"a kernel interface name of 1-15 bytes")
ERROR(INTERFACE_FORBIDDEN, "interface_forbidden", 400, 125,
	"this interface belongs to the host or to an engine")
ERROR(INTERFACE_ADDRESS_INVALID, "interface_address_invalid", 400, 125,
	"ADDRESS/BITS of one host")
ERROR(INTERFACE_GATEWAY_INVALID, "interface_gateway_invalid", 400, 125,
	"a gateway inside the interface's own network")
ERROR(INTERFACE_MTU_INVALID, "interface_mtu_invalid", 400, 125,
	"0, or 68 to 65536")
ERROR(INTERFACES_TOO_MANY, "interfaces_too_many", 400, 125,
	"at most 8")
ERROR(INTERFACE_DUPLICATE, "interface_duplicate", 400, 125,
	"name each interface once")
ERROR(SECRET_DIR_INVALID, "secret_dir_invalid", 400, 125,
	"a clean path below /run/cloop/")
ERROR(SECRET_NAME_INVALID, "secret_name_invalid", 400, 125,
	"a plain file name of 1 to 255 bytes: no slash, backslash or control character")
ERROR(SECRET_TOO_LARGE, "secret_too_large", 400, 125,
	"at most 256 KiB")
ERROR(SECRET_MODE_INVALID, "secret_mode_invalid", 400, 125,
	"an octal mode without rights for group and others, readable by the owner")
ERROR(SECRET_DUPLICATE, "secret_duplicate", 400, 125,
	"name each file once")
ERROR(SECRETS_TOO_LARGE, "secrets_too_large", 400, 125,
	"at most 1 MiB together")
ERROR(RESERVED_TARGET, "reserved_target", 400, 125,
	"choose a target outside the paths that the sandbox needs itself")
ERROR(MOUNT_INVALID, "mount_invalid", 400, 125,
	"an absolute, clean path")
ERROR(DUPLICATE_TARGET, "duplicate_target", 400, 125,
	"give each mount a target of its own")
ERROR(NESTED_TARGET, "nested_target", 400, 125,
	"choose targets that do not lie in each other")
ERROR(MOUNTS_TOO_MANY, "mounts_too_many", 400, 125,
	"at most 16")
ERROR(WORK_DIR_MISSING, "work_dir_missing", 400, 125,
	"name a project directory with -C DIR")
ERROR(WORK_DIR_NOT_RESOLVED, "work_dir_not_resolved", 400, 125,
	"name the directory by its resolved path")
ERROR(WORK_DIR_REFUSED, "work_dir_refused", 409, 125,
	"move the project into a directory of its own: this one belongs to the system, or holds cloop's home")
ERROR(ARGV_EMPTY, "argv_empty", 400, 125,
	"name a command after --")
ERROR(ARGV_INVALID, "argv_invalid", 400, 125,
	"a word cannot hold NUL")
ERROR(ARGV_TOO_LARGE, "argv_too_large", 400, 125,
	"at most 4096 words, 131071 bytes each, 1 MiB together")
ERROR(COMMAND_NOT_FOUND, "command_not_found", 400, 127,
	"name a program that the image has")
ERROR(COMMAND_NOT_EXECUTABLE, "command_not_executable", 400, 126,
	"look at its mode, its first line and its architecture")
ERROR(EGRESS_RESOLVER_INVALID, "egress_resolver_invalid", 400, 125,
	"an IP address")
ERROR(EGRESS_BROKER_INVALID, "egress_broker_invalid", 400, 125,
	"ADDRESS:PORT, or [IPV6]:PORT")
ERROR(EGRESS_CIDR_INVALID, "egress_cidr_invalid", 400, 125,
	"a range is ADDRESS/BITS, such as 10.8.0.0/24 or 2001:db8::/32")
ERROR(EGRESS_CIDR_EVERYTHING, "egress_cidr_everything", 400, 125,
	"for the public Internet set allow_public_internet")
ERROR(EGRESS_CIDR_RESERVED, "egress_cidr_reserved", 400, 125,
	"leave the loopback, unspecified and multicast addresses out of the range")
ERROR(EGRESS_CIDR_METADATA, "egress_cidr_metadata", 400, 125,
	"name the metadata services as single addresses, or allow a narrower range")
ERROR(EGRESS_PORT_INVALID, "egress_port_invalid", 400, 125,
	"a port is a number from 1 to 65535")
ERROR(EGRESS_HOST_INVALID, "egress_host_invalid", 400, 125,
	"a name, *.NAME for what is below it, * for all, or an IP address; no port, no path")
ERROR(EGRESS_TOO_MANY, "egress_too_many", 400, 125,
	"write fewer entries: wider ranges, or a pattern")
ERROR(EGRESS_INTERNAL_CONFLICT, "egress_internal_conflict", 400, 125,
	"an internal network has no route: set a broker, or internal: false")
ERROR(EGRESS_PORTS_CONFLICT, "egress_ports_conflict", 400, 125,
	"either all ports or a list of them")
ERROR(EGRESS_PORTS_MISSING, "egress_ports_missing", 400, 125,
	"say which ports the destinations have: allow_ports: [443], or --ports 443")
ERROR(EGRESS_FILTER_DISABLED, "egress_filter_disabled", 400, 125,
	"set egress_filter.enabled: true")
ERROR(EGRESS_FILTER_EMPTY, "egress_filter_empty", 400, 125,
	"say first what it opens (allow_cidrs or allow_public_internet with allow_ports, broker, resolvers) or internal: true; enabled comes last")
ERROR(EGRESS_POOL_INVALID, "egress_pool_invalid", 400, 125,
	"subnet_pool: a private IPv4 range of /8 to /28; subnet_pool6: a /48 below fc00::/7")
ERROR(EGRESS_GRANT_UNKNOWN_FIELD, "egress_grant_unknown_field", 400, 125,
	"remove the field: a grant has hosts, cidrs, ports, methods, quotas and times")
ERROR(EGRESS_GRANT_INVALID, "egress_grant_invalid", 400, 125,
	"an ID is egress_ and 24 digits 0-9a-f; a scope is a label of at most 64 bytes")
ERROR(EGRESS_GRANT_EMPTY, "egress_grant_empty", 400, 125,
	"name at least one host or one range")
ERROR(EGRESS_METHOD_INVALID, "egress_method_invalid", 400, 125,
	"a method is 1 to 32 letters, or *")
ERROR(EGRESS_QUOTA_INVALID, "egress_quota_invalid", 400, 125,
	"a number of bytes with k, m, g or t behind it, at most 1024t; 0 or unlimited: no limit")
ERROR(EGRESS_TTL_INVALID, "egress_ttl_invalid", 400, 125,
	"a session lasts 60 to 14400 seconds; a grant ends after it begins")
ERROR(EGRESS_LISTEN_INVALID, "egress_listen_invalid", 400, 125,
	"ADDRESS:PORT, or [IPV6]:PORT, of an address of this host that other machines reach")
ERROR(EGRESS_ADVERTISE_INVALID, "egress_advertise_invalid", 400, 125,
	"HOST[:PORT], or [IPV6][:PORT]: this host as other machines dial it")
ERROR(EGRESS_PROXY_FAILED, "egress_proxy_failed", 500, 125,
	"start the run again; if it fails each time, see that cloop-egress is installed and can start")
ERROR(EGRESS_GRANT_NOT_FOUND, "egress_grant_not_found", 404, 125,
	"cloop egress list --all shows them")
ERROR(EGRESS_SELECTOR_MISSING, "egress_selector_missing", 400, 125,
	"a NetworkPolicy needs a name and a label that selects its pods")
ERROR(NFT_NAME_INVALID, "nft_name_invalid", 400, 125,
	"a table: letters, digits, _ and -, at most 64; a bridge: those and ., at most 15; neither begins with - or .")
ERROR(ENGINE_NETWORK_INSPECT, "engine_network_inspect", 500, 125,
	"look at what the engine says of the network: podman network inspect NAME")
ERROR(NFT_UNAVAILABLE, "nft_unavailable", 409, 125,
	"install nftables, and run cloop as root")
ERROR(NFT_FAILED, "nft_failed", 500, 125,
	"nft list ruleset shows what is there; cloop egress firewall --format nft-bridge --bridge NAME shows what is wanted")
ERROR(EGRESS_NETWORK_CONFLICT, "egress_network_conflict", 409, 125,
	"stop the sandboxes of that network, then remove it with the engine's network rm")
ERROR(EGRESS_SUBNET_EXHAUSTED, "egress_subnet_exhausted", 409, 125,
	"set executors.container.egress_filter.subnet_pool to a range that this host uses nowhere else")
ERROR(EGRESS_FILTER_LOST, "egress_filter_lost", 500, 125,
	"reload other firewalls without flushing tables of others (nft flush ruleset), then start the run again")
ERROR(NOT_A_CHOICE, "not_a_choice", 400, 125,
	"write one of the words named in the message")
ERROR(CONTRADICTION, "contradiction", 400, 125,
	"remove one of the two keys")
ERROR(SIGNAL_INVALID, "signal_invalid", 400, 125,
	"interrupt, terminate or kill")
ERROR(LEASE_MISSING, "lease_missing", 400, 125,
	"name a lease: cloop lease list")
ERROR(HANDLE_NOT_FOUND, "handle_not_found", 404, 125,
	"cloop ps --all lists the runs of this home")
ERROR(HANDLE_AMBIGUOUS, "handle_ambiguous", 409, 125,
	"give more digits of the handle")
ERROR(PATH_UNSUPPORTED, "path_unsupported", 409, 125,
	"rename the directory: the engine cannot mount this name")
ERROR(PROTECTED_PATH_UNSAFE, "protected_path_unsafe", 409, 125,
	"replace the link by a real directory or file, or set protect_project_files: false")
ERROR(HOST_MOUNT_OVERLAPS_PROJECT, "host_mount_overlaps_project", 409, 125,
	"a granted repository lies outside the project")
ERROR(ULIMIT_ABOVE_HOST, "ulimit_above_host", 409, 125,
	"ask for no more than this host's own hard limit, or raise it for the user that runs cloop")
ERROR(RUNTIME_MISSING, "runtime_missing", 409, 125,
	"install podman (apt install podman crun runc uidmap slirp4netns) or docker (apt install docker.io)")
ERROR(RUNTIME_UNSAFE, "runtime_unsafe", 409, 125,
	"the engine's file and its directories must belong to root and must not be writable by others")
ERROR(RUNTIME_MASQUERADE, "runtime_masquerade", 409, 125,
	"this docker is podman's wrapper: set runtime: podman")
ERROR(RUNTIME_REMOTE, "runtime_remote", 409, 125,
	"unset DOCKER_HOST, or point it to a local unix:// socket: bind mounts would mean another machine's files")
ERROR(DOCKER_USERNS, "docker_userns", 409, 125,
	"run dockerd without userns-remap and not rootless, or use podman")
ERROR(MOUNT_CHANGED, "mount_changed", 409, 125,
	"something changed the source while the run started: try again when nobody moves it")
ERROR(UNEXPECTED_MOUNT, "unexpected_mount", 409, 125,
	"remove the mount from containers.conf (volumes) or mounts.conf")
ERROR(LIMITS_NOT_APPLIED, "limits_not_applied", 409, 125,
	"use an engine and cgroup setup that applies limits, or remove resources from the file")
ERROR(SECRET_KIND_UNKNOWN, "secret_kind_unknown", 400, 125,
	"kinds: env, file, host_device, host_interface, local_repo, registry, kubeconfig")
ERROR(SECRET_PAYLOAD_INVALID, "secret_payload_invalid", 400, 125,
	"mend the payload as the message says, and mint the secret anew")
ERROR(SECRET_EXISTS, "secret_exists", 409, 125,
	"choose another name, or remove the old one: cloop secret delete NAME")
ERROR(SECRET_NOT_FOUND, "secret_not_found", 404, 125,
	"see: cloop secret list")
ERROR(SECRET_NOT_OWNER, "secret_not_owner", 403, 125,
	"a personal secret is granted by its owner only, to named subjects")
ERROR(SECRET_KEY_WEAK, "secret_key_weak", 400, 125,
	"CLOOP_SECRET_KEY needs at least 16 bytes")
ERROR(SECRET_KEY_MISSING, "secret_key_missing", 500, 125,
	"the secrets were sealed with a key that is not here: set CLOOP_SECRET_KEY, or bring HOME/keys/secret.key back")
ERROR(SECRET_KEY_WRONG, "secret_key_wrong", 500, 125,
	"the key does not open what was sealed: bring the right passphrase or key file back")
ERROR(SECRET_KEY_STATE, "secret_key_state", 500, 125,
	"the table of keys is not as cloop leaves it: restore state.db from a backup")
ERROR(SECRET_STORE, "secret_store", 500, 125,
	"a sealed row does not open: it was damaged or changed; restore state.db, or delete the secret")
ERROR(GRANT_SUBJECT_INVALID, "grant_subject_invalid", 400, 125,
	"subjects: any, project:/PATH, project:*, executor:ID, executor:*, label:k=v[,k=v]")
ERROR(GRANT_CONSTRAINT_UNKNOWN, "grant_constraint_unknown", 400, 125,
	"see: cloop secret grant --help")
ERROR(GRANT_CONSTRAINT_KIND, "grant_constraint_kind", 400, 125,
	"leave it out: this kind of secret does not have it")
ERROR(GRANT_CONSTRAINT_MISSING, "grant_constraint_missing", 400, 125,
	"name what the grant may deliver; see: cloop secret grant --help")
ERROR(GRANT_CONSTRAINT_INVALID, "grant_constraint_invalid", 400, 125,
	"see: cloop secret grant --help")
ERROR(GRANT_NOT_FOUND, "grant_not_found", 404, 125,
	"see: cloop secret grants --all")
ERROR(GRANT_REVOKED, "grant_revoked", 409, 125,
	"run it again: it gets what is granted then")
ERROR(LEASE_NOT_FOUND, "lease_not_found", 404, 125,
	"see: cloop lease list")
ERROR(TTL_INVALID, "ttl_invalid", 400, 125,
	"write a duration as 30m, 24h or 7d12h")
ERROR(TTL_OUT_OF_RANGE, "ttl_out_of_range", 400, 125,
	"from 60s to 365d")
ERROR(DEVICE_NOT_A_NODE, "device_not_a_node", 409, 125,
	"the payload must name a character or block device below /dev")
ERROR(DEVICE_BLOCK_NOT_GRANTED, "device_block_not_granted", 409, 125,
	"disks need a grant with --block")
ERROR(DEVICE_IN_USE, "device_in_use", 409, 125,
	"the host uses this disk: unmount it, or grant another")
ERROR(DEVICE_NONE, "device_none", 409, 125,
	"the grant's --devices name none of the secret's devices")
ERROR(LOCAL_REPO_NONE, "local_repo_none", 409, 125,
	"no git repository below the secret's directory matches the grant's --repos")
ERROR(LOCAL_REPO_TOO_MANY, "local_repo_too_many", 409, 125,
	"at most 32 repositories: narrow the grant's --repos")
ERROR(REGISTRY_NONE, "registry_none", 409, 125,
	"the secret holds no login for the registries that the grant names")
ERROR(TASK_NOT_FOUND, "task_not_found", 404, 125,
	"see: cloop task list")
ERROR(TASK_STATE, "task_state", 409, 125,
	"see: cloop task show ID; cloop task reset ID makes it pending")
ERROR(DEVICE_CHANGED, "device_changed", 409, 125,
	"grant the device anew")
ERROR(DEVICE_INACCESSIBLE, "device_inaccessible", 409, 125,
	"change the node's mode or owner, or use group_add")
ERROR(INTERFACE_IN_USE, "interface_in_use", 409, 125,
	"take the host's routes off this interface first")
ERROR(INTERFACE_FAILED, "interface_failed", 500, 125,
	"ip's own words are in the message")
ERROR(SECRET_STAGE_UNAVAILABLE, "secret_stage_unavailable", 409, 125,
	"mount a tmpfs at /dev/shm")
ERROR(SECRET_NOT_DELIVERED, "secret_not_delivered", 409, 125,
	"only files that the run already has can be refreshed")
ERROR(ATTACH_CLOSED, "attach_closed", 409, 125,
	"see what became of it: cloop status HANDLE, cloop logs HANDLE")
ERROR(OWNER_NOT_SELF, "owner_not_self", 409, 125,
	"chown the project to yourself, or run cloop as root")
ERROR(IMAGE_MISSING, "image_missing", 409, 125,
	"pull or build the image with the engine first: cloop never pulls")
ERROR(ENGINE_UNREACHABLE, "engine_unreachable", 503, 125,
	"start the engine's daemon")
ERROR(ENGINE_PERMISSION, "engine_permission", 503, 125,
	"join the group docker, or use rootless podman")
ERROR(LOCKS_EXHAUSTED, "locks_exhausted", 503, 125,
	"remove leaked containers and volumes, then podman system renumber")
ERROR(NAME_IN_USE, "name_in_use", 409, 125,
	"cloop executor reap removes leftovers")
ERROR(NETWORK_MISSING, "network_missing", 409, 125,
	"create the network, or set another in config.yaml")
ERROR(OCI_RUNTIME_MISSING, "oci_runtime_missing", 409, 125,
	"install it and register it with the engine (daemon.json, containers.conf)")
ERROR(ULIMIT_DENIED, "ulimit_denied", 409, 125,
	"lower the limit with extra_args: [--ulimit=NAME=N], or raise your own hard limit")
ERROR(MOUNT_SOURCE_MISSING, "mount_source_missing", 409, 125,
	"make the path named in the message")
ERROR(DEVICE_MISSING, "device_missing", 409, 125,
	"grant a device that exists")
ERROR(GUEST_UNUSABLE, "guest_unusable", 409, 125,
	"put cloop's home on a filesystem without noexec (--home), and look at its SELinux label")
ERROR(SUBID_MISSING, "subid_missing", 409, 125,
	"give the user ranges in /etc/subuid and /etc/subgid and install uidmap")
ERROR(MEMORY_TOO_SMALL, "memory_too_small", 409, 125,
	"raise resources.memory")
ERROR(CGROUP_UNAVAILABLE, "cgroup_unavailable", 409, 125,
	"use another OCI runtime (oci_runtime: runc), or delegate the cgroup controllers")
ERROR(WORKSPACE_OVER_DISK_LIMIT, "workspace_over_disk_limit", 409, 125,
	"free space in the workspace, or raise resources.disk in .cloop/sandbox.yaml; an operator's "
	"disk ceiling still caps it")
ERROR(DISK_LOW, "disk_low", 507, 125,
	"free space on the filesystem that is named, or lower orchestrator.min_free_disk_mb")
ERROR(NO_SPACE, "no_space", 507, 125,
	"free space in the engine's storage")
ERROR(ATTACH_BUSY, "attach_busy", 429, 125,
	"close another session first")
ERROR(ATTACH_READ_ONLY, "attach_read_only", 409, 125,
	"attach with --write")
ERROR(ENGINE_FAILED, "engine_failed", 500, 125,
	"the engine's own words are in the message")
ERROR(INIT_FAILED, "init_failed", 500, 125,
	"cloop executor test shows where it stops")
ERROR(EXEC_FAILED, "exec_failed", 500, 125,
	"look at the step and the error named in the message")
ERROR(ENV_MISMATCH, "env_mismatch", 500, 125,
	"the engine changed the variable: put the value into a file")
ERROR(CONFINEMENT_MISMATCH, "confinement_mismatch", 500, 125,
	"the engine did not confine the sandbox as asked: look at its configuration")
ERROR(SIGNAL_FAILED, "signal_failed", 500, 125,
	"the engine does not answer: try again, or stop the container with the engine itself")
ERROR(SECRET_STAGE_FAILED, "secret_stage_failed", 500, 125,
	"look at /dev/shm")
ERROR(SHIM_FAILED, "shim_failed", 500, 125,
	"look at the log of cloop-shim in the run directory")
ERROR(LOST, "lost", 500, 125,
	"the engine or the host ended the run without a word: look at the host's log")
ERROR(ENGINE_TIMEOUT, "engine_timeout", 504, 125,
	"raise executors.container.start_timeout_seconds, or look at why the engine is slow")
ERROR(START_CANCELLED, "start_cancelled", 409, 125,
	"start the run again if it is still wanted")
ERROR(CANCELLED, "cancelled", 409, 125,
	"repeat it without the deadline or the signal that made it give up")
ERROR(INVALID_SETUP, "invalid_setup", 400, 125,
	"1 to 32 commands of one line each, at most 4096 bytes, none beginning with --")
ERROR(SETUP_FAILED, "setup_failed", 400, 125,
	"look at the output of the setup command, and mend it in .cloop/sandbox.yaml")
ERROR(SETUP_TIMEOUT, "setup_timeout", 400, 125,
	"setup commands in .cloop/sandbox.yaml must end by themselves within 30 minutes: none may wait for input")
ERROR(SETUP_ONBUILD, "setup_onbuild", 409, 125,
	"name an image without ONBUILD triggers, or build the image beforehand and name it in image:")
ERROR(REGISTRY_BAD_ANSWER, "registry_bad_answer", 409, 125,
	"ask whoever runs the registry: it does not answer as registries do")
ERROR(REGISTRY_UNNAMED, "registry_unnamed", 400, 125,
	"write the name in full, docker.io/library/NAME, or set sandbox.image_policy.default_registry")
ERROR(REGISTRY_UNAUTHORIZED, "registry_unauthorized", 409, 125,
	"log in with podman login or docker login, and check that the account may read the repository")
ERROR(TAG_NOT_FOUND, "tag_not_found", 409, 125,
	"look at the repository's tags; some registries say this of what a login may not see, too")
ERROR(REGISTRY_RATE_LIMITED, "registry_rate_limited", 409, 125,
	"wait, or log in: the registry counts the requests of this address or account")
ERROR(REGISTRY_REDIRECT_REFUSED, "registry_redirect_refused", 409, 125,
	"ask whoever runs the registry: it may redirect three times, and to https only")
ERROR(REGISTRY_ADDRESS_BLOCKED, "registry_address_blocked", 409, 125,
	"a registry inside a private network must be named in sandbox.image_policy.allowed_registries")
ERROR(UNSUPPORTED_MANIFEST, "unsupported_manifest", 409, 125,
	"push the image anew as OCI or docker schema 2")
ERROR(DIGEST_MISMATCH, "digest_mismatch", 409, 125,
	"do not run this image: the registry, or something before it, sends other bytes than it names")
ERROR(REGISTRY_SERVER_ERROR, "registry_server_error", 409, 125,
	"try again later: the registry itself failed twice")
ERROR(REGISTRY_UNREACHABLE, "registry_unreachable", 409, 125,
	"check the registry's name, the network, HTTPS_PROXY and NO_PROXY")
ERROR(REGISTRY_TIMEOUT, "registry_timeout", 409, 125,
	"try again; check the network, HTTPS_PROXY and NO_PROXY")
ERROR(REGISTRY_TLS, "registry_tls", 409, 125,
	"put the registry's CA into /etc/containers/certs.d/HOST[:PORT]/ca.crt, and check the clock")
ERROR(AUTH_FILE_BROKEN, "auth_file_broken", 409, 125,
	"mend or remove the file: a login that cannot be read is not taken for none")
ERROR(AUTH_ENTRY_BROKEN, "auth_entry_broken", 409, 125,
	"log in anew, or remove the entry")
ERROR(IMAGE_REF_EMPTY, "empty", 400, 125,
	"name an image")
ERROR(IMAGE_REF_TOO_LONG, "too_long", 400, 125,
	"at most 512 bytes")
ERROR(IMAGE_REF_NOT_ASCII, "not_ascii", 400, 125,
	"write the reference in ASCII: lookalike letters name another image")
ERROR(IMAGE_REF_BAD_BYTE, "bad_byte", 400, 125,
	"remove blanks and control characters")
ERROR(IMAGE_REF_LEADING_DASH, "leading_dash", 400, 125,
	"a reference does not begin with a dash")
ERROR(IMAGE_REF_HAS_SCHEME, "has_scheme", 400, 125,
	"write HOST/NAME without a scheme such as https://")
ERROR(IMAGE_REF_BAD_DIGEST, "bad_digest", 400, 125,
	"write the digest as @sha256: and 64 hexadecimal digits")
ERROR(IMAGE_REF_NO_REPOSITORY, "no_repository", 400, 125,
	"name a repository")
ERROR(IMAGE_REF_BAD_TAG, "bad_tag", 400, 125,
	"a tag has 1-128 letters, digits, _ . -, not beginning with . or -")
ERROR(IMAGE_REF_BAD_HOST, "bad_host", 400, 125,
	"write the registry as a DNS name or an IP address in its plain form")
ERROR(IMAGE_REF_BAD_PORT, "bad_port", 400, 125,
	"a port from 1 to 65535 without leading zeros")
ERROR(IMAGE_REF_UPPERCASE, "uppercase", 400, 125,
	"repositories are lower-case; a registry needs a dot, a port or the name localhost")
ERROR(IMAGE_REF_BAD_REPOSITORY, "bad_repository", 400, 125,
	"components of lower-case letters and digits, joined by . _ __ or dashes")
ERROR(IMAGE_REF_NAME_TOO_LONG, "name_too_long", 400, 125,
	"at most 255 bytes")
ERROR(IMAGE_REF_IMAGE_ID, "image_id", 400, 125,
	"name the image by repository and tag or digest, not by its ID")
// clang-format on
